import { EhdbError } from "@ehdb/contracts";

/**
 * xorshift64* by Sebastiano Vigna: one seed, one sequence of numbers, on every machine. The state is kept in two halves
 * of 32 bits, since whole numbers of 64 bits are slow here.
 */
export class SeededRandom {
  #high: number;
  #low: number;

  /** Any whole number. Seeds that lie side by side give unrelated sequences. */
  constructor(seed: number) {
    if (!Number.isSafeInteger(seed)) throw new EhdbError("INVALID_ARGUMENT", `a seed is a whole number, not ${seed}`);
    // The state must not be 0: the golden ratio's odd multiples spread the seeds, and 0 gets a place of its own.
    const state = BigInt.asUintN(64, (BigInt(seed) + 1n) * 0x9e3779b97f4a7c15n) || 0x9e3779b97f4a7c15n;
    this.#high = Number(state >> 32n);
    this.#low = Number(state & 0xffffffffn);
    for (let i = 0; i < 4; i++) this.next();
  }

  /** 32 bits, from 0 to 2^32 - 1. */
  next(): number {
    let high = this.#high;
    let low = this.#low;
    // x ^= x >>> 12
    low ^= (low >>> 12) | (high << 20);
    high ^= high >>> 12;
    // x ^= x << 25
    high ^= (high << 25) | (low >>> 7);
    low ^= low << 25;
    // x ^= x >>> 27
    low ^= (low >>> 27) | (high << 5);
    high ^= high >>> 27;
    this.#high = high >>> 0;
    this.#low = low >>> 0;
    return multipliedHigh(this.#high, this.#low);
  }

  /** A whole number in `[0, bound)`, for bounds up to 2^32. */
  integer(bound: number): number {
    return Math.floor((this.next() / 2 ** 32) * bound);
  }

  /** In `[0, 1)`. */
  fraction(): number {
    return this.next() / 2 ** 32;
  }

  pick<T>(choices: readonly T[]): T {
    if (choices.length === 0) throw new EhdbError("INVALID_ARGUMENT", "there is nothing to pick from");
    return choices[this.integer(choices.length)] as T;
  }

  bytes(count: number): Uint8Array {
    const bytes = Buffer.alloc(Math.ceil(count / 4) * 4);
    for (let at = 0; at < count; at += 4) bytes.writeUInt32LE(this.next(), at);
    return bytes.subarray(0, count);
  }

  /** `digits` hexadecimal digits. */
  hexadecimal(digits: number): string {
    return Buffer.from(this.bytes(Math.ceil(digits / 2)))
      .toString("hex")
      .slice(0, digits);
  }
}

const factorHigh = 0x2545f491;
const factorLow = 0x4f6cdd1d;

/** The upper 32 bits of `(high, low) * 0x2545f4914f6cdd1d` modulo 2^64. */
function multipliedHigh(high: number, low: number): number {
  const carried = exactProductHigh(low, factorLow);
  return (carried + Math.imul(high, factorLow) + Math.imul(low, factorHigh)) >>> 0;
}

/** The upper half of a product of two 32-bit numbers, by halves of 16 bits so that nothing is rounded. */
function exactProductHigh(a: number, b: number): number {
  const [a1, a0, b1, b0] = [a >>> 16, a & 0xffff, b >>> 16, b & 0xffff];
  const low = a0 * b0;
  const middle = a1 * b0 + (low >>> 16);
  const other = a0 * b1 + (middle % 65536);
  return a1 * b1 + Math.floor(middle / 65536) + Math.floor(other / 65536);
}
