import type { JournalRecord } from "./api.ts";

const done: IteratorReturnResult<undefined> = { done: true, value: undefined };

/** The records of batches one by one. Within a batch it answers without waiting: a generator would cost three turns a record. */
export class RecordIterator implements AsyncIterator<JournalRecord, undefined> {
  readonly #batches: AsyncIterator<readonly JournalRecord[], void>;
  #batch: readonly JournalRecord[] = [];
  #at = 0;
  /** The batch that is being read; calls made meanwhile wait their turn. */
  #loading: Promise<unknown> | undefined;
  #turn = 0;

  constructor(batches: AsyncIterator<readonly JournalRecord[], void>) {
    this.#batches = batches;
  }

  next(): Promise<IteratorResult<JournalRecord, undefined>> {
    if (this.#loading !== undefined) return this.#inTurn(() => this.#take());
    const value = this.#batch[this.#at];
    if (value === undefined) return this.#inTurn(() => this.#take());
    this.#at++;
    return Promise.resolve({ done: false, value });
  }

  /** At once: whoever waits for a batch waits no longer. */
  async return(): Promise<IteratorReturnResult<undefined>> {
    this.#batch = [];
    await this.#batches.return?.();
    return done;
  }

  async #take(): Promise<IteratorResult<JournalRecord, undefined>> {
    for (;;) {
      const value = this.#batch[this.#at++];
      if (value !== undefined) return { done: false, value };
      const next = await this.#batches.next();
      if (next.done) return done;
      this.#batch = next.value;
      this.#at = 0;
    }
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = ++this.#turn;
    const result = this.#after(this.#loading, turn, work);
    this.#loading = result.then(nothing, nothing);
    return result;
  }

  async #after<T>(before: Promise<unknown> | undefined, turn: number, work: () => Promise<T>): Promise<T> {
    await before;
    try {
      return await work();
    } finally {
      if (turn === this.#turn) this.#loading = undefined;
    }
  }
}

function nothing(): void {}
