/**
 * The ids of a log: where the record with an id under a key stands, and what it was.
 *
 *     cell := u16 id bytes | id | u16 key bytes | key | f64 sort | f64 version | f64 revision | 8 bytes of content hash | f64 time
 *
 * By id, key, and falling sort: an id that came again after the dedupe window is found as it was last used. A version below 0 says
 * that the record itself is gone. In format version 1 there is no time.
 */
import { HASH_BYTES } from "../envelope.ts";
import { compareBytes } from "./position.ts";
import type { CellOrder } from "./position.ts";

const fixedBytes = 4 + 24 + HASH_BYTES + 8;

export interface FoundId {
  readonly sort: number;
  readonly version: number;
  readonly revision: number;
  /** 8 bytes, a view. */
  readonly hash: Uint8Array;
  readonly time: number;
}

/** As a cell holds it. */
export interface StoredId extends Omit<FoundId, "time"> {
  /** Below 0: the record is gone. */
  readonly version: number;
  readonly time: number | undefined;
}

export const idCells: CellOrder = {
  compare(block, at, target) {
    const idBytes = block.readUInt16LE(at);
    const byId = compareBytes(block, at + 2, idBytes, target.first);
    if (byId !== 0) return byId;
    const key = at + 2 + idBytes;
    const keyBytes = block.readUInt16LE(key);
    const byKey = compareBytes(block, key + 2, keyBytes, target.second);
    return byKey !== 0 ? byKey : -block.readDoubleLE(key + 2 + keyBytes) - target.tail;
  },
  position(block, at) {
    const key = at + 2 + block.readUInt16LE(at);
    const fields = key + 2 + block.readUInt16LE(key);
    return {
      first: block.subarray(at + 2, key),
      second: block.subarray(key + 2, fields),
      tail: -block.readDoubleLE(fields),
    };
  },
};

export function idCellBytes(id: Uint8Array, key: Uint8Array): number {
  return fixedBytes + id.length + key.length;
}

export function writeIdCell(into: Buffer, at: number, id: Uint8Array, key: Uint8Array, found: FoundId): void {
  into.writeUInt16LE(id.length, at);
  into.set(id, at + 2);
  const keyStart = at + 2 + id.length;
  into.writeUInt16LE(key.length, keyStart);
  into.set(key, keyStart + 2);
  const fields = keyStart + 2 + key.length;
  into.writeDoubleLE(found.sort, fields);
  into.writeDoubleLE(found.version, fields + 8);
  into.writeDoubleLE(found.revision, fields + 16);
  into.set(found.hash, fields + 24);
  into.writeDoubleLE(found.time, fields + 24 + HASH_BYTES);
}

export function isIdOf(block: Buffer, at: number, id: Uint8Array, key: Uint8Array): boolean {
  const idBytes = block.readUInt16LE(at);
  const keyStart = at + 2 + idBytes;
  return (
    compareBytes(block, at + 2, idBytes, id) === 0 &&
    compareBytes(block, keyStart + 2, block.readUInt16LE(keyStart), key) === 0
  );
}

/** Of a cell that ends at `end`. */
export function storedIdAt(block: Buffer, at: number, end: number): StoredId {
  const key = at + 2 + block.readUInt16LE(at);
  const fields = key + 2 + block.readUInt16LE(key);
  const timeStart = fields + 24 + HASH_BYTES;
  return {
    sort: block.readDoubleLE(fields),
    version: block.readDoubleLE(fields + 8),
    revision: block.readDoubleLE(fields + 16),
    hash: block.subarray(fields + 24, timeStart),
    time: timeStart < end ? block.readDoubleLE(timeStart) : undefined,
  };
}
