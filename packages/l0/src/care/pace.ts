import { abortedError, throwIfAborted, whenAborted } from "@ehdb/contracts";
import { callersOwn } from "../error-counts.ts";
import type { Clock, Files } from "@ehdb/host";
import { withReadHook } from "./read-hook.ts";

export interface PaceOptions {
  /** What is done, for messages. */
  readonly what: string;
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
  /** Throws another reason to stop. */
  readonly assertWanted?: () => void;
  /** Read on average, by the host's clock. Default: as fast as it goes. */
  readonly bytesPerSecond?: number | undefined;
  readonly onProgress?: ((doneBytes: number, totalBytes: number) => void) | undefined;
}

/** How fast a long piece of work goes, how far it is, and whether it's still wanted. */
export class Pace {
  readonly signal: AbortSignal | undefined;
  readonly #options: PaceOptions;
  readonly #begun: number;
  totalBytes = 0;
  #read = 0;
  #doneBytes = 0;
  /** Of what is being worked at. */
  #pieceBytes = 0;
  #pieceDone = 0;

  constructor(options: PaceOptions) {
    this.#options = options;
    this.signal = options.signal;
    this.#begun = options.clock.monotonic();
    this.check();
  }

  /** Throws when the work isn't wanted any more: ABORTED by its signal. */
  check(): void {
    throwIfAborted(this.#options.signal, this.#options.what);
    this.#options.assertWanted?.();
  }

  /** What follows is a piece of so many bytes. */
  begin(bytes: number): void {
    this.end();
    this.#pieceBytes = bytes;
  }

  end(): void {
    this.#doneBytes += this.#pieceBytes;
    this.#pieceBytes = 0;
    this.#pieceDone = 0;
    this.#report();
  }

  /** So many bytes were read. What is read twice doesn't count for the progress. */
  async took(bytes: number): Promise<void> {
    this.check();
    this.#pieceDone = Math.min(this.#pieceBytes, this.#pieceDone + bytes);
    this.#report();
    this.#read += bytes;
    const { clock, bytesPerSecond } = this.#options;
    if (bytesPerSecond === undefined) return;
    const dueMillis = this.#begun + (this.#read / bytesPerSecond) * 1000 - clock.monotonic();
    if (dueMillis > 0) await this.#wait(dueMillis);
  }

  /** Files whose reads go at this pace. */
  files(files: Pick<Files, "open">): Pick<Files, "open"> {
    return withReadHook(files, (bytes) => this.took(bytes));
  }

  #report(): void {
    const { totalBytes } = this;
    const { onProgress } = this.#options;
    if (totalBytes === 0 || onProgress === undefined) return;
    callersOwn(() => onProgress(Math.min(totalBytes, this.#doneBytes + this.#pieceDone), totalBytes));
  }

  #wait(millis: number): Promise<void> {
    const { clock, signal, what } = this.#options;
    return new Promise((resolve, reject) => {
      const aborted = (): void => {
        timer.cancel();
        reject(abortedError(signal as AbortSignal, what));
      };
      const done = (): void => {
        stopWaiting?.();
        resolve();
      };
      const timer = clock.timer(Math.min(millis, 2 ** 31 - 1), done, true);
      const stopWaiting = signal && whenAborted(signal, aborted);
    });
  }
}
