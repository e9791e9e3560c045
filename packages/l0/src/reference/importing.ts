import { EhdbError, isAbortSignal, isBytes, MAX_SEQUENCE, MAX_WRITE_BYTES, OPERATION_BYTES } from "@ehdb/contracts";
import type { ImportedRecord, ImportOptions } from "@ehdb/contracts";
import { checkName, checkOptions, invalid } from "./checks.ts";

export type ImportBatches = AsyncIterable<readonly ImportedRecord[]> | Iterable<readonly ImportedRecord[]>;

/** What an import brought, in order of the sort keys. */
export interface Brought {
  readonly records: readonly ImportedRecord[];
  readonly outOfOrder: number;
}

const heldRecords = 4096;
const heldBytes = 16 * 1024 * 1024;

export function checkImportOptions(options: ImportOptions): void {
  checkOptions(options, ["disorder", "signal"] satisfies (keyof ImportOptions)[]);
  const { disorder, signal } = options;
  if (signal !== undefined && !isAbortSignal(signal)) throw invalid("signal is no AbortSignal: give one, or none");
  if (disorder !== undefined && disorder !== "refuse" && disorder !== "count") {
    throw new EhdbError("INVALID_OPTION", `disorder is ${String(disorder)}: give refuse or count`);
  }
}

/** All batches, one after the other; `unlessEnded` throws when the import ends meanwhile. */
export async function* batchesOf(
  batches: ImportBatches,
  unlessEnded: <T>(waited: Promise<T>) => Promise<T>,
): AsyncGenerator<readonly ImportedRecord[]> {
  const given = Object(batches) as Partial<AsyncIterable<unknown> & Iterable<unknown>>;
  if (typeof batches === "string" || (given[Symbol.asyncIterator] ?? given[Symbol.iterator]) === undefined)
    throw invalid(`batches is a ${typeof batches}: give an iterable of arrays of records`);
  const iterator = (async function* () {
    yield* batches;
  })();
  let isOver = false;
  try {
    for (;;) {
      const next = await unlessEnded(iterator.next());
      isOver = next.done === true;
      if (next.done === true) return;
      if (!Array.isArray(next.value)) throw invalid("a batch of an import is no array: give arrays of records");
      yield next.value;
    }
  } finally {
    if (!isOver) void iterator.return(undefined).catch(() => undefined);
  }
}

/** A copy. */
export function checkedRecord(given: unknown): ImportedRecord {
  if (typeof given !== "object" || given === null) throw invalid(`a record is a ${typeof given}: give an object`);
  const { sort, key, version, time, id, payload } = given as ImportedRecord;
  checkNumber("sort", sort, 1, MAX_SEQUENCE - 1);
  checkNumber("version", version, 1, MAX_SEQUENCE - 1);
  checkName("a key", key);
  if (id !== undefined) checkName("an id", id);
  if (!isBytes(payload)) throw invalid(`a payload is a ${typeof payload}: give a Uint8Array or Buffer`);
  checkNumber("time", time, 0, 8.64e15);
  const bytes = OPERATION_BYTES + Buffer.byteLength(key) + Buffer.byteLength(id ?? "") + payload.length;
  if (bytes > MAX_WRITE_BYTES) {
    const message = `the record at ${sort} has ${bytes} bytes, ${MAX_WRITE_BYTES} at most: split it`;
    throw new EhdbError("TOO_LARGE", message, { sort, bytes, maxBytes: MAX_WRITE_BYTES });
  }
  return { sort, key, version, time, id, payload: payload.slice() };
}

function checkNumber(what: string, value: unknown, least: number, most: number): void {
  if (Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most) return;
  throw invalid(`${what} is ${String(value)}: give a whole number from ${least} to ${most}`);
}

/** Takes records as they come, and has them in the order of their sort keys. */
export class Bringing {
  readonly #dataset: string;
  readonly #window: number;
  readonly #isCounted: boolean;
  /** Those that can't be overtaken any more. */
  readonly #settled: ImportedRecord[] = [];
  #held: ImportedRecord[] = [];
  #highest = 0;
  #outOfOrder = 0;

  constructor(dataset: string, window: number, isCounted: boolean) {
    this.#dataset = dataset;
    this.#window = window;
    this.#isCounted = isCounted;
  }

  add(record: ImportedRecord): void {
    const { sort } = record;
    const before = this.#isCounted ? (this.#settled.at(-1)?.sort ?? 0) : this.#highest;
    if (sort === this.#highest || this.#held.some((held) => held.sort === sort)) throw this.#twice(sort);
    if (sort <= before) {
      const message = `sort key ${sort} comes behind ${before} in "${this.#dataset}": give records in the order of their sort keys`;
      throw new EhdbError("OUT_OF_ORDER", message, { dataset: this.#dataset, sort, before });
    }
    if (sort < this.#highest) this.#outOfOrder++;
    this.#highest = Math.max(this.#highest, sort);
    this.#held = [...this.#held, record].sort((a, b) => a.sort - b.sort);
    const bytes = (): number => this.#held.reduce((sum, { payload }) => sum + payload.length, 0);
    while (this.#held.length > 0 && (!this.#isCounted || this.#held.length > heldRecords || bytes() > heldBytes))
      this.#settle();
  }

  brought(): Brought {
    while (this.#held.length > 0) this.#settle();
    return { records: this.#settled, outOfOrder: this.#outOfOrder };
  }

  #settle(): void {
    const record = this.#held.shift() as ImportedRecord;
    const { key, version, id, sort, time } = record;
    const dataset = this.#dataset;
    const last = this.#settled.findLast((one) => one.key === key);
    if (last !== undefined && version !== last.version + 1) {
      const message = `version ${version} of "${key}" at ${sort} comes behind ${last.version}: versions of a key follow each other`;
      throw invalid(message, { dataset, sort, key, version, expected: last.version + 1 });
    }
    const before = this.#settled.at(-1)?.time ?? 0;
    if (time < before)
      throw invalid(`time ${time} at ${sort} is before ${before}: times don't fall`, { dataset, sort });
    const same = this.#settled.findLast((one) => id !== undefined && one.id === id && one.key === key);
    if (same !== undefined && sort - same.sort <= this.#window) {
      const message = `id "${id}" of "${key}" at ${sort} stands at ${same.sort} already: an id names one record`;
      throw new EhdbError("ID_REUSED", message, { dataset, key, id, sort, before: same.sort });
    }
    this.#settled.push(record);
  }

  #twice(sort: number): EhdbError {
    return invalid(`sort key ${sort} comes twice: each record has its own`, { dataset: this.#dataset, sort });
  }
}
