import { EhdbError, invalidArgument, isBytes, isThenable, MAX_WRITE_BYTES, shown } from "@ehdb/contracts";
import type { DatasetOrder, Expectation, NewRecord, WriteBatch } from "@ehdb/contracts";
import type { Dataset } from "./dataset.ts";
import { COMMIT_HEADER_BYTES, opBytes, operation } from "./envelope.ts";
import type { OpContent, Operation } from "./envelope.ts";
import { nameBytes } from "./names.ts";
import type { PayloadMemory } from "./payload-memory.ts";

const mostOperations = 2 ** 20;
const none = Buffer.alloc(0);

/** An op, with what the commit step finds and gives. */
export interface StagedOp extends OpContent {
  readonly to: Dataset;
  payload: Uint8Array;
  /** Of a log: the version under its key that this commit goes on from. */
  head: number;
  /** An append's; of an erase the first that stays. */
  version: number;
  /** An append's. */
  sort: number;
  /** Where it begins in its chunk. */
  offset: number;
}

export interface StagedExpectation {
  readonly to: Dataset;
  readonly key: string;
  readonly expectation: Expectation;
}

/** What one commit is to write, checked as it's stated. */
export class StagedBatch implements WriteBatch {
  readonly ops: StagedOp[] = [];
  readonly expectations: StagedExpectation[] = [];
  /** As a record of the journal. */
  bytes: number = COMMIT_HEADER_BYTES;
  #contentBytes = 0;
  readonly #datasets: ReadonlyMap<string, Dataset>;
  readonly #hash: (payload: Uint8Array) => Buffer;
  readonly #memory: PayloadMemory;
  #ids: Set<string> | undefined;
  /** Where the last put or delete of a map's key stands. */
  #mapKeys: Map<string, number> | undefined;
  #isDone = false;

  constructor(datasets: ReadonlyMap<string, Dataset>, hash: (payload: Uint8Array) => Buffer, memory: PayloadMemory) {
    this.#datasets = datasets;
    this.#hash = hash;
    this.#memory = memory;
  }

  append(dataset: string, key: string, payload: Uint8Array, id?: string): void {
    const to = this.#dataset(dataset, "by-sort");
    const keyBytes = nameBytes("key", key);
    const copy = this.#copied(payload);
    if (id === undefined) {
      this.#add(stagedOp(operation.append, to, key, keyBytes, copy, undefined, 0, none));
      return;
    }
    const idBytes = nameBytes("id", id);
    const ids = (this.#ids ??= new Set());
    const scoped = scopedId(to, key, id);
    if (ids.has(scoped)) {
      const message = `id ${JSON.stringify(id)} stands twice in one batch under key ${JSON.stringify(key)}`;
      throw new EhdbError("INVALID_ARGUMENT", message, { dataset, key, id });
    }
    this.#add(stagedOp(operation.append, to, key, keyBytes, copy, id, idBytes, this.#hash(copy)));
    ids.add(scoped);
  }

  appendAll(dataset: string, key: string, records: readonly NewRecord[]): void {
    if (!Array.isArray(records)) throw invalidArgument("records", records, "an array of records, { payload, id }");
    if (records.length === 0) {
      // No `append` looks at them.
      this.#dataset(dataset, "by-sort");
      nameBytes("key", key);
    }
    const { bytes } = this;
    const contentBytes = this.#contentBytes;
    const count = this.ops.length;
    try {
      for (const record of records as readonly NewRecord[]) {
        if (typeof record !== "object" || record === null)
          throw invalidArgument("a record", record, "{ payload, id }, with a Uint8Array as payload");
        this.append(dataset, key, record.payload, record.id);
      }
    } catch (error) {
      for (const { to, id } of this.ops.splice(count)) if (id !== undefined) this.#ids?.delete(scopedId(to, key, id));
      this.bytes = bytes;
      this.#contentBytes = contentBytes;
      throw error;
    }
  }

  erase(dataset: string, key: string, below: number): void {
    const to = this.#dataset(dataset, "by-sort");
    const keyBytes = nameBytes("key", key);
    if (!isSequence(below) || below < 1) {
      const message = `what is erased lies below a version, a whole number from 1, not ${shown(below)}`;
      throw new EhdbError("INVALID_ARGUMENT", message, { dataset, key, got: shown(below) });
    }
    const op = stagedOp(operation.erase, to, key, keyBytes, none, undefined, 0, none);
    op.version = below;
    this.#add(op);
  }

  put(dataset: string, key: string, payload: Uint8Array): void {
    this.#write(operation.put, dataset, key, this.#copied(payload));
  }

  delete(dataset: string, key: string): void {
    this.#write(operation.delete, dataset, key, none);
  }

  expect(dataset: string, key: string, expectation: Expectation): void {
    const to = this.#dataset(dataset, undefined);
    nameBytes("key", key);
    if (typeof expectation === "number" ? !isSequence(expectation) : !["any", "none", "exists"].includes(expectation)) {
      const message = `an expectation is "any", "none", "exists" or a whole number from 0, not ${shown(expectation)}`;
      throw new EhdbError("INVALID_ARGUMENT", message, { dataset, key, got: shown(expectation) });
    }
    this.expectations.push({ to, key, expectation });
  }

  /** Lets `stage` state what it wants. INVALID_ARGUMENT when that is nothing, or when it's an async function. */
  fill(stage: (batch: WriteBatch) => void): void {
    let stageResult: unknown;
    try {
      stageResult = stage(this);
    } finally {
      this.#isDone = true;
    }
    if (isThenable(stageResult)) {
      // The caller is told what's wrong; what becomes of the promise tells nobody anything, and may not end the process.
      Promise.resolve(stageResult).catch(() => undefined);
      const message =
        "the function given to commit() is synchronous: read and decide before, then state what is to be written";
      throw new EhdbError("INVALID_ARGUMENT", message, {});
    }
    if (this.ops.length === 0) {
      throw new EhdbError("INVALID_ARGUMENT", "an empty batch: state at least one append, erase, put or delete", {});
    }
  }

  /** For who waits: the memory of its payloads is used again. */
  keepPayloads(): void {
    for (const op of this.ops) op.payload = new Uint8Array(op.payload);
  }

  /** Whoever states a payload may use its memory again at once. */
  #copied(payload: unknown): Uint8Array {
    if (!isBytes(payload))
      throw new EhdbError("INVALID_ARGUMENT", `a payload is a Uint8Array, not ${shown(payload)}`, {});
    try {
      return this.#memory.copy(payload);
    } catch (error) {
      throw new EhdbError("INVALID_ARGUMENT", "a payload's memory was given away (its buffer is detached)", {}, error);
    }
  }

