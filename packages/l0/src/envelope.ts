import type { LogRecord, MapRecord } from "@ehdb/contracts";
import { writeName } from "./names.ts";
import { StoredRecord } from "./stored-record.ts";

/**
 * The bytes of records: the same in the journal, in a generation's memory and in a part, so that sealing copies them as they are.
 * Little endian; an f64 holds a whole number up to 2^53 - 1.
 *
 *     commit := u8 format, 1 | f64 time | op*                              one record of the journal; its sequence is the revision
 *     entry  := f64 revision | f64 time | op                               in a part
 *     op     := u32 bytes of all that follow | u8 kind | u8 dataset | u16 key bytes
 *             | f64 sort | f64 version                                     when it's an append, or an erase, which has no sort: 0
 *             | key | u16 id bytes, id, 8 bytes of content hash            the last three when the kind has the bit `hasId`
 *             | payload
 */
export const operation = { append: 1, put: 2, delete: 3, erase: 4 } as const;
export type Operation = (typeof operation)[keyof typeof operation];
/** Bit of a kind: an id and a content hash stand before the payload. */
export const hasId = 16;

export const COMMIT_FORMAT = 1;
export const COMMIT_HEADER_BYTES = 9;
export const ENTRY_HEADER_BYTES = 16;
export const HASH_BYTES = 8;
const placeBytes = 16;
const opHeaderBytes = 8;

/** An op of a log: it has a sort and a version. Of an erase the version is the first that stays. */
export function isOfLog(op: Operation): boolean {
  return op === operation.append || op === operation.erase;
}

/** What an op says, to be written, and how many bytes of UTF-8 its key and id take: 0 for no id, which has no hash. */
export interface OpContent {
  readonly operation: Operation;
  readonly dataset: number;
  readonly key: string;
  readonly keyBytes: number;
  readonly id: string | undefined;
  readonly idBytes: number;
  readonly hash: Uint8Array;
  readonly payload: Uint8Array;
}

export function opBytes(op: OpContent): number {
  const id = op.idBytes === 0 ? 0 : 2 + op.idBytes + HASH_BYTES;
  return opHeaderBytes + (isOfLog(op.operation) ? placeBytes : 0) + op.keyBytes + id + op.payload.length;
}

/** Writes an op at `at`, where the caller has made room, and returns the offset behind it. Sort and version are only an append's. */
export function writeOp(into: Buffer, at: number, op: OpContent, sort: number, version: number): number {
  const end = at + opBytes(op);
  const hasPlace = isOfLog(op.operation);
  const { keyBytes, idBytes } = op;
  into.writeUInt32LE(end - at - 4, at);
  into[at + 4] = op.operation | (idBytes === 0 ? 0 : hasId);
  into[at + 5] = op.dataset;
  into.writeUInt16LE(keyBytes, at + 6);
  let next = at + opHeaderBytes;
  if (hasPlace) {
    into.writeDoubleLE(sort, next);
    into.writeDoubleLE(version, next + 8);
    next += placeBytes;
  }
  writeName(into, next, op.key, keyBytes);
  next += keyBytes;
  if (op.id !== undefined) {
    into.writeUInt16LE(idBytes, next);
    writeName(into, next + 2, op.id, idBytes);
    next += 2 + idBytes;
    into.set(op.hash, next);
    next += HASH_BYTES;
  }
  into.set(op.payload, next);
  return end;
}

export function operationAt(bytes: Buffer, at: number): Operation {
  return ((bytes[at + 4] as number) & 15) as Operation;
}

export function datasetAt(bytes: Buffer, at: number): number {
  return bytes[at + 5] as number;
}

/** The offset behind the op at `at`. */
export function opEnd(bytes: Buffer, at: number): number {
  return at + 4 + bytes.readUInt32LE(at);
}

/** Of an op of a log. */
export function sortAt(bytes: Buffer, at: number): number {
  return bytes.readDoubleLE(at + opHeaderBytes);
}

/** Of an op of a log. */
export function versionAt(bytes: Buffer, at: number): number {
  return bytes.readDoubleLE(at + opHeaderBytes + 8);
}

/** A view. */
export function keyAt(bytes: Buffer, at: number): Buffer {
  const start = keyStart(bytes, at);
  return bytes.subarray(start, start + bytes.readUInt16LE(at + 6));
}

export function keyTextAt(bytes: Buffer, at: number): string {
  const start = keyStart(bytes, at);
  return bytes.toString("utf8", start, start + bytes.readUInt16LE(at + 6));
}

/** A view; empty when there is none. */
export function idAt(bytes: Buffer, at: number): Buffer {
  const start = keyStart(bytes, at) + bytes.readUInt16LE(at + 6);
  if (((bytes[at + 4] as number) & hasId) === 0) return bytes.subarray(start, start);
  return bytes.subarray(start + 2, start + 2 + bytes.readUInt16LE(start));
}

/** A view; empty when there is no id. */
export function hashAt(bytes: Buffer, at: number): Buffer {
  const id = idAt(bytes, at);
  const start = id.byteOffset - bytes.byteOffset + id.length;
  return bytes.subarray(start, id.length === 0 ? start : start + HASH_BYTES);
}

/** A view. */
export function payloadAt(bytes: Buffer, at: number): Buffer {
  return bytes.subarray(payloadStart(bytes, at), opEnd(bytes, at));
}

function payloadStart(bytes: Buffer, at: number): number {
  const key = keyStart(bytes, at) + bytes.readUInt16LE(at + 6);
  const isNamed = ((bytes[at + 4] as number) & hasId) !== 0;
  return isNamed ? key + 2 + bytes.readUInt16LE(key) + HASH_BYTES : key;
}

export function logRecordAt(bytes: Buffer, at: number, revision: number, time: number): LogRecord {
  const id = idAt(bytes, at);
  const idText = id.length === 0 ? undefined : id.toString("utf8");
  const start = payloadStart(bytes, at);
  const end = opEnd(bytes, at);
  return new StoredRecord(
    sortAt(bytes, at),
    keyTextAt(bytes, at),
    versionAt(bytes, at),
    revision,
    time,
    idText,
    bytes,
    start,
    end,
  );
}

export function mapRecordAt(bytes: Buffer, at: number, revision: number, time: number): MapRecord {
  return { key: keyTextAt(bytes, at), revision, time, payload: payloadAt(bytes, at) };
}

/**
 * Whether the op at `at` is whole and says nothing impossible: its lengths fit each other and end at or before `limit`. What comes
 * from disk has been checked by a checksum; this keeps a fault of ours from being read as data.
 */
export function isWholeOp(bytes: Buffer, at: number, limit: number): boolean {
  if (at + opHeaderBytes > limit) return false;
  const end = opEnd(bytes, at);
  const kind = bytes[at + 4] as number;
  const op = kind & 15;
  if (end > limit || op < operation.append || op > operation.erase || (kind & ~(15 | hasId)) !== 0) return false;
  const keyEnd = keyStart(bytes, at) + bytes.readUInt16LE(at + 6);
  if ((kind & hasId) === 0) return keyEnd <= end;
  return keyEnd + 2 <= end && keyEnd + 2 + bytes.readUInt16LE(keyEnd) + HASH_BYTES <= end;
}

function keyStart(bytes: Buffer, at: number): number {
  return at + opHeaderBytes + (isOfLog(operationAt(bytes, at)) ? placeBytes : 0);
}
