import { EhdbError } from "@ehdb/contracts";
import type { Batches, LogDataset, LogReadOptions, LogRecord } from "@ehdb/contracts";
import { LogReads } from "../log-reads.ts";
import { nameBytes } from "../names.ts";
import { checkLogOptions } from "../read-options.ts";
import type { Moment } from "./moment.ts";
import { once, resumed } from "./resumed-reads.ts";
import type { Begun, ResumedContext } from "./resumed-reads.ts";

type Read = (moment: Moment, rest: LogReadOptions, begun: Begun) => AsyncIterable<readonly LogRecord[]>;

/**
 * A log beside its writer: records never change, so that a read goes on behind the last one that it gave. It ends with COMPACTED when the
 * log's floor has risen over what it hasn't given.
 */
export class ResumedLog implements LogDataset {
  readonly name: string;
  readonly #context: ResumedContext;
  /** Asked for its first position event by event. */
  #newest: { readonly moment: Moment; readonly reads: LogReads } | undefined;

  constructor(context: ResumedContext, name: string) {
    this.#context = context;
    this.name = name;
  }

  get first(): number {
    return this.#now.first;
  }

  get last(): number {
    return this.#now.last;
  }

  assertContinues(sort: number, epoch: number): void {
    this.#now.assertContinues(sort, epoch);
  }

  async version(key: string): Promise<number> {
    return await once(this.#context, (moment) => this.#at(moment).version(key));
  }

  scan(options: LogReadOptions = {}): Batches<LogRecord> {
    checkLogOptions(options);
    const isForwards = options.direction !== "backwards";
    return this.#read(
      options,
      (moment, rest, begun) =>
        isForwards ? this.#scanForwards(moment, rest, begun) : this.#scanBackwards(moment, rest, begun),
      ({ sort }) => sort,
    );
  }

  read(key: string, options: LogReadOptions = {}): Batches<LogRecord> {
    nameBytes("key", key);
    checkLogOptions(options);
    const isForwards = options.direction !== "backwards";
    return this.#read(
      options,
      (moment, rest, begun) =>
        isForwards ? this.#readForwards(key, moment, rest, begun) : this.#readBackwards(key, moment, rest, begun),
      ({ version }) => version,
    );
  }

  get #now(): LogReads {
    const moment = this.#context.now();
    if (this.#newest?.moment !== moment) this.#newest = { moment, reads: this.#at(moment) };
    return this.#newest.reads;
  }

  #at(moment: Moment): LogReads {
    return new LogReads(this.#context.at(moment), this.name);
  }

  #read(options: LogReadOptions, read: Read, placeOf: (record: LogRecord) => number): Batches<LogRecord> {
    const isRising = options.direction !== "backwards";
    const behind = (rest: LogReadOptions, records: readonly LogRecord[]): LogReadOptions | undefined => {
      const from = placeOf(records.at(-1) as LogRecord) + (isRising ? 1 : -1);
      const limit = rest.limit === undefined ? undefined : rest.limit - records.length;
      if (limit === 0 || from < 1) return undefined;
      return { ...rest, from, ...(limit === undefined ? {} : { limit }) };
    };
    const begin = (): AsyncGenerator<readonly LogRecord[]> =>
      resumed(this.#context, this.name, { options, read, behind, isRising });
    return this.#context.reading(begin, options.signal);
  }

  #scanForwards(
    moment: Moment,
    rest: LogReadOptions,
    { floor, isResumed }: Begun,
  ): AsyncIterable<readonly LogRecord[]> {
    // A position below the first that there is now is refused by the scan itself.
    const from = isResumed ? Math.max(1, floor, rest.from ?? 0) : rest.from;
    return this.#at(moment).scan(from === undefined ? rest : { ...rest, from });
  }

  async *#scanBackwards(moment: Moment, rest: LogReadOptions, begun: Begun): AsyncGenerator<readonly LogRecord[]> {
    const reads = this.#at(moment);
    let next = Math.min(reads.last, rest.from ?? reads.last);
    for await (const records of notNewer((all) => reads.scan(all), rest, begun)) {
      yield records;
      next = (records.at(-1) as LogRecord).sort - 1;
    }
    if (this.#hasLost(moment, begun.floor) && next >= Math.max(1, begun.floor))
      throw this.#dropped(moment, `position ${next}`, { from: next });
  }

  async *#readForwards(
    key: string,
    moment: Moment,
    rest: LogReadOptions,
    { floor, isResumed, hasGiven }: Begun,
  ): AsyncGenerator<readonly LogRecord[]> {
    const reads = this.#at(moment);
    const from = Math.max(1, rest.from ?? 1);
    // Versions are dense, so that what comes next shows whether it's the next.
    let mustFollow = isResumed && (hasGiven || this.#hasLost(moment, floor));
    for await (const records of reads.read(key, rest)) {
      if (mustFollow && (records[0] as LogRecord).version > from) throw this.#droppedOf(key, moment, from);
      mustFollow = false;
      yield records;
    }
    if (mustFollow && (await reads.version(key)) >= from) throw this.#droppedOf(key, moment, from);
  }

  async *#readBackwards(
    key: string,
    moment: Moment,
    rest: LogReadOptions,
    begun: Begun,
  ): AsyncGenerator<readonly LogRecord[]> {
    const { floor } = begun;
    const reads = this.#at(moment);
    let next = rest.from;
    for await (const records of notNewer((all) => reads.read(key, all), rest, begun)) {
      yield records;
      next = (records.at(-1) as LogRecord).version - 1;
    }
    if (!this.#hasLost(moment, floor)) return;
    next ??= await reads.version(key);
    if (next >= 1) throw this.#droppedOf(key, moment, next);
  }

  #hasLost(moment: Moment, floor: number): boolean {
    return moment.floorOf(this.name) > floor;
  }

  #dropped(moment: Moment, what: string, data: object = {}): EhdbError {
    const first = moment.floorOf(this.name);
    const message = `${what} has been dropped while it was read: the first position of ${this.name} that can be read is ${first}. Read again`;
    return new EhdbError("COMPACTED", message, { ...data, first });
  }

  #droppedOf(key: string, moment: Moment, version: number): EhdbError {
    return this.#dropped(moment, `version ${version} of ${key}`, { key, version });
  }
}

/** Backwards what is newer than a read comes first; once something was given, all that follows is older. */
async function* notNewer(
  read: (options: LogReadOptions) => AsyncIterable<readonly LogRecord[]>,
  options: LogReadOptions,
  { revision, isResumed, hasGiven }: Begun,
): AsyncGenerator<readonly LogRecord[]> {
  if (!isResumed || hasGiven) {
    yield* read(options);
    return;
  }
  const { limit = Infinity, ...all } = options;
  let left = limit;
  for await (const records of read(all)) {
    const wanted = records.filter((record) => record.revision <= revision).slice(0, left);
    if (wanted.length > 0) yield wanted;
    left -= wanted.length;
    if (left === 0) return;
  }
}
