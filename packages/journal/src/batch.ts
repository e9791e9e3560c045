import { BATCH_HEADER_BYTES, padded } from "./format.ts";
import { TAG_BYTES } from "./cipher.ts";
import { varintBytes, writeFrame } from "./frames.ts";
import { deferred } from "./deferred.ts";
import type { Deferred } from "./deferred.ts";
import type { SegmentWriter } from "./segment-writer.ts";

/** Bytes that a body takes on disk at most. */
export const diskBytes = (bodyBytes: number): number => padded(BATCH_HEADER_BYTES + bodyBytes + TAG_BYTES);

/** A batch on its way to disk: filled, closed, written, synced. Its segment is fixed when it is opened. */
export class Batch {
  readonly segment: SegmentWriter;
  readonly firstSequence: number;
  readonly time: number;
  readonly epoch: number;
  readonly flags: number;
  readonly buffer: Buffer;
  records = 0;
  /** Where the next record goes. */
  at: number = BATCH_HEADER_BYTES;
  /** No record reaches beyond. */
  readonly #limit: number;
  /** Settled when the batch is durable, for those who asked while it was open; for a mark, always. */
  #waiter: Deferred<void> | undefined;

  constructor(
    place: { segment: SegmentWriter; firstSequence: number; time: number; epoch: number; flags: number },
    buffer: Buffer,
    bodyLimit: number,
  ) {
    this.segment = place.segment;
    this.firstSequence = place.firstSequence;
    this.time = place.time;
    this.epoch = place.epoch;
    this.flags = place.flags;
    this.buffer = buffer;
    this.#limit = BATCH_HEADER_BYTES + bodyLimit;
  }

  get bodyBytes(): number {
    return this.at - BATCH_HEADER_BYTES;
  }

  get last(): number {
    return this.firstSequence + this.records - 1;
  }

  get waiter(): Deferred<void> | undefined {
    return this.#waiter;
  }

  /** Copies a record of `size` bytes in; false when it doesn't fit. */
  add(data: Uint8Array, size: number): boolean {
    if (this.at + size + varintBytes(size) > this.#limit) return false;
    this.at = writeFrame(this.buffer, this.at, data, size);
    this.records++;
    return true;
  }

  /** Forgets what was added since the batch had `records` records and ended `at`. */
  takeBack(at: number, records: number): void {
    this.at = at;
    this.records = records;
  }

  /** Takes a body that is made already. */
  fill(body: Uint8Array, records: number): void {
    this.buffer.set(body, this.at);
    this.at += body.length;
    this.records = records;
  }

  fits(framedBytes: number): boolean {
    return this.at + framedBytes <= this.#limit;
  }

  durable(): Promise<void> {
    this.#waiter ??= deferred();
    return this.#waiter.promise;
  }
}

/** Memory of batches that were written, used again: taking fresh pages from the system costs more than the copy into them. */
export class BufferPool {
  /** The size of an ordinary batch's buffer; larger ones come in its doubles. */
  readonly #leastBytes: number;
  readonly #keptBytes: number;
  readonly #free: Map<number, Buffer[]> = new Map();
  #freeBytes = 0;

  constructor(bodyBytes: number, keptBytes: number) {
    this.#leastBytes = diskBytes(bodyBytes);
    this.#keptBytes = keptBytes;
  }

  take(bodyBytes: number): Buffer {
    const wanted = diskBytes(bodyBytes);
    let size = this.#leastBytes;
    while (size < wanted) size *= 2;
    const buffer = this.#free.get(size)?.pop();
    if (buffer === undefined) return Buffer.allocUnsafeSlow(size);
    this.#freeBytes -= size;
    return buffer;
  }

  give(buffer: Buffer): void {
    if (this.#freeBytes + buffer.length > this.#keptBytes) return;
    this.#freeBytes += buffer.length;
    const same = this.#free.get(buffer.length);
    if (same === undefined) this.#free.set(buffer.length, [buffer]);
    else same.push(buffer);
  }
}
