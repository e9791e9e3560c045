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

const defaultChunkBytes = 256 * 1024;

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
  #chunk: Buffer = Buffer.alloc(0);
  #chunkStart = 0;

  /** `limit`: no batch reaches beyond this offset. */
  constructor(file: File, seed: number, expected: Expected, limit: number, chunkBytes: number = defaultChunkBytes) {
    this.#file = file;
    this.#seed = seed;
    this.#chunkBytes = chunkBytes;
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

  /** Lets the walker go on when the file has grown, re-reading what it has buffered. */
  extend(limit: number): void {
    this.#limit = limit;
    this.#chunk = Buffer.alloc(0);
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
    const size = Math.min(Math.max(bytes, this.#chunkBytes), this.#limit - this.#offset);
    const chunk = Buffer.allocUnsafeSlow(size);
    const read = await this.#file.read(chunk, this.#offset);
    this.#chunk = chunk.subarray(0, read);
    this.#chunkStart = this.#offset;
    return read >= bytes;
  }
}
