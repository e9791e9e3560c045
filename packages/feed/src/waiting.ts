import { whenAborted } from "@ehdb/contracts";
import type { Clock } from "@ehdb/host";

/** Those who wait until something changes. */
export class Waiting {
  readonly #wakers = new Set<() => void>();

  /** Everybody looks again. */
  tell(): void {
    const wakers = [...this.#wakers];
    this.#wakers.clear();
    for (const wake of wakers) wake();
  }

  /** Resolves when told, after so many milliseconds, by the signal, or when `other` resolves; it's aborted afterwards. */
  async next(
    clock: Clock,
    millis: number,
    signal: AbortSignal | undefined,
    other: (signal: AbortSignal) => Promise<void>,
  ): Promise<void> {
    if (signal?.aborted) return;
    const stop = new AbortController();
    let wake: () => void = () => undefined;
    const woken = new Promise<void>((resolve) => {
      wake = resolve;
    });
    this.#wakers.add(wake);
    const timer = clock.timer(Math.max(0, millis), wake, true);
    const stopWaiting = signal && whenAborted(signal, wake);
    try {
      await Promise.race([woken, other(stop.signal)]);
    } finally {
      this.#wakers.delete(wake);
      timer.cancel();
      stopWaiting?.();
      stop.abort();
    }
  }
}
