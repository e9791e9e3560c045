import type { Batches } from "@ehdb/contracts";
import { EhdbError, isEhdbError } from "@ehdb/contracts";

export interface ReadingHooks {
  readonly begun: () => void;
  /** Throws CLOSED or ABORTED. */
  readonly step: () => void;
  /** The disk failed, or what is on it is damaged. */
  readonly failed: () => void;
}

/** A read that begins with its iteration, ends when the engine is closed, and is counted. */
export function countedBatches<T>(begin: () => AsyncGenerator<readonly T[]>, hooks: ReadingHooks): Batches<T> {
  let isTaken = false;
  return {
    async *[Symbol.asyncIterator]() {
      if (isTaken) throw new EhdbError("INVALID_ARGUMENT", "a read is iterated once: ask for it again", {});
      isTaken = true;
      hooks.step();
      hooks.begun();
      try {
        for await (const batch of begin()) {
          yield batch;
          hooks.step();
        }
      } catch (error) {
        if (!isEhdbError(error) || isEhdbError(error, "CORRUPT", "IO_ERROR")) hooks.failed();
        throw error;
      }
    },
  };
}
