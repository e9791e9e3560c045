import { abortedError, whenAborted } from "@ehdb/contracts";

/** Ends a call's turn: those behind it go on, while it waits for its answer. */
export type Pass = () => void;

/**
 * Calls that take effect in the order in which they were made, although some must look something up first: then those behind wait.
 * As long as it's free, a call needs no turn.
 */
export class CallLine {
  #waiting = 0;
  #last: Promise<void> = Promise.resolve();

  get isFree(): boolean {
    return this.#waiting === 0;
  }

  /** Resolves when all that have their place in line have had their turn. */
  async ended(): Promise<void> {
    while (!this.isFree) await this.#last;
  }

  /** Calls in turn. The turn ends when `pass` is called, or with the call. */
  take<T>(call: (pass: Pass) => Promise<T>, signal: AbortSignal | undefined, what: string): Promise<T> {
    const before = this.#last;
    this.#waiting++;
    return new Promise<T>((resolve, reject) => {
      let isGivenUp = false;
      const giveUp = (): void => {
        isGivenUp = true;
        reject(abortedError(signal as AbortSignal, what));
      };
      const stopWaiting = signal && whenAborted(signal, giveUp);
      this.#last = before.then(
        () =>
          new Promise<void>((passed) => {
            const pass = once(() => {
              this.#waiting--;
              passed();
            });
            stopWaiting?.();
            if (isGivenUp) return pass();
            call(pass).then(resolve, reject).finally(pass);
          }),
      );
    });
  }
}

function once(call: () => void): () => void {
  let isDone = false;
  return () => {
    if (!isDone) call();
    isDone = true;
  };
}
