import { KIB, MIB } from "@ehdb/contracts";

const slabBytes = MIB;
/** Of larger payloads the copy is what costs, not its memory. */
const mostBytes = 16 * KIB;
/** Above every offset in a slab. */
const slabScale = 2 ** 21;

/** Offset and slab in one number: it costs no object. */
export type Mark = number;

/**
 * Copies of payloads, from the call that states them to the end of the call that commits them: memory that is used again, because to
 * take it anew for each costs more than the copy.
 */
export class PayloadMemory {
  #slab: Buffer = Buffer.allocUnsafeSlow(slabBytes);
  #number = 0;
  #at = 0;

  /** For `release`. */
  get mark(): Mark {
    return this.#number * slabScale + this.#at;
  }

  copy(payload: Uint8Array): Uint8Array {
    const { length } = payload;
    // Throws when its memory was given away, which none that is empty shows.
    if (length === 0 || length > mostBytes) return new Uint8Array(payload);
    if (this.#at + length > slabBytes) {
      this.#slab = Buffer.allocUnsafeSlow(slabBytes);
      this.#number++;
      this.#at = 0;
    }
    const copy = this.#slab.subarray(this.#at, this.#at + length);
    copy.set(payload);
    this.#at += length;
    return copy;
  }

  /** What was copied since `mark` isn't needed any more. */
  release(mark: Mark): void {
    if (Math.floor(mark / slabScale) === this.#number) this.#at = mark % slabScale;
  }
}
