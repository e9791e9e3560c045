const TWO_32 = 0x1_0000_0000;

/** splitmix32 (after Steele, Lea and Flood): spreads one word over many, so that near seeds give unlike streams. */
function splitmix(state: number): number {
  let word = (state + 0x9e3779b9) | 0;
  word = Math.imul(word ^ (word >>> 16), 0x21f0aaad);
  word = Math.imul(word ^ (word >>> 15), 0x735a2d97);
  return (word ^ (word >>> 15)) >>> 0;
}

/**
 * A seeded stream of numbers: xoshiro128** by Blackman and Vigna, the 32-bit member of the xorshift family (JavaScript
 * multiplies 32 bits at full speed, 64 only as bigint). All chance in the simulation comes from here.
 */
export class Stream {
  #a: number;
  #b: number;
  #c: number;
  #d: number;

  /** Any finite number is a seed; equal seeds give equal streams. */
  constructor(seed: number, purpose = 0) {
    const high = Math.floor(seed / TWO_32) >>> 0;
    this.#a = splitmix((seed >>> 0) ^ Math.imul(purpose + 1, 0x85ebca6b));
    this.#b = splitmix(this.#a ^ high);
    this.#c = splitmix(this.#b);
    this.#d = splitmix(this.#c) | 1;
  }

  /** 32 random bits as a whole number from 0. */
  next(): number {
    const scrambled = Math.imul(this.#b, 5);
    const result = Math.imul((scrambled << 7) | (scrambled >>> 25), 9);
    const shifted = this.#b << 9;
    this.#c ^= this.#a;
    this.#d ^= this.#b;
    this.#b ^= this.#c;
    this.#a ^= this.#d;
    this.#c ^= shifted;
    this.#d = (this.#d << 11) | (this.#d >>> 21);
    return result >>> 0;
  }

  /** A whole number in `[0, bound)`; `bound` at most 2^53. */
  integer(bound: number): number {
    if (bound <= TWO_32) return Math.floor((this.next() / TWO_32) * bound);
    const high = this.next() & 0x1f_ffff;
    return (high * TWO_32 + this.next()) % bound;
  }

  /** True with this probability. Zero draws nothing, so a fault that is off doesn't change the history. */
  chance(probability: number): boolean {
    return probability > 0 && this.next() < probability * TWO_32;
  }

  /** One of `choices`, each as likely. */
  pick<T>(choices: readonly [T, ...T[]]): T {
    return choices[this.integer(choices.length)] ?? choices[0];
  }
}
