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

  get last(): number {
    return lastSort(this.#context.view(), this.#dataset, this.#context.readable());
  }

  assertContinues(sort: number, epoch: number): void {
    this.#context.assertOpen();
    checkWhole("sort", sort, 0);
    checkWhole("epoch", epoch, 1);
    if (sort === 0) return;
    const { cuts } = this.#dataset;
    if (epoch > this.#context.epoch() || cuts.some((cut) => cut.epoch > epoch && sort >= cut.firstSort)) {
      const message = `position ${sort} of ${this.#name}, read in epoch ${epoch}, is not in this log: a crash took it back before it was durable, or the log was replaced by another. Reconcile what was made of it, then go on from an earlier place`;
      throw new EhdbError("TRUNCATED", message, { sort, epoch, last: this.last });
    }
    if (sort > this.last) {
      const message = `position ${sort} of ${this.#name} is beyond the end: the last one readable is ${this.last}`;
      throw new EhdbError("OUT_OF_RANGE", message, { sort, last: this.last });
    }
  }

  async version(key: string): Promise<number> {
    nameBytes("key", key);
    this.#context.beginRead();
    const view = this.#context.view();
    return (await this.#versions(view, key, this.#context.readable()))?.last ?? 0;
  }

  scan(options: LogReadOptions = {}): Batches<LogRecord> {
    checkLogOptions(options);
    return this.#context.reading(() => this.#scan(options), options.signal);
  }

  read(key: string, options: LogReadOptions = {}): Batches<LogRecord> {
    nameBytes("key", key);
    checkLogOptions(options);
    return this.#context.reading(() => this.#read(key, options), options.signal);
  }

  get #dataset(): Dataset {
    return this.#context.dataset(this.#name);
  }

  async *#scan(options: LogReadOptions): AsyncGenerator<readonly LogRecord[]> {
    const view = this.#context.view();
    const readable = this.#context.readable();
    const dataset = this.#dataset;
    const range = logRange(options, 1, lastSort(view, dataset, readable));
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

  async *#read(key: string, options: LogReadOptions): AsyncGenerator<readonly LogRecord[]> {
    const view = this.#context.view();
    const readable = this.#context.readable();
    const dataset = this.#dataset;
    const known = await this.#versions(view, key, readable);
    if (known === undefined) return;
    const range = logRange(options, 1, known.last);
    const wanted = searchKey(key);
    const parts = logParts(view, dataset).map(
      (part) => () => part.read(wanted, { from: range.from, to: range.to, direction: directionOf(range) }),
    );
    const tables = tablesOf(view, dataset).flatMap((table) => {
      const versions = table.versions(key, readable);
      if (versions === undefined) return [];
      return [() => slices(versions.first, versions.last, range, (version) => table.ofKey(key, version))];
    });
    yield* limited([...parts, ...tables], range);
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

/** The last position up to a revision. */
function lastSort(view: View, dataset: Dataset, readable: number): number {
  const tables = tablesOf(view, dataset);
  for (const table of tables.toReversed()) {
    const visible = table.visible(readable);
    if (visible > 0) return table.firstSort + visible - 1;
  }
  return tables[0] === undefined ? dataset.nextSort - 1 : tables[0].firstSort - 1;
}
