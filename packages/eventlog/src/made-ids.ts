import type { Random } from "@ehdb/host";
import { OWN_ID_BYTES } from "./event-bytes.ts";

const idsAtOnce = 512;

/** Random ids for events that come without one. To ask for many at once costs a twentieth of asking for each. */
export class MadeIds {
  readonly #random: Random;
  #bytes: Uint8Array = new Uint8Array();
  #at = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  /** A view. */
  next(): Uint8Array {
    if (this.#at === this.#bytes.length) {
      this.#bytes = this.#random.bytes(idsAtOnce * OWN_ID_BYTES);
      this.#at = 0;
    }
    this.#at += OWN_ID_BYTES;
    return this.#bytes.subarray(this.#at - OWN_ID_BYTES, this.#at);
  }
}
