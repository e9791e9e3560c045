import { abortedError } from "@ehdb/contracts";

/** Why something that waits for others ends before they answer: it was given up, or what it rests on ends. */
export class Ending {
  #reason: { readonly error: unknown } | undefined;
  #waiting: ((error: unknown) => void) | undefined;
  #isLate = false;
  readonly #signal: AbortSignal | undefined;
  readonly #onAbort: () => void;

  constructor(signal: AbortSignal | undefined, what: string) {
    this.#signal = signal;
    this.#onAbort = (): void => {
      if (!this.#isLate) this.reach(abortedError(signal as AbortSignal, what));
    };
    if (signal?.aborted === true) this.#onAbort();
    else signal?.addEventListener("abort", this.#onAbort, { once: true });
  }

  get isReached(): boolean {
    return this.#reason !== undefined;
  }

  reach(error: unknown): void {
    this.#reason ??= { error };
    this.#waiting?.(error);
  }

  /** From now on it's too late for the signal. */
  tooLate(): void {
    this.assertGoesOn();
    this.#isLate = true;
  }

  assertGoesOn(): void {
    if (this.#reason !== undefined) throw this.#reason.error;
  }

  /** What `given` resolves with, or the end, whichever comes first. One at a time: who waits for long leaves nothing behind. */
  async orResult<T>(given: T | PromiseLike<T>): Promise<T> {
    this.assertGoesOn();
    return await new Promise<T>((resolve, reject) => {
      this.#waiting = reject;
      Promise.resolve(given)
        .then(resolve, reject)
        .finally(() => {
          if (this.#waiting === reject) this.#waiting = undefined;
        });
    });
  }

  release(): void {
    this.#signal?.removeEventListener("abort", this.#onAbort);
  }
}
