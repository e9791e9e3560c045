import { Chunks, offsetOf } from "../chunks.ts";
import type { Place } from "../chunks.ts";
import { COMMIT_FORMAT, COMMIT_HEADER_BYTES, opBytes, writeOp } from "../envelope.ts";
import type { Fullness } from "../fullness.ts";
import type { FrozenGeneration } from "../seal-job.ts";
import type { ImportedOp } from "./imported-op.ts";

/** Records that become a part together: each by itself as a commit is, all of one revision. */
export class PartFilling {
  readonly #revision: number;
  readonly #chunks = new Chunks();
  readonly #places: Place[] = [];
  readonly #ends: number[] = [];
  lastSort = 0;

  constructor(revision: number) {
    this.#revision = revision;
  }

  get records(): number {
    return this.#places.length;
  }

  /** Copied. */
  add(op: ImportedOp): void {
    const place = this.#chunks.reserve(COMMIT_HEADER_BYTES + opBytes(op));
    const buffer = this.#chunks.buffer(place);
    const start = offsetOf(place);
    buffer[start] = COMMIT_FORMAT;
    buffer.writeDoubleLE(op.time, start + 1);
    this.#places.push(place);
    this.#ends.push(writeOp(buffer, start + COMMIT_HEADER_BYTES, op, op.sort, op.version));
    this.lastSort = op.sort;
  }

  isFull({ sealMaxBytes, sealMaxCommits }: Fullness): boolean {
    return this.#chunks.bytes >= sealMaxBytes || this.records >= sealMaxCommits;
  }

  frozen(): FrozenGeneration {
    return {
      chunks: this.#chunks.buffers.map(({ buffer }) => buffer as unknown as SharedArrayBuffer),
      firstRevision: this.#revision,
      isOneRevision: true,
      places: Float64Array.from(this.#places),
      ends: Float64Array.from(this.#ends),
    };
  }
}
