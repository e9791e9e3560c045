/** The cells of data: entries as envelope.ts draws them. */
import type { MapRecord } from "@ehdb/contracts";
import {
  ENTRY_HEADER_BYTES,
  isWholeOp,
  keyAt,
  mapRecordAt,
  opEnd,
  operation,
  operationAt,
  sortAt,
} from "../envelope.ts";
import type { Operation } from "../envelope.ts";
import { compareBytes, noBytes } from "./position.ts";
import type { CellOrder } from "./position.ts";

const keyBytesAt = ENTRY_HEADER_BYTES + 6;
const keyStartAt = ENTRY_HEADER_BYTES + 8;

/** Of a log, by their sort. */
export const logEntries: CellOrder = {
  compare: (block, at, target) => sortAt(block, at + ENTRY_HEADER_BYTES) - target.tail,
  position: (block, at) => ({ first: noBytes, second: noBytes, tail: sortAt(block, at + ENTRY_HEADER_BYTES) }),
};

/** Of a map, by key, then from the newest revision to the oldest. A put and a delete have their key at the same place. */
export const mapEntries: CellOrder = {
  compare(block, at, target) {
    const byKey = compareBytes(block, at + keyStartAt, block.readUInt16LE(at + keyBytesAt), target.first);
    return byKey !== 0 ? byKey : -block.readDoubleLE(at) - target.tail;
  },
  position: (block, at) => ({
    first: keyAt(block, at + ENTRY_HEADER_BYTES),
    second: noBytes,
    tail: -block.readDoubleLE(at),
  }),
};

/** One version of a key in a map; a delete's payload is empty. */
export interface MapEntry {
  readonly operation: Operation;
  readonly record: MapRecord;
}

export function entryRevision(block: Buffer, at: number): number {
  return block.readDoubleLE(at);
}

export function entryTime(block: Buffer, at: number): number {
  return block.readDoubleLE(at + 8);
}

export function mapEntryAt(block: Buffer, at: number): MapEntry {
  const op = at + ENTRY_HEADER_BYTES;
  return {
    operation: operationAt(block, op),
    record: mapRecordAt(block, op, entryRevision(block, at), entryTime(block, at)),
  };
}

/** Whether the entry from `at` to `end` is whole and belongs to a dataset of this order. */
export function isWholeEntry(block: Buffer, at: number, end: number, order: "by-sort" | "by-key"): boolean {
  const op = at + ENTRY_HEADER_BYTES;
  if (op >= end || !isWholeOp(block, op, end) || opEnd(block, op) !== end) return false;
  return (
    (operationAt(block, op) === operation.append) === (order === "by-sort") &&
    operationAt(block, op) !== operation.erase
  );
}
