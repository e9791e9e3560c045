import { whenAborted } from "@ehdb/contracts";
import { callInTurns } from "@ehdb/host";
import type { Clock } from "@ehdb/host";

/** Wakes everybody who waits for something to happen. */
export class News {
  readonly #clock: Clock;
  readonly #waiting = new Set<() => void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Not all in one turn of the loop. */
  tell(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    void callInTurns(this.#clock, waiting);
  }

  /** Resolves at the next news, or when one of the signals is aborted. */
  async next(...signals: readonly (AbortSignal | undefined)[]): Promise<void> {
    if (signals.some((signal) => signal?.aborted)) return;
    let wake: (() => void) | undefined;
    const woken = new Promise<void>((resolve) => {
      wake = resolve;
    });
    const waker = (): void => wake?.();
    this.#waiting.add(waker);
    const stops = signals.map((signal) => signal && whenAborted(signal, waker));
    await woken;
    this.#waiting.delete(waker);
    for (const stop of stops) stop?.();
  }
}
