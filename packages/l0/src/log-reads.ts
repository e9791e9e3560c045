import { EhdbError } from "@ehdb/contracts";
import type { Batches, LogDataset, LogReadOptions, LogRecord } from "@ehdb/contracts";
import type { Dataset } from "./dataset.ts";
import type { Generation } from "./generation.ts";
import type { LogTable } from "./log-table.ts";
import { checkLogOptions, checkWhole, logRange } from "./read-options.ts";
import type { LogRange } from "./read-options.ts";
import type { ReadContext } from "./read-context.ts";
import { searchKey } from "./part/search-key.ts";
import { nameBytes } from "./names.ts";
import type { Pin } from "./pins.ts";
import { logParts } from "./view.ts";
import type { View } from "./view.ts";

/** Records given at a time from memory. */
const sliceRecords = 512;

/** Reads of a log dataset. Each sees one moment: what was readable when it began. */
export class LogReads implements LogDataset {
  readonly #context: ReadContext;
  readonly #name: string;

  constructor(context: ReadContext, name: string) {
    this.#context = context;
    this.#name = name;
  }

  get name(): string {
    return this.#name;
  }

  get first(): number {
    return Math.max(1, this.#dataset.floor);
  }

  get last(): number {
    try {
      return this.#last;
    } catch (error) {
      throw this.#context.failed(error);
    }
  }

  assertContinues(sort: number, epoch: number): void {
    try {
      this.#context.assertOpen();
      checkWhole("sort", sort, 0);
      checkWhole("epoch", epoch, 1);
      if (sort > 0) this.#assertThere(sort, epoch);
    } catch (error) {
      throw this.#context.failed(error);
    }
  }

  async version(key: string): Promise<number> {
    let pin: Pin | undefined;
    try {
      nameBytes("key", key);
      this.#context.beginRead();
      pin = this.#context.pin();
      return (await this.#versions(pin.view, key, this.#context.readable()))?.last ?? 0;
    } catch (error) {
      throw this.#context.failed(error);
    } finally {
      pin?.release();
    }
  }

  scan(options: LogReadOptions = {}): Batches<LogRecord> {
    try {
      checkLogOptions(options);
    } catch (error) {
      throw this.#context.failed(error);
    }
    return this.#context.reading((pin) => this.#scan(pin.view, options), options.signal);
  }

  read(key: string, options: LogReadOptions = {}): Batches<LogRecord> {
    try {
      nameBytes("key", key);
      checkLogOptions(options);
    } catch (error) {
      throw this.#context.failed(error);
    }
    return this.#context.reading((pin) => this.#read(pin.view, key, options), options.signal);
  }

  get #last(): number {
    return this.#lastSort(this.#context.view());
  }

  #assertThere(sort: number, epoch: number): void {
    const { cuts } = this.#dataset;
    if (epoch > this.#context.epoch() || cuts.some((cut) => cut.epoch > epoch && sort >= cut.firstSort)) {
      const message = `position ${sort} of ${this.#name}, read in epoch ${epoch}, is not in this log: a crash took it back before it was durable, or the log was replaced by another. Reconcile what was made of it, then go on from an earlier place`;
      throw new EhdbError("TRUNCATED", message, { sort, epoch, last: this.#last });
    }
    if (sort > this.#last) {
      const message = `position ${sort} of ${this.#name} is beyond the end: the last one readable is ${this.#last}`;
      throw new EhdbError("OUT_OF_RANGE", message, { sort, last: this.#last });
    }
  }

  get #dataset(): Dataset {
    return this.#context.dataset(this.#name);
  }

  async *#scan(view: View, options: LogReadOptions): AsyncGenerator<readonly LogRecord[]> {
    const dataset = this.#dataset;
    const { first } = this;
    assertAbove(options, first, this.#name);
    const range = logRange(options, first, this.#lastSort(view));
    const all = logParts(view, dataset);
    const wanted = all.filter(({ meta }) => meta.lastSort >= range.from && meta.firstSort <= range.to);
    this.#context.pruned(all.length - wanted.length);
    const parts = wanted.map(
      (part) => () => part.scan({ from: range.from, to: range.to, direction: directionOf(range) }),
    );
    const tables = tablesOf(view, dataset).map(
      (table) => () =>
        slices(table.firstSort, table.firstSort + table.records - 1, range, (sort) => table.at(sort - table.firstSort)),
    );
    yield* limited([...parts, ...tables], range);
  }

  async *#read(view: View, key: string, options: LogReadOptions): AsyncGenerator<readonly LogRecord[]> {
    const { first } = this;
    const readable = this.#context.readable();
    const dataset = this.#dataset;
    const known = await this.#versions(view, key, readable);
    if (known === undefined) return;
    const range = logRange(options, 1, known.last);
    const wanted = searchKey(key);
    const parts = logParts(view, dataset)
      .filter(({ meta }) => meta.lastSort >= first)
      .map((part) => () => {
        const records = part.read(wanted, { from: range.from, to: range.to, direction: directionOf(range) });
        return part.meta.firstSort < first ? above(records, first) : records;
      });
    const tables = tablesOf(view, dataset).flatMap((table) => {
      const versions = table.versions(key, readable);
      if (versions === undefined) return [];
      return [
        () => {
          const records = slices(versions.first, versions.last, range, (version) => table.ofKey(key, version));
          return table.firstSort < first ? above(records, first) : records;
        },
      ];
    });
    yield* limited([...parts, ...tables], range);
  }

  /** The last position that can be read. */
  #lastSort(view: View): number {
    const dataset = this.#dataset;
    const tables = tablesOf(view, dataset);
    for (const table of tables.toReversed()) {
      const visible = table.visible(this.#context.readable());
      if (visible > 0) return table.firstSort + visible - 1;
    }
    return (tables[0]?.firstSort ?? this.#context.nextSort(dataset)) - 1;
  }

  /** The last version of a key up to `readable`. */
  async #versions(view: View, key: string, readable: number): Promise<{ last: number } | undefined> {
    const dataset = this.#dataset;
    for (const table of tablesOf(view, dataset).toReversed()) {
      const versions = table.versions(key, readable);
      if (versions !== undefined) return versions;
    }
    const wanted = searchKey(key);
    for (const part of logParts(view, dataset).toReversed()) {
      const versions = await part.versions(wanted);
      if (versions !== undefined) return versions;
    }
    return undefined;
  }
}

/** What lies below the log's first position is gone, whether it was dropped already or not. */
async function* above(
  batches: AsyncIterable<readonly LogRecord[]> | Iterable<readonly LogRecord[]>,
  first: number,
): AsyncGenerator<readonly LogRecord[]> {
  for await (const records of batches) yield records.filter(({ sort }) => sort >= first);
}

function assertAbove({ from, direction }: LogReadOptions, first: number, name: string): void {
  if (direction === "backwards" || from === undefined || from < 1 || from >= first) return;
  const message = `position ${from} of ${name} has been dropped: the first one that can be read is ${first}. Begin there`;
  throw new EhdbError("COMPACTED", message, { from, first });
}

type Source = () => AsyncIterable<readonly LogRecord[]> | Iterable<readonly LogRecord[]>;

/** One source after the other, in the direction of the range, up to its limit. */
async function* limited(sources: readonly Source[], range: LogRange): AsyncGenerator<readonly LogRecord[]> {
  let left = range.limit;
  if (range.from > range.to || left === 0) return;
  for (const source of range.isBackwards ? sources.toReversed() : sources) {
    for await (const records of source()) {
      if (records.length === 0) continue;
      const wanted = records.length > left ? records.slice(0, left) : records;
      left -= wanted.length;
      yield wanted;
      if (left === 0) return;
    }
  }
}

/** Some of the numbers from `first` to `last` that are in the range, in its direction. */
function* slices(
  first: number,
  last: number,
  range: LogRange,
  at: (number: number) => LogRecord,
): Iterable<readonly LogRecord[]> {
  const from = Math.max(first, range.from);
  const to = Math.min(last, range.to);
  for (let done = 0; done <= to - from; done += sliceRecords) {
    const count = Math.min(sliceRecords, to - from + 1 - done);
    yield Array.from({ length: count }, (_, i) => at(range.isBackwards ? to - done - i : from + done + i));
  }
}

function directionOf(range: LogRange): "forwards" | "backwards" {
  return range.isBackwards ? "backwards" : "forwards";
}

function tablesOf(view: View, dataset: Dataset): LogTable[] {
  return view.generations.flatMap((generation: Generation) => generation.logs.get(dataset.id) ?? []);
}
