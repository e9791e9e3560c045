import { EhdbError, MAX_NAME_BYTES, MAX_WRITE_BYTES, shown } from "@ehdb/contracts";
import type { DatasetOrder, Expectation, WriteBatch } from "@ehdb/contracts";
import type { Dataset } from "./dataset.ts";
import { COMMIT_HEADER_BYTES, opBytes, operation } from "./envelope.ts";
import type { OpContent } from "./envelope.ts";
import { loneSurrogate } from "./read-options.ts";

const mostOperations = 2 ** 20;
const none = Buffer.alloc(0);

/** An op with what is needed to check it. */
export interface StagedOp extends OpContent {
  readonly to: Dataset;
  readonly keyText: string;
  readonly idText: string | undefined;
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
  #ids: Set<string> | undefined;
  /** Where the last put or delete of a map's key stands. */
  #mapKeys: Map<string, number> | undefined;
  #isDone = false;

  constructor(datasets: ReadonlyMap<string, Dataset>, hash: (payload: Uint8Array) => Buffer) {
    this.#datasets = datasets;
    this.#hash = hash;
  }

  append(dataset: string, key: string, payload: Uint8Array, id?: string): void {
    const to = this.#dataset(dataset, "by-sort");
    const keyBytes = nameBytes("key", key);
    checkPayload(payload);
    let idBytes: Uint8Array = none;
    if (id !== undefined) {
      idBytes = nameBytes("id", id);
      this.#ids ??= new Set();
      const scoped = `${to.id} ${id}\0${key}`;
      if (this.#ids.has(scoped)) {
        throw new EhdbError(
          "INVALID_ARGUMENT",
          `id ${JSON.stringify(id)} stands twice in one batch under key ${JSON.stringify(key)}`,
          { dataset, key, id },
        );
      }
      this.#ids.add(scoped);
    }
    this.#add({
      operation: operation.append,
      dataset: to.id,
      key: keyBytes,
      id: idBytes,
      hash: id === undefined ? none : this.#hash(payload),
      payload,
      to,
      keyText: key,
      idText: id,
    });
  }

  put(dataset: string, key: string, payload: Uint8Array): void {
    checkPayload(payload);
    this.#write(operation.put, dataset, key, payload);
  }

  delete(dataset: string, key: string): void {
    this.#write(operation.delete, dataset, key, none);
  }

  expect(dataset: string, key: string, expectation: Expectation): void {
    const to = this.#dataset(dataset, undefined);
    nameBytes("key", key);
    if (typeof expectation === "number" ? !isSequence(expectation) : !["any", "none", "exists"].includes(expectation)) {
      const message = `an expectation is "any", "none", "exists" or a whole number from 0, not ${shown(expectation)}`;
      throw new EhdbError("INVALID_ARGUMENT", message, { dataset, key, got: String(expectation) });
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
    if (stageResult instanceof Promise) {
      stageResult.catch(() => undefined);
      const message =
        "the function given to commit() is synchronous: read and decide before, then state what is to be written";
      throw new EhdbError("INVALID_ARGUMENT", message, {});
    }
    if (this.ops.length === 0) {
      throw new EhdbError("INVALID_ARGUMENT", "an empty batch: state at least one append, put or delete", {});
    }
  }

  /** For who waits: the payloads as they are now. */
  keepPayloads(): void {
    this.ops.forEach((op, place) => {
      this.ops[place] = { ...op, payload: new Uint8Array(op.payload) };
    });
  }

  #write(op: StagedOp["operation"], dataset: string, key: string, payload: Uint8Array): void {
    const to = this.#dataset(dataset, "by-key");
    const keyBytes = nameBytes("key", key);
    const staged: StagedOp = {
      operation: op,
      dataset: to.id,
      key: keyBytes,
      id: none,
      hash: none,
      payload,
      to,
      keyText: key,
      idText: undefined,
    };
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
    this.#count(staged, -opBytes(replaced), -replaced.payload.length - replaced.key.length);
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
    const content = this.#contentBytes + op.payload.length + op.key.length + op.id.length + freedContent;
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

export function noDataset(name: unknown, known: ReadonlyMap<string, Dataset>): EhdbError {
  const message = `there is no dataset ${shown(name)}; this engine was opened with ${[...known.keys()].join(", ")}`;
  return new EhdbError("INVALID_ARGUMENT", message, { dataset: String(name) });
}

export function wrongOrder(dataset: Dataset, wanted: DatasetOrder): EhdbError {
  const say = { "by-sort": "a log (append)", "by-key": "a map (put, delete)" };
  const message = `dataset ${dataset.name} is ${say[dataset.order]}, not ${say[wanted]}`;
  return new EhdbError("INVALID_ARGUMENT", message, { dataset: dataset.name });
}

/** The UTF-8 of a key or an id. INVALID_ARGUMENT, TOO_LARGE. */
export function nameBytes(what: string, name: unknown): Buffer {
  if (typeof name !== "string" || name.length === 0) {
    throw new EhdbError("INVALID_ARGUMENT", `${what} must be a string of at least one character, not ${shown(name)}`, {
      got: String(name),
    });
  }
  if (loneSurrogate.test(name)) {
    throw new EhdbError(
      "INVALID_ARGUMENT",
      `${what} ${JSON.stringify(name)} has half of a surrogate pair: it must be well-formed Unicode`,
      {},
    );
  }
  const bytes = Buffer.from(name);
  if (bytes.length > MAX_NAME_BYTES) {
    const message = `${what} of ${bytes.length} bytes of UTF-8 is longer than the limit of ${MAX_NAME_BYTES}`;
    throw new EhdbError("TOO_LARGE", message, { bytes: bytes.length, maxBytes: MAX_NAME_BYTES });
  }
  return bytes;
}

function checkPayload(payload: unknown): void {
  if (payload instanceof Uint8Array) return;
  throw new EhdbError("INVALID_ARGUMENT", `a payload is a Uint8Array, not ${shown(payload)}`, {});
}

function isSequence(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}
