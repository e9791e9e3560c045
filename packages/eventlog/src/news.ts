/** Wakes everybody who waits for something to happen. */
export class News {
  readonly #waiting = new Set<() => void>();

  tell(): void {
    for (const wake of this.#waiting) wake();
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
    for (const signal of signals) signal?.addEventListener("abort", waker);
    await woken;
    this.#waiting.delete(waker);
    for (const signal of signals) signal?.removeEventListener("abort", waker);
  }
}
