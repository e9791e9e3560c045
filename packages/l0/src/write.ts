import { abortedError, whenAborted } from "@ehdb/contracts";
import type { Commit } from "@ehdb/contracts";
import type { Waiter } from "./acknowledgements.ts";
import { Loaded } from "./loaded.ts";
import type { StagedBatch } from "./staged-batch.ts";

/** A commit on its way. */
export class Write implements Waiter {
  readonly promise: Promise<Commit>;
  #batch: StagedBatch | undefined;
  #loaded: Loaded | undefined;
  #isSettled = false;
  #resolve!: (commit: Commit) => void;
  #reject!: (error: unknown) => void;
  #stopWaiting: (() => void) | undefined;
  #answer: Commit | (() => void) | undefined;
  revision = 0;

  readonly #counted: (error: unknown) => void;

  /** `counted` is told what its caller is told in the end, when that is an error. */
  constructor(batch: StagedBatch, counted: (error: unknown) => void) {
    this.#batch = batch;
    this.#counted = counted;
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  /** As long as it isn't taken. */
  get batch(): StagedBatch {
    return this.#batch as StagedBatch;
  }

  get loaded(): Loaded {
    return (this.#loaded ??= new Loaded());
  }

  /** Its caller was told already: it's passed over. */
  get isSettled(): boolean {
    return this.#isSettled;
  }

  /** It has to wait for its turn, and can be given up until then. */
  waitsWith(signal: AbortSignal | undefined): void {
    this.batch.keepPayloads();
    if (signal === undefined) return;
    this.#stopWaiting = whenAborted(signal, () => this.reject(abortedError(signal, "waiting to commit")));
  }

  /** From now on it can't be given up, and what it holds is elsewhere: many wait for the disk, and each garbage collection copies them. */
  taken(): void {
    this.#batch = undefined;
    this.#loaded = undefined;
    this.#stopWaiting?.();
    this.#stopWaiting = undefined;
  }

  /** What its caller is told once `revision` can't be lost any more, or how. */
  answersAt(revision: number, answer: Commit | (() => void)): void {
    this.revision = revision;
    this.#answer = answer;
  }

  settle(): void {
    if (typeof this.#answer === "function") this.#answer();
    else this.resolve(this.#answer as Commit);
  }

  resolve(commit: Commit): void {
    this.#isSettled = true;
    this.taken();
    this.#resolve(commit);
  }

  reject(error: unknown): void {
    if (!this.#isSettled) this.#counted(error);
    this.#isSettled = true;
    this.taken();
    this.#reject(error);
  }
}
