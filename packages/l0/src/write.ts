import { abortedError } from "@ehdb/contracts";
import type { Commit } from "@ehdb/contracts";
import { Loaded } from "./loaded.ts";
import type { StagedBatch } from "./staged-batch.ts";

/** A commit on its way. */
export class Write {
  readonly batch: StagedBatch;
  readonly promise: Promise<Commit>;
  readonly loaded: Loaded = new Loaded();
  #isSettled = false;
  #resolve!: (commit: Commit) => void;
  #reject!: (error: unknown) => void;
  #signal: AbortSignal | undefined;
  readonly #onAbort = (): void => {
    this.reject(abortedError(this.#signal as AbortSignal, "waiting to commit"));
  };

  constructor(batch: StagedBatch) {
    this.batch = batch;
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  /** Its caller was told already: it's passed over. */
  get isSettled(): boolean {
    return this.#isSettled;
  }

  /** It has to wait for its turn, and can be given up until then. */
  waitsWith(signal: AbortSignal | undefined): void {
    this.batch.keepPayloads();
    this.#signal = signal;
    signal?.addEventListener("abort", this.#onAbort, { once: true });
  }

  /** From now on it can't be given up. */
  taken(): void {
    this.#signal?.removeEventListener("abort", this.#onAbort);
  }

  resolve(commit: Commit): void {
    this.#isSettled = true;
    this.taken();
    this.#resolve(commit);
  }

  reject(error: unknown): void {
    this.#isSettled = true;
    this.taken();
    this.#reject(error);
  }
}
