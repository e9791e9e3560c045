import { throwIfAborted } from "@ehdb/contracts";
import type { Commit } from "@ehdb/contracts";
import type { StagedBatch } from "./staged-batch.ts";
import { Write } from "./write.ts";

export interface CommitStep {
  /** Takes the write in or refuses it, in this very turn; or returns what has to be waited for first. */
  attempt(write: Write): Promise<void> | undefined;
  /** Begins to load what the write will need. */
  prefetch(write: Write): void;
}

/** Commits take effect in the order of their calls: one that must wait, for room or for what it rests on, holds up those behind. */
export class CommitLine {
  readonly #step: CommitStep;
  readonly #counted: (error: unknown) => void;
  readonly #waiting: Write[] = [];
  /** Whom to tell when a write waits no more. */
  readonly #told: Map<Write, () => void> = new Map();
  #moving: Promise<void> | undefined;

  /** `counted` is told each error that a commit ends with. */
  constructor(step: CommitStep, counted: (error: unknown) => void) {
    this.#step = step;
    this.#counted = counted;
  }

  /** `counted`: another who is told an error instead. */
  submit(
    batch: StagedBatch,
    signal: AbortSignal | undefined,
    counted: (error: unknown) => void = this.#counted,
  ): Promise<Commit> {
    throwIfAborted(signal, "the commit");
    const write = new Write(batch, counted);
    if (this.#moving === undefined) {
      const wait = this.#step.attempt(write);
      if (wait === undefined) return write.promise;
      write.waitsWith(signal);
      this.#waiting.push(write);
      this.#moving = this.#move(wait);
    } else {
      write.waitsWith(signal);
      this.#waiting.push(write);
      this.#step.prefetch(write);
    }
    return write.promise;
  }

  /** Resolves when those that wait now wait no more: they were taken in, or refused. */
  async passed(): Promise<void> {
    const last = this.#waiting.at(-1);
    if (last === undefined) return;
    const before = this.#told.get(last);
    await new Promise<void>((resolve) => {
      this.#told.set(last, () => {
        before?.();
        resolve();
      });
    });
  }

  /** Resolves when none waits any more. */
  async drained(): Promise<void> {
    await this.#moving;
  }

  /** Refuses all that wait. */
  rejectAll(error: unknown): void {
    for (const write of this.#waiting.splice(0)) {
      write.reject(error);
      this.#tell(write);
    }
  }

  async #move(firstWait: Promise<void>): Promise<void> {
    let wait: Promise<void> | undefined = firstWait;
    for (let write = this.#waiting[0]; write !== undefined; write = this.#waiting[0]) {
      try {
        if (wait !== undefined) await wait;
        wait = write.isSettled ? undefined : this.#step.attempt(write);
      } catch (error) {
        wait = undefined;
        write.reject(error);
      }
      if (wait !== undefined || this.#waiting[0] !== write) continue;
      this.#waiting.shift();
      this.#tell(write);
    }
    this.#moving = undefined;
  }

  #tell(write: Write): void {
    this.#told.get(write)?.();
    this.#told.delete(write);
  }
}
