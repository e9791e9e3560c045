/** A place where a batch begins. */
export interface Anchor {
  readonly sequence: number;
  readonly offset: number;
}

/** Where batches begin in one segment: an anchor at the first batch that starts `stride` records or more after the one before. */
export class SparseIndex {
  readonly #stride: number;
  readonly #sequences: number[] = [];
  readonly #offsets: number[] = [];
  /** Whether every batch of the segment has been, or is being, told. */
  complete = false;

  constructor(stride: number) {
    this.#stride = stride;
  }

  /** Told of each batch with records, in order. */
  add(sequence: number, offset: number): void {
    const last = this.#sequences.at(-1);
    if (last === undefined || sequence >= last + this.#stride) {
      this.#sequences.push(sequence);
      this.#offsets.push(offset);
    }
  }

  /** The last anchor at or before `sequence`. */
  floor(sequence: number): Anchor | undefined {
    let low = 0;
    let high = this.#sequences.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#sequences[middle] as number) <= sequence) low = middle + 1;
      else high = middle;
    }
    if (low === 0) return undefined;
    return { sequence: this.#sequences[low - 1] as number, offset: this.#offsets[low - 1] as number };
  }
}
