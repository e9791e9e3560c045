import { truncated } from "./stream.ts";

interface Cut {
  /** Records of this epoch and older ones ... */
  readonly epoch: number;
  /** ... beyond this sequence are gone. */
  readonly last: number;
}

/** What reopens took back: a reader that had gone beyond must not go on over sequences given out again. */
export class Cuts {
  /** Epochs and sequences rise: an older cut that lies behind a newer one says nothing more. */
  #cuts: Cut[] = [];

  add(epoch: number, last: number): void {
    this.#cuts = [...this.#cuts.filter((cut) => cut.last < last), { epoch, last }];
  }

  /** Throws TRUNCATED when `sequence`, read in `epoch`, has been taken back since. */
  assertContinues(sequence: number, epoch: number): void {
    const cut = this.#cuts.find((one) => epoch <= one.epoch && sequence > one.last);
    if (cut !== undefined) throw truncated(sequence, epoch, cut.last);
  }
}
