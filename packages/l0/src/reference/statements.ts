import { EhdbError, isBytes, MAX_WRITE_BYTES, OPERATION_BYTES } from "@ehdb/contracts";
import type { DatasetOrder, DatasetSpec, Expectation, ImportedRecord, NewRecord, WriteBatch } from "@ehdb/contracts";
import { checkDataset, checkName, checkWhole, invalid } from "./checks.ts";

export interface Append {
  readonly kind: "append";
  readonly dataset: string;
  readonly key: string;
  readonly id: string | undefined;
  readonly payload: Uint8Array;
}

/** The reference forgets nothing: whoever compares must bear that the other does. */
export interface Erase {
  readonly kind: "erase";
  readonly dataset: string;
  readonly key: string;
  readonly below: number;
}

export interface Put {
  readonly kind: "put";
  readonly dataset: string;
  readonly key: string;
  readonly payload: Uint8Array;
}

export interface Delete {
  readonly kind: "delete";
  readonly dataset: string;
  readonly key: string;
}

/** What an import brought, and the revision with which it began. */
export interface Import {
  readonly kind: "import";
  readonly dataset: string;
  readonly records: readonly ImportedRecord[];
  readonly revision: number;
}

export type Write = Append | Erase | Put | Delete;

export interface Expected {
  readonly dataset: string;
  readonly order: DatasetOrder;
  readonly key: string;
  readonly expectation: Expectation;
}

/** What a stage stated, in its order. */
export interface Statements {
  readonly writes: readonly Write[];
  readonly expectations: readonly Expected[];
}

/** Runs a stage and collects what it states. */
export function statementsOf(datasets: readonly DatasetSpec[], stage: (batch: WriteBatch) => unknown): Statements {
  let writes: Write[] = [];
  const expectations: Expected[] = [];
  let ids = new Set<string>();
  let bytes = 0;
  let isOpen = true;

  function checkOpen(): void {
    if (!isOpen) throw invalid("the batch was used after its stage had returned: state everything within");
  }

  /** The last check: what passes it is stated. */
  function count(key: string, id: string | undefined, payload: Uint8Array | undefined): void {
    const more = OPERATION_BYTES + Buffer.byteLength(key) + Buffer.byteLength(id ?? "") + (payload?.length ?? 0);
    if (bytes + more > MAX_WRITE_BYTES) {
      throw new EhdbError("TOO_LARGE", `a batch has ${bytes + more} bytes, ${MAX_WRITE_BYTES} at most: split it`, {
        bytes: bytes + more,
        maxBytes: MAX_WRITE_BYTES,
      });
    }
    bytes += more;
  }

  const batch: WriteBatch = {
    append(dataset, key, payload, id) {
      checkOpen();
      checkDataset(datasets, dataset, "by-sort");
      checkName("a key", key);
      if (id !== undefined) checkName("an id", id);
      const copy = checkedPayload(payload);
      const scope = JSON.stringify([dataset, key, id]);
      if (id !== undefined && ids.has(scope)) {
        throw invalid(`id "${id}" is given twice under key "${key}": give each record its own`, { dataset, key, id });
      }
      count(key, id, copy);
      if (id !== undefined) ids.add(scope);
      writes.push({ kind: "append", dataset, key, id, payload: copy });
    },
    appendAll(dataset, key, records) {
      checkOpen();
      checkDataset(datasets, dataset, "by-sort");
      checkName("a key", key);
      if (!Array.isArray(records)) throw invalid(`records are a ${typeof records}: give an array`);
      const before = { bytes, ids: [...ids], writes: [...writes] };
      try {
        for (const record of records as readonly NewRecord[]) {
          if (Object(record) !== record) throw invalid(`a record is a ${typeof record}: give { payload, id }`);
          batch.append(dataset, key, record.payload, record.id);
        }
      } catch (error) {
        bytes = before.bytes;
        ids = new Set(before.ids);
        writes = before.writes;
        throw error;
      }
    },
    erase(dataset, key, below) {
      checkOpen();
      checkDataset(datasets, dataset, "by-sort");
      checkName("a key", key);
      checkWhole("below", below, 1);
      count(key, undefined, undefined);
      writes.push({ kind: "erase", dataset, key, below });
    },
    put(dataset, key, payload) {
      checkOpen();
      checkDataset(datasets, dataset, "by-key");
      checkName("a key", key);
      const copy = checkedPayload(payload);
      count(key, undefined, copy);
      writes.push({ kind: "put", dataset, key, payload: copy });
    },
    delete(dataset, key) {
      checkOpen();
      checkDataset(datasets, dataset, "by-key");
      checkName("a key", key);
      count(key, undefined, undefined);
      writes.push({ kind: "delete", dataset, key });
    },
    expect(dataset, key, expectation) {
      checkOpen();
      const order = checkDataset(datasets, dataset);
      checkName("a key", key);
      checkExpectation(expectation);
      expectations.push({ dataset, order, key, expectation });
    },
  };

  if (typeof stage !== "function") throw invalid("a commit needs a function that states what is to be written");
  try {
    checkReturned(stage(batch));
  } finally {
    isOpen = false;
  }
  return { writes, expectations };
}

/** An async stage would state the rest when the commit is over. What becomes of it interests nobody. */
function checkReturned(returned: unknown): void {
  if (typeof returned !== "object" || returned === null || !("then" in returned)) return;
  void Promise.resolve(returned).catch(() => undefined);
  throw invalid("the stage of a commit returned a promise: gather first what is to be written, then state it at once");
}

/** A copy. */
function checkedPayload(given: unknown): Uint8Array {
  if (!isBytes(given)) throw invalid(`a payload is a ${typeof given}: give a Uint8Array or Buffer`);
  try {
    return given.slice();
  } catch {
    throw invalid("a payload's memory was given away: give one that is there");
  }
}

function checkExpectation(expectation: unknown): void {
  if (["any", "none", "exists"].includes(expectation as string)) return;
  if (Number.isSafeInteger(expectation) && (expectation as number) >= 0) return;
  throw invalid(`an expectation is any, none, exists or a whole number from 0, not a ${typeof expectation}`);
}
