import type { Parked } from "./group-format.ts";

/** The messages that a group has parked, by sequence. */
export class ParkingLot {
  readonly #parked = new Map<number, Parked>();
  #inOrder: readonly number[] | undefined;

  get size(): number {
    return this.#parked.size;
  }

  get(sequence: number): Parked | undefined {
    return this.#parked.get(sequence);
  }

  add(sequence: number, parked: Parked): void {
    this.#parked.set(sequence, parked);
    this.#inOrder = undefined;
  }

  remove(sequence: number): void {
    this.#parked.delete(sequence);
    this.#inOrder = undefined;
  }

  /** In order. */
  get sequences(): readonly number[] {
    return (this.#inOrder ??= [...this.#parked.keys()].toSorted((a, b) => a - b));
  }
}
