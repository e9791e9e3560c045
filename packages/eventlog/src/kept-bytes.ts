import type { LogRecord } from "@ehdb/contracts";

/** Where the bytes of some records stay that stand side by side in a list: those from `first` to before `last`. */
export interface KeptBytes {
  readonly first: number;
  readonly last: number;
  readonly bytes: Buffer;
  /** How far behind its place in `bytes` a record stands in its own memory. */
  readonly shift: number;
  /** `bytes` are the records' own memory. */
  readonly isOwn: boolean;
}

/** Records side by side in a list and in one memory. */
interface Neighbours {
  readonly first: number;
  last: number;
  readonly memory: Uint8Array;
  low: number;
  high: number;
  wanted: number;
}

/**
 * Bytes of records for as long as somebody holds an event of them. The engine's memory is kept when most of it is wanted; otherwise they
 * are copied, so that a few events of many don't hold it all.
 */
export function keptBytes(records: readonly LogRecord[]): KeptBytes[] {
  const all = neighbours(records);
  const wanted = new Map<ArrayBufferLike, number>();
  for (const { memory, wanted: bytes } of all) wanted.set(memory.buffer, (wanted.get(memory.buffer) ?? 0) + bytes);
  return all.flatMap((one) => {
    const { first, last, memory, low, high } = one;
    if (isMost(wanted.get(memory.buffer) as number, memory.buffer.byteLength))
      return { first, last, bytes: asBuffer(memory), shift: 0, isOwn: true };
    if (isMost(one.wanted, high - low))
      return { first, last, bytes: copyOf(memory, low, high), shift: low, isOwn: false };
    return copies(records, one);
  });
}

function neighbours(records: readonly LogRecord[]): Neighbours[] {
  const all: Neighbours[] = [];
  let current: Neighbours | undefined;
  for (let i = 0; i < records.length; i++) {
    const { memory, start, end } = records[i] as LogRecord;
    if (current?.memory !== memory) {
      current = { first: i, last: i, memory, low: start, high: end, wanted: 0 };
      all.push(current);
    }
    current.last = i + 1;
    if (start < current.low) current.low = start;
    if (end > current.high) current.high = end;
    current.wanted += end - start;
  }
  return all;
}

function isMost(wanted: number, all: number): boolean {
  return wanted >= all / 2;
}

function copies(records: readonly LogRecord[], { first, last, memory, wanted }: Neighbours): KeptBytes[] {
  const bytes = Buffer.allocUnsafeSlow(wanted);
  let at = 0;
  return records.slice(first, last).map(({ start, end }, i) => {
    bytes.set(memory.subarray(start, end), at);
    const shift = start - at;
    at += end - start;
    return { first: first + i, last: first + i + 1, bytes, shift, isOwn: false };
  });
}

function copyOf(memory: Uint8Array, low: number, high: number): Buffer {
  const bytes = Buffer.allocUnsafeSlow(high - low);
  bytes.set(memory.subarray(low, high));
  return bytes;
}

export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
