/**
 * The postings of a log: for each key, where its versions stand. A key with many has several cells, so that none is large.
 *
 *     cell := u16 key bytes | key | f64 version of the cell's first | f64 of the key's first | f64 of the key's last, in this part
 *           | u16 count | sorts: a varint each, the first whole, then what it grows by
 */
import { compareBytes, noBytes } from "./position.ts";
import type { CellOrder } from "./position.ts";
import { readVarint, varintBytes, writeVarint } from "./varint.ts";

/** A posting of this many versions is at most 8 KiB. */
export const MAX_PIECE_VERSIONS = 1024;
const fixedBytes = 2 + 24 + 2;

/** Some versions of a key that follow each other. */
export interface Piece {
  readonly firstVersion: number;
  readonly sorts: readonly number[];
}

export interface VersionRange {
  readonly first: number;
  readonly last: number;
}

/** By key, then by the last version of the cell. */
export const postingCells: CellOrder = {
  compare(block, at, target) {
    const keyBytes = block.readUInt16LE(at);
    const byKey = compareBytes(block, at + 2, keyBytes, target.first);
    return byKey !== 0 ? byKey : lastVersion(block, at + 2 + keyBytes) - target.tail;
  },
  position(block, at) {
    const fields = at + 2 + block.readUInt16LE(at);
    return { first: block.subarray(at + 2, fields), second: noBytes, tail: lastVersion(block, fields) };
  },
};

function lastVersion(block: Buffer, fields: number): number {
  return block.readDoubleLE(fields) + block.readUInt16LE(fields + 24) - 1;
}

/** Of `sorts`, which rise. */
export function postingCellBytes(key: Uint8Array, sorts: Float64Array): number {
  let bytes = fixedBytes + key.length;
  let before = 0;
  for (const sort of sorts) {
    bytes += varintBytes(sort - before);
    before = sort;
  }
  return bytes;
}

export function writePostingCell(
  into: Buffer,
  at: number,
  key: Uint8Array,
  firstVersion: number,
  range: VersionRange,
  sorts: Float64Array,
): void {
  into.writeUInt16LE(key.length, at);
  into.set(key, at + 2);
  const fields = at + 2 + key.length;
  into.writeDoubleLE(firstVersion, fields);
  into.writeDoubleLE(range.first, fields + 8);
  into.writeDoubleLE(range.last, fields + 16);
  into.writeUInt16LE(sorts.length, fields + 24);
  let next = fields + 26;
  let before = 0;
  for (const sort of sorts) {
    next = writeVarint(into, next, sort - before);
    before = sort;
  }
}

export function isPostingOf(block: Buffer, at: number, key: Uint8Array): boolean {
  return compareBytes(block, at + 2, block.readUInt16LE(at), key) === 0;
}

/** All versions that the key of the cell has in this part. */
export function versionRangeAt(block: Buffer, at: number): VersionRange {
  const fields = at + 2 + block.readUInt16LE(at);
  return { first: block.readDoubleLE(fields + 8), last: block.readDoubleLE(fields + 16) };
}

/** The versions in the cell from `at` to `end`; `undefined` when they don't fill it. */
export function pieceAt(block: Buffer, at: number, end: number): Piece | undefined {
  const fields = at + 2 + block.readUInt16LE(at);
  const sorts: number[] = [];
  const cursor = { at: fields + 26 };
  let sort = 0;
  for (let i = block.readUInt16LE(fields + 24); i > 0; i--) {
    sort += readVarint(block, cursor);
    sorts.push(sort);
  }
  return cursor.at === end ? { firstVersion: block.readDoubleLE(fields), sorts } : undefined;
}
