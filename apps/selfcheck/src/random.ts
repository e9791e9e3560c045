import { createHash } from "node:crypto";

/** Numbers that depend on a seed and a purpose only: one seed, one history. SplitMix-like, by Tommy Ettinger (mulberry32). */
export class SeededRandom {
  #state: number;

  constructor(seed: number, purpose: string) {
    this.#state = createHash("sha256").update(`${seed}:${purpose}`).digest().readUInt32LE(0);
  }

  /** A whole number in `[0, bound)`. */
  integer(bound: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * bound);
  }

  bytes(count: number): Uint8Array {
    return Uint8Array.from({ length: count }, () => this.integer(256));
  }
}
