import { whenAborted } from "@ehdb/contracts";
import type { Clock } from "@ehdb/host";

interface Wait {
  readonly clock: Clock;
  readonly longest: number;
  readonly changes: number;
  readonly signal: AbortSignal | undefined;
}

/** Those who wait until something changes. */
export class Waiting {
  /** How often they were told. */
  changes = 0;
  readonly #wakers = new Set<() => void>();

  /** Everybody looks again. */
  tell(): void {
    this.changes++;
    if (this.#wakers.size === 0) return;
    const wakers = [...this.#wakers];
    this.#wakers.clear();
    for (const wake of wakers) wake();
  }

  /** Resolves when told since `changes`, after `longest` milliseconds, by the signal, or when `other` resolves; it's aborted afterwards. */
  async next({ clock, longest, changes, signal }: Wait, other: (signal: AbortSignal) => Promise<void>): Promise<void> {
    if (signal?.aborted || changes !== this.changes) return;
    const stop = new AbortController();
    let wake: () => void = () => undefined;
    const woken = new Promise<void>((resolve) => {
      wake = resolve;
    });
    this.#wakers.add(wake);
    const timer = clock.timer(Math.max(0, longest), wake, true);
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
