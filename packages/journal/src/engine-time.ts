import type { Clock } from "@ehdb/host";

/** Wall-clock milliseconds that never fall: a clock set back runs on from the last time by the monotonic clock. */
export class EngineTime {
  readonly #clock: Clock;
  #last: number;
  #lastMonotonic: number;

  constructor(clock: Clock, last: number) {
    this.#clock = clock;
    this.#last = last;
    this.#lastMonotonic = clock.monotonic();
  }

  /** No time from now on lies below this one. */
  raise(time: number): void {
    if (time <= this.#last) return;
    this.#last = time;
    this.#lastMonotonic = this.#clock.monotonic();
  }

  now(): number {
    const monotonic = this.#clock.monotonic();
    const wall = this.#clock.now();
    const elapsed = Math.floor(monotonic - this.#lastMonotonic);
    const time = Math.max(wall, this.#last + elapsed);
    if (time > this.#last) {
      this.#last = time;
      this.#lastMonotonic = monotonic;
    }
    return this.#last;
  }
}
