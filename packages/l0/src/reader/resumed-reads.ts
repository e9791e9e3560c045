import type {
  Batches,
  LogDataset,
  LogReadOptions,
  LogRecord,
  MapDataset,
  MapRecord,
  MapScanOptions,
} from "@ehdb/contracts";
import { LogReads } from "../log-reads.ts";
import { MapReads } from "../map-reads.ts";
import { nameBytes } from "../names.ts";
import type { ReadContext } from "../read-context.ts";
import { checkLogOptions, keyRange } from "../read-options.ts";
import type { Moment } from "./moment.ts";

/** What reads need of the reader around them. */
export interface ResumedContext {
  /** Reads of one moment, or of an earlier revision as far as it's still there. */
  at(moment: Moment, revision?: number): ReadContext;
  now(): Moment;
  hold(): Moment;
  letGo(moment: Moment): Promise<void>;
  /** Whether a read failed only because the writer has merged a part away: then it can go on in what there is now. */
  isOvertaken(error: unknown): Promise<boolean>;
  reading<T>(begin: () => AsyncGenerator<readonly T[]>, signal: AbortSignal | undefined): Batches<T>;
}

/** A log beside its writer: records never change, so that a read goes on behind the last one that it gave. */
export class ResumedLog implements LogDataset {
  readonly name: string;
  readonly #context: ResumedContext;

  constructor(context: ResumedContext, name: string) {
    this.#context = context;
    this.name = name;
  }

  get first(): number {
    return this.#at(this.#context.now()).first;
  }

  get last(): number {
    return this.#at(this.#context.now()).last;
  }

  assertContinues(sort: number, epoch: number): void {
    this.#at(this.#context.now()).assertContinues(sort, epoch);
  }

  async version(key: string): Promise<number> {
    return await once(this.#context, (moment) => this.#at(moment).version(key));
  }

  scan(options: LogReadOptions = {}): Batches<LogRecord> {
    checkLogOptions(options);
    return this.#read(
      options,
      (reads, rest) => reads.scan(rest),
      ({ sort }) => sort,
    );
  }

  read(key: string, options: LogReadOptions = {}): Batches<LogRecord> {
    nameBytes("key", key);
    checkLogOptions(options);
    return this.#read(
      options,
      (reads, rest) => reads.read(key, rest),
      ({ version }) => version,
    );
  }

  #at(moment: Moment): LogReads {
    return new LogReads(this.#context.at(moment), this.name);
  }

  #read(
    options: LogReadOptions,
    read: (reads: LogReads, rest: LogReadOptions) => Batches<LogRecord>,
    placeOf: (record: LogRecord) => number,
  ): Batches<LogRecord> {
    const step = options.direction === "backwards" ? -1 : 1;
    const behind = (rest: LogReadOptions, records: readonly LogRecord[]): LogReadOptions | undefined => {
      const from = placeOf(records.at(-1) as LogRecord) + step;
      const limit = rest.limit === undefined ? undefined : rest.limit - records.length;
      if (limit === 0 || from < 1) return undefined;
      return { ...rest, from, ...(limit === undefined ? {} : { limit }) };
    };
    const begin = (): AsyncGenerator<readonly LogRecord[]> =>
      resumed(this.#context, options, (moment, rest) => read(this.#at(moment), rest), behind, step > 0);
    return this.#context.reading(begin, options.signal);
  }
}

/** A map beside its writer. */
export class ResumedMap implements MapDataset {
  readonly name: string;
  readonly #context: ResumedContext;

  constructor(context: ResumedContext, name: string) {
    this.#context = context;
    this.name = name;
  }

  async get(key: string): Promise<MapRecord | undefined> {
    return await once(this.#context, (moment) => this.#at(moment).get(key));
  }

  scan(options: MapScanOptions = {}): Batches<MapRecord> {
    const { signal } = keyRange(options);
    const behind = (rest: MapScanOptions, records: readonly MapRecord[]): MapScanOptions | undefined => {
      const limit = rest.limit === undefined ? undefined : rest.limit - records.length;
      if (limit === 0) return undefined;
      // No key comes between one and the same with a zero behind.
      const from = `${(records.at(-1) as MapRecord).key}\0`;
      return { ...rest, from, ...(limit === undefined ? {} : { limit }) };
    };
    const begin = (): AsyncGenerator<readonly MapRecord[]> =>
      resumed(this.#context, options, (moment, rest, since) => this.#at(moment, since).scan(rest), behind, false);
    return this.#context.reading(begin, signal);
  }

  /** What a scan that began at `revision` sees, as long as merges keep the versions of then. */
  #at(moment: Moment, revision: number = moment.revision): MapReads {
    const floor = moment.store.datasets.get(this.name)?.floor ?? 0;
    return new MapReads(this.#context.at(moment, floor <= revision ? revision : moment.revision), this.name);
  }
}

/** A question that is asked again of what there is now. */
async function once<T>(context: ResumedContext, ask: (moment: Moment) => Promise<T>): Promise<T> {
  for (;;) {
    const moment = context.hold();
    try {
      return await ask(moment);
    } catch (error) {
      if (!(await context.isOvertaken(error))) throw error;
    } finally {
      await context.letGo(moment);
    }
  }
}

/**
 * A read that goes on in what there is now when the writer has merged a part away: `behind` says with which options. `isRising`: what is newer
 * than the read comes at its end, and is left out.
 */
async function* resumed<T extends { readonly revision: number }, O>(
  context: ResumedContext,
  options: O,
  read: (moment: Moment, rest: O, since: number) => Batches<T>,
  behind: (rest: O, records: readonly T[]) => O | undefined,
  isRising: boolean,
): AsyncGenerator<readonly T[]> {
  let rest: O | undefined = options;
  let revision: number | undefined;
  while (rest !== undefined) {
    const moment = context.hold();
    // Of the first moment, also when nothing could be given of it.
    revision ??= moment.revision;
    try {
      for await (const all of read(moment, rest, revision)) {
        const records = isRising ? upTo(all, revision) : all;
        if (records.length > 0) {
          rest = behind(rest, records);
          yield records;
        }
        if (rest === undefined || records.length < all.length) return;
      }
      return;
    } catch (error) {
      if (rest === undefined || !(await context.isOvertaken(error))) throw error;
    } finally {
      await context.letGo(moment);
    }
  }
}

function upTo<T extends { readonly revision: number }>(records: readonly T[], revision: number): readonly T[] {
  if ((records.at(-1)?.revision ?? 0) <= revision) return records;
  return records.slice(
    0,
    records.findIndex((record) => record.revision > revision),
  );
}
