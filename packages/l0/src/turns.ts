import type { Clock } from "@ehdb/host";

/** So long do all reads of an engine go on together before the event loop has a turn. */
const mostMillis = 2;

/**
 * Turns of the event loop between steps of reads. What is in memory is there at once: a read of nothing else would never let go of the loop,
 * and everything else in the process would wait for its end. Those who have to wait go on in order, one in each turn.
 */
export class Turns {
  readonly #clock: Clock;
  readonly #waiting: (() => void)[] = [];
  #begun: number;
  #isTurning = false;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#begun = clock.monotonic();
  }

  /** Resolves when the next step may be taken; `undefined`: at once. */
  next(): Promise<void> | undefined {
    if (this.#clock.monotonic() - this.#begun < mostMillis) return undefined;
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      if (!this.#isTurning) void this.#turn();
    });
  }

  async #turn(): Promise<void> {
    this.#isTurning = true;
    while (this.#waiting.length > 0) {
      await this.#clock.yield();
      this.#begun = this.#clock.monotonic();
      this.#waiting.shift()?.();
    }
    this.#isTurning = false;
  }
}
