import { crc32 } from "node:zlib";

/** A digest of a set that doesn't depend on the order in which its members come: two sections are compared without holding either. */
export class SetDigest {
  #members = 0;
  #sum = 0;
  #scrambled = 0;
  readonly #numbers = Buffer.alloc(32);

  /** @param numbers at most four, of every member as many */
  add(hash: number, numbers: readonly number[]): void {
    for (const [i, number] of numbers.entries()) this.#numbers.writeDoubleLE(number, i * 8);
    const member = crc32(this.#numbers, hash);
    this.#members++;
    this.#sum = (this.#sum + member) >>> 0;
    this.#scrambled = (this.#scrambled + Math.imul(member ^ (member >>> 15), 0x2c1b3c6d)) >>> 0;
  }

  equals(other: SetDigest): boolean {
    return this.#members === other.#members && this.#sum === other.#sum && this.#scrambled === other.#scrambled;
  }
}