  #write(op: StagedOp["operation"], dataset: string, key: string, payload: Uint8Array): void {
    const to = this.#dataset(dataset, "by-key");
    const keyBytes = nameBytes("key", key);
    const staged = stagedOp(op, to, key, keyBytes, payload, undefined, 0, none);
    this.#mapKeys ??= new Map();
    const scoped = `${to.id} ${key}`;
    const before = this.#mapKeys.get(scoped);
    if (before === undefined) {
      this.#mapKeys.set(scoped, this.ops.length);
      this.#add(staged);
      return;
    }
    // In one commit the last operation on a key is the only one.
    const replaced = this.ops[before] as StagedOp;
    this.#count(staged, -opBytes(replaced), -replaced.payload.length - replaced.keyBytes);
    this.ops[before] = staged;
  }

  #add(op: StagedOp): void {
    if (this.ops.length >= mostOperations) {
      const message = `a batch of more than ${mostOperations} operations. Split it`;
      throw new EhdbError("TOO_LARGE", message, { operations: this.ops.length + 1, maxOperations: mostOperations });
    }
    this.#count(op, 0, 0);
    this.ops.push(op);
  }

  #count(op: StagedOp, freedBytes: number, freedContent: number): void {
    const content = this.#contentBytes + op.payload.length + op.keyBytes + op.idBytes + freedContent;
    const bytes = this.bytes + opBytes(op) + freedBytes;
    if (bytes > MAX_WRITE_BYTES) {
      const message = `a batch of ${content} bytes, ${bytes} as they are stored, is larger than the limit of ${MAX_WRITE_BYTES}. Split it`;
      throw new EhdbError("TOO_LARGE", message, { bytes, maxBytes: MAX_WRITE_BYTES });
    }
    this.#contentBytes = content;
    this.bytes = bytes;
  }

  #dataset(name: string, order: DatasetOrder | undefined): Dataset {
    if (this.#isDone) {
      throw new EhdbError(
        "INVALID_ARGUMENT",
        "this batch was committed already: state writes only while the function given to commit() runs",
        {},
      );
    }
    const dataset = this.#datasets.get(name);
    if (dataset === undefined) throw noDataset(name, this.#datasets);
    if (order !== undefined && dataset.order !== order) throw wrongOrder(dataset, order);
    return dataset;
  }
}

function stagedOp(
  op: Operation,
  to: Dataset,
  key: string,
  keyBytes: number,
  payload: Uint8Array,
  id: string | undefined,
  idBytes: number,
  hash: Uint8Array,
): StagedOp {
  return {
    operation: op,
    dataset: to.id,
    key,
    keyBytes,
    id,
    idBytes,
    hash,
    payload,
    to,
    head: 0,
    version: 0,
    sort: 0,
    offset: 0,
  };
}

export function noDataset(name: unknown, known: ReadonlyMap<string, Dataset>): EhdbError {
  const message = `there is no dataset ${shown(name)}; this engine was opened with ${[...known.keys()].join(", ")}`;
  return new EhdbError("INVALID_ARGUMENT", message, { dataset: shown(name) });
}

export function wrongOrder(dataset: Dataset, wanted: DatasetOrder): EhdbError {
  const say = { "by-sort": "a log (append)", "by-key": "a map (put, delete)" };
  const message = `dataset ${dataset.name} is ${say[dataset.order]}, not ${say[wanted]}`;
  return new EhdbError("INVALID_ARGUMENT", message, { dataset: dataset.name });
}

function scopedId(to: Dataset, key: string, id: string): string {
  return `${to.id} ${id}\0${key}`;
}

function isSequence(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}
