import type { Clock } from "@ehdb/host";
import type { Journal } from "@ehdb/journal";

/** What callers do when they are told is done in the same turn of the event loop: so many of them don't hold it up for long. */
const toldAtOnce = 96;

export interface Waiter {
  /** What must not be lost any more before it's told. */
  readonly revision: number;
  settle(): void;
  reject(error: unknown): void;
}

/** Those who wait for commits to be durable, or in mode `async` readable. One question to the journal serves them all. */
export class Acknowledgements {
  readonly #journal: Journal;
  readonly #clock: Clock;
  /** In order of revision. */
  #waiting: Waiter[] = [];
  #asking: Promise<void> | undefined;

  constructor(journal: Journal, clock: Clock) {
    this.#journal = journal;
    this.#clock = clock;
  }

  /** Calls `settle` or `reject`, once. Revisions never fall from call to call. */
  wait(waiter: Waiter): void {
    this.#waiting.push(waiter);
    this.#asking ??= this.#ask();
  }

  /** Resolves when nobody waits. */
  async quiet(): Promise<void> {
    await this.#asking;
  }

  async #ask(): Promise<void> {
    for (let first = this.#waiting[0]; first !== undefined; first = this.#waiting[0]) {
      try {
        await this.#acknowledged(first.revision);
      } catch (error) {
        for (const waiter of this.#waiting.splice(0)) waiter.reject(error);
        break;
      }
      const { durability, cursors, last } = this.#journal;
      const reached = Math.max(first.revision, durability === "async" ? last : cursors.durable);
      let count = 0;
      while (count < this.#waiting.length && (this.#waiting[count] as Waiter).revision <= reached) count++;
      const reachedBy = this.#waiting.splice(0, count);
      for (let told = 0; told < count;) {
        if (told > 0) await this.#clock.yield();
        const next = Math.min(told + toldAtOnce, count);
        while (told < next) (reachedBy[told++] as Waiter).settle();
      }
    }
    this.#asking = undefined;
  }

  #acknowledged(revision: number): Promise<void> {
    return this.#journal.durability === "async" ? this.#journal.readable(revision) : this.#journal.durable(revision);
  }
}
