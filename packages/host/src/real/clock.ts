import type { Clock, Timer } from "../host.ts";

/** What Node's timers can wait at once. They fire immediately when asked for more. */
const LONGEST_MILLIS: number = 2 ** 31 - 1;

export class RealClock implements Clock {
  now(): number {
    return Date.now();
  }

  monotonic(): number {
    return performance.now();
  }

  timer(millis: number, call: () => void, keepAlive = false): Timer {
    return new RealTimer(millis, call, keepAlive);
  }

  defer(call: () => void): void {
    setImmediate(call);
  }

  yield(): Promise<void> {
    return new Promise((resolve) => setImmediate(resolve));
  }
}

class RealTimer implements Timer {
  readonly #call: () => void;
  readonly #keepAlive: boolean;
  #leftMillis: number;
  #timeout: NodeJS.Timeout | undefined;

  constructor(millis: number, call: () => void, keepAlive: boolean) {
    this.#leftMillis = millis;
    this.#call = call;
    this.#keepAlive = keepAlive;
    this.#wait();
  }

  cancel(): void {
    clearTimeout(this.#timeout);
  }

  #wait(): void {
    const millis = Math.min(this.#leftMillis, LONGEST_MILLIS);
    this.#leftMillis -= millis;
    this.#timeout = setTimeout(() => (this.#leftMillis > 0 ? this.#wait() : this.#call()), millis);
    if (!this.#keepAlive) this.#timeout.unref();
  }
}
