import { EhdbError, invalidArgument, isBytes, MAX_SEQUENCE, MAX_WRITE_BYTES } from "@ehdb/contracts";
import type { ImportedRecord } from "@ehdb/contracts";
import type { ContentHash } from "../content-hash.ts";
import type { Dataset } from "../dataset.ts";
import { COMMIT_HEADER_BYTES, opBytes, operation } from "../envelope.ts";
import type { OpContent } from "../envelope.ts";
import { nameBytes } from "../names.ts";

/** The highest sort or version: one more stays, which comes next. */
export const MOST_SORT: number = MAX_SEQUENCE - 1;

/** What a Date can hold: times that go on from there stay whole numbers. */
const mostMillis = 8.64e15;
const none = Buffer.alloc(0);

/** A record that is imported, checked by itself. */
export interface ImportedOp extends OpContent {
  readonly sort: number;
  readonly version: number;
  readonly time: number;
}

/** INVALID_ARGUMENT, TOO_LARGE. What it holds is the caller's memory. */
export function importedOp(dataset: Dataset, given: unknown, hash: ContentHash): ImportedOp {
  if (typeof given !== "object" || given === null) throw invalidArgument("a record", given, "an object");
  const { sort, key, version, time, id, payload } = given as Partial<ImportedRecord>;
  const place = { sort: wholeOf("sort", sort, 1, MOST_SORT), version: wholeOf("version", version, 1, MOST_SORT) };
  const keyBytes = nameBytes("key", key);
  const idBytes = id === undefined ? 0 : nameBytes("id", id);
  if (!isBytes(payload)) throw invalidArgument("payload", payload, "a Uint8Array");
  const op: ImportedOp = {
    operation: operation.append,
    dataset: dataset.id,
    key: key as string,
    keyBytes,
    id,
    idBytes,
    hash: id === undefined ? none : hash(payload),
    payload,
    time: wholeOf("time", time, 0, mostMillis),
    ...place,
  };
  const bytes = COMMIT_HEADER_BYTES + opBytes(op);
  if (bytes <= MAX_WRITE_BYTES) return op;
  const message = `the record at sort key ${place.sort} takes ${bytes} bytes, ${MAX_WRITE_BYTES} at most`;
  throw new EhdbError("TOO_LARGE", message, { sort: place.sort, bytes, maxBytes: MAX_WRITE_BYTES });
}

function wholeOf(name: string, value: unknown, least: number, most: number): number {
  if (Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most) return value as number;
  throw invalidArgument(name, value, `a whole number from ${least} to ${most}`);
}
