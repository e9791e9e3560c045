import { callInTurns } from "@ehdb/host";
import type { Clock } from "@ehdb/host";
import type { Journal } from "@ehdb/journal";

interface Waiter {
  readonly revision: number;
  readonly resolve: () => void;
}

/** Tells those who follow that more can be read, or that something else has changed. */
export class News {
  readonly #journal: Journal;
  readonly #accepted: () => number;
  readonly #clock: Clock;
  #waiting: Waiter[] = [];
  #isAsking = false;

  constructor(journal: Journal, accepted: () => number, clock: Clock) {
    this.#journal = journal;
    this.#accepted = accepted;
    this.#clock = clock;
  }

  /** Resolves when more than `revision` can be read, or something else has changed. */
  wait(revision: number): Promise<void> {
    if (this.#journal.last > revision) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiting.push({ revision, resolve });
      this.arrived();
    });
  }

  /** Something was taken in: it will be readable soon. */
  arrived(): void {
    // What a poisoned journal has taken in comes with a reopen or never.
    if (this.#waiting.length === 0 || this.#isAsking || this.#journal.state === "poisoned") return;
    if (this.#accepted() > this.#journal.last) void this.#ask();
  }

  /** All who wait look again. */
  announce(): void {
    this.#tell(this.#waiting.splice(0));
  }

  async #ask(): Promise<void> {
    this.#isAsking = true;
    try {
      await this.#journal.readable(this.#journal.last + 1);
    } catch {
      // Poisoned or closed: that's news too.
      this.announce();
    }
    this.#isAsking = false;
    const { last } = this.#journal;
    const waiting = this.#waiting;
    this.#waiting = waiting.filter(({ revision }) => revision >= last);
    this.#tell(waiting.filter(({ revision }) => revision < last));
    this.arrived();
  }

  #tell(waiting: readonly Waiter[]): void {
    const calls = waiting.map(({ resolve }) => resolve);
    void callInTurns(this.#clock, calls);
  }
}
