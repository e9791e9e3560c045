import { isEhdbError, whenAborted } from "@ehdb/contracts";

type Waker = (failure?: Error) => void;

/** Wakes all who wait for more of a source, with one question to it however many they are, and however often they give up. */
export class SourceNews {
  readonly #last: () => number;
  readonly #ask: (last: number) => Promise<void>;
  readonly #wakers = new Set<Waker>();
  #isAsking = false;
  #hasEnded = false;

  /** `ask` resolves when there may be more than `last`, and rejects with CLOSED when there won't be. */
  constructor(last: () => number, ask: (last: number) => Promise<void>) {
    this.#last = last;
    this.#ask = ask;
  }

  /** Resolves when there is more than `last`, by the signal, or when the source is closed. */
  async after(last: number, signal: AbortSignal): Promise<void> {
    while (this.#last() <= last && !signal.aborted && !this.#hasEnded) await this.#next(signal);
  }

  async #next(signal: AbortSignal): Promise<void> {
    let waker: Waker = () => undefined;
    const woken = new Promise<void>((resolve, reject) => {
      waker = (failure) => (failure === undefined ? resolve() : reject(failure));
    });
    this.#wakers.add(waker);
    const stopWaiting = whenAborted(signal, () => waker());
    if (!this.#isAsking) void this.#askOnce();
    try {
      await woken;
    } finally {
      this.#wakers.delete(waker);
      stopWaiting();
    }
  }

  async #askOnce(): Promise<void> {
    this.#isAsking = true;
    let failure: Error | undefined;
    try {
      await this.#ask(this.#last());
    } catch (error) {
      this.#hasEnded = isEhdbError(error, "CLOSED");
      if (!this.#hasEnded) failure = error as Error;
    }
    this.#isAsking = false;
    for (const waker of this.#wakers) waker(failure);
  }
}
