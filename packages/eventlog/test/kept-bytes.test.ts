import type { LogRecord } from "@ehdb/contracts";
import { expect, test } from "vitest";
import { keptBytes } from "../src/kept-bytes.ts";

const recordBytes = 100;
const memory = Buffer.from(Array.from({ length: 100 * recordBytes }, (_, i) => i % 251));

const record = (place: number, size = recordBytes): LogRecord => {
  const start = place * recordBytes;
  const end = start + size;
  const payload = memory.subarray(start, end);
  return {
    sort: place,
    key: "k",
    version: place,
    revision: place,
    time: 0,
    id: undefined,
    payload,
    memory,
    start,
    end,
  };
};

/** What is kept of each record, and of which array buffers. */
function kept(records: readonly LogRecord[]): { bytes: Buffer[]; held: Set<ArrayBufferLike> } {
  const bytes: Buffer[] = [];
  const held = new Set<ArrayBufferLike>();
  for (const { first, last, bytes: from, shift } of keptBytes(records)) {
    held.add(from.buffer);
    for (const { start, end } of records.slice(first, last)) bytes.push(from.subarray(start - shift, end - shift));
  }
  return { bytes, held };
}

const bytesOf = (held: Set<ArrayBufferLike>): number => [...held].reduce((sum, { byteLength }) => sum + byteLength, 0);

test.each([
  ["all of a memory", Array.from({ length: 100 }, (_, i) => record(i))],
  ["all of it backwards", Array.from({ length: 100 }, (_, i) => record(99 - i))],
  ["neighbours", Array.from({ length: 10 }, (_, i) => record(40 + i, 80))],
  ["few here and there", [7, 93, 50].map((place) => record(place))],
  ["two memories", [record(1), { ...record(2), memory: Buffer.from(memory) }, record(3)]],
  ["empty ones", [record(5, 0), record(9, 0)]],
  ["none", []],
])("what is kept of records is what they hold: %s", (_, records) => {
  expect(kept(records).bytes).toEqual(records.map(({ payload }) => payload));
});

test("a memory that is wanted as a whole isn't copied", () => {
  expect(kept(Array.from({ length: 60 }, (_, i) => record(i))).held).toEqual(new Set([memory.buffer]));
});

test("a few records don't hold the memory around them", () => {
  expect(bytesOf(kept([record(1), record(2)]).held)).toBeLessThanOrEqual(2 * 2 * recordBytes);
  expect(bytesOf(kept([record(1), record(50), record(99)]).held)).toBeLessThanOrEqual(2 * 3 * recordBytes);
});

test("what shares an array buffer counts together", () => {
  const blocks = Array.from({ length: 10 }, (_, i) => memory.subarray(i * 1000, (i + 1) * 1000));
  const inBlock = (block: number, place: number): LogRecord => ({
    ...record(place),
    memory: blocks[block] as Buffer,
    payload: (blocks[block] as Buffer).subarray(place * recordBytes, (place + 1) * recordBytes),
  });
  const all = blocks.flatMap((_, block) => Array.from({ length: 10 }, (__, place) => inBlock(block, place)));
  expect(kept(all).held).toEqual(new Set([memory.buffer]));
  const one = kept(all.slice(30, 40));
  expect(bytesOf(one.held)).toBeLessThanOrEqual(2 * 1000);
  expect(one.bytes).toEqual(all.slice(30, 40).map(({ payload }) => payload));
});
