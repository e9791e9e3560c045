import type { File } from "@ehdb/host";
import {
  BATCH_HEADER_BYTES,
  batchBytes,
  bodyMatches,
  decodeBatchHeader,
  flag,
  nextSequence,
  readU64,
} from "./format.ts";
import type { BatchHeader } from "./format.ts";

/** A whole batch, its checksum verified. The buffers are the walker's own and never reused. */
export interface RawBatch {
  readonly header: BatchHeader;
  readonly offset: number;
  /** Header and body as on disk. */
  readonly bytes: Buffer;
  /** The body as on disk. */
  readonly body: Buffer;
}

/** What the next batch must say to belong to the chain; what is `undefined` is taken from the first batch. */
export interface Expected {
  readonly offset: number;
  readonly sequence?: number | undefined;
  readonly number?: number | undefined;
  readonly previousCrc?: number | undefined;
}

/** Of ordinary batches, one and a half. */
const defaultChunkBytes = 384 * 1024;
const headroomBytes = 288 * 1024;
const empty = Buffer.alloc(0);

export interface WalkOptions {
  readonly chunkBytes?: number;
  /** For who reads on and on: the next chunk is read while this one is looked at. */
  readonly readsAhead?: boolean;
}

/** Reads a segment's batches in order, each verified and chained to the one before. */
export class BatchWalker {
  readonly #file: File;
  readonly #seed: number;
  readonly #chunkBytes: number;
  #limit: number;
  #offset: number;
  #sequence: number | undefined;
  #number: number | undefined;
  #previousCrc: number | undefined;
  readonly #readsAhead: boolean;
  #chunk: Buffer = empty;
  #chunkStart = 0;
  #ahead: { readonly start: number; readonly buffer: Buffer; readonly read: Promise<number> } | undefined;

  /** `limit`: no batch reaches beyond this offset. */
  constructor(file: File, seed: number, expected: Expected, limit: number, options: WalkOptions = {}) {
    this.#file = file;
    this.#seed = seed;
    this.#chunkBytes = options.chunkBytes ?? defaultChunkBytes;
    this.#readsAhead = options.readsAhead ?? false;
    this.#limit = limit;
    this.#offset = expected.offset;
    this.#sequence = expected.sequence;
    this.#number = expected.number;
    this.#previousCrc = expected.previousCrc;
  }

  /** Where the next batch must begin. */
  get offset(): number {
    return this.#offset;
  }

  /** The sequence that the next record must have, once known. */
  get sequence(): number | undefined {
    return this.#sequence;
  }

  get number(): number | undefined {
    return this.#number;
  }

  get previousCrc(): number | undefined {
    return this.#previousCrc;
  }

  /** Lets the walker go on when the file has grown. */
  extend(limit: number): void {
    this.#limit = limit;
  }

  /** What has been read is read again: a writer beside may have written there since. */
  forget(): void {
    this.#chunk = empty;
    this.#ahead = undefined;
  }

  /** The next batch, or `undefined` where the chain ends: at the limit, or at bytes that aren't the next batch. */
  async next(): Promise<RawBatch | undefined> {
    if (!(await this.#load(BATCH_HEADER_BYTES))) return undefined;
    const header = decodeBatchHeader(this.#chunk, this.#offset - this.#chunkStart, this.#seed);
    if (header === undefined || !this.#follows(header)) return undefined;
    const size = batchBytes(header);
    if (!(await this.#load(size))) return undefined;
    const start = this.#offset - this.#chunkStart;
    if (!bodyMatches(this.#chunk, start, header, this.#seed)) return undefined;
    const bytes = this.#chunk.subarray(start, start + size);
    const body = bytes.subarray(BATCH_HEADER_BYTES, BATCH_HEADER_BYTES + header.bodyBytes);
    const batch: RawBatch = { header, offset: this.#offset, bytes, body };
    this.#offset += size;
    this.#number = header.number + 1;
    this.#previousCrc = header.crc;
    this.#sequence = (header.flags & flag.gap) === 0 ? nextSequence(header) : readU64(body, 0);
    return batch;
  }

  /** Goes on from a batch found behind a gap. */
  skipTo(offset: number): void {
    this.#offset = offset;
    this.#sequence = undefined;
    this.#number = undefined;
    this.#previousCrc = undefined;
  }

  #follows(header: BatchHeader): boolean {
    return (
      (this.#number === undefined || header.number === this.#number) &&
      (this.#sequence === undefined || header.firstSequence === this.#sequence) &&
      (this.#previousCrc === undefined || header.previousCrc === this.#previousCrc)
    );
  }

  /** Makes `bytes` from the current offset available in the chunk. */
  async #load(bytes: number): Promise<boolean> {
    const end = this.#offset + bytes;
    if (end > this.#limit) return false;
    if (this.#offset >= this.#chunkStart && end <= this.#chunkStart + this.#chunk.length) return true;
    const left = this.#leftover();
    const ahead = this.#ahead;
    this.#ahead = undefined;
    if (ahead !== undefined && ahead.start === this.#offset + left.length && left.length <= headroomBytes) {
      const read = await ahead.read;
      left.copy(ahead.buffer, headroomBytes - left.length);
      this.#chunk = ahead.buffer.subarray(headroomBytes - left.length, headroomBytes + read);
    } else {
      const size = Math.min(Math.max(bytes, this.#chunkBytes), this.#limit - this.#offset);
      const chunk = Buffer.allocUnsafeSlow(size);
      left.copy(chunk);
      const read = await this.#file.read(chunk.subarray(left.length), this.#offset + left.length);
      this.#chunk = chunk.subarray(0, left.length + read);
    }
    this.#chunkStart = this.#offset;
    if (this.#chunk.length < bytes) return ahead === undefined ? false : await this.#load(bytes);
    this.#readAhead();
    return true;
  }

  /** What is in memory already of the batch that begins at the current offset. */
  #leftover(): Buffer {
    const at = this.#offset - this.#chunkStart;
    return at >= 0 && at < this.#chunk.length ? this.#chunk.subarray(at) : empty;
  }

  /** Reads the next chunk while this one is being looked at, into a buffer with room for what is left over of this one. */
  #readAhead(): void {
    const start = this.#chunkStart + this.#chunk.length;
    const size = Math.min(this.#chunkBytes, this.#limit - start);
    if (!this.#readsAhead || size <= 0) return;
    const buffer = Buffer.allocUnsafeSlow(headroomBytes + size);
    const read = this.#file.read(buffer.subarray(headroomBytes), start);
    // Whoever needs it meets the error; until then nobody may be waiting.
    read.catch(() => undefined);
    this.#ahead = { start, buffer, read };
  }
}
