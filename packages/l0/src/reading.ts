import type { Batches } from "@ehdb/contracts";
import { EhdbError, isEhdbError } from "@ehdb/contracts";
import type { Pin } from "./pins.ts";

export interface ReadingHooks {
  readonly begun: () => Pin;
  /** Throws CLOSED or ABORTED. */
  readonly step: () => void;
  /** The disk failed, or what is on it is damaged. */
  readonly failed: () => void;
}

/** A read that begins with its iteration, ends when the engine is closed, and is counted. */
export function countedBatches<T>(begin: (pin: Pin) => AsyncGenerator<readonly T[]>, hooks: ReadingHooks): Batches<T> {
  let isTaken = false;
  return {
    async *[Symbol.asyncIterator]() {
      if (isTaken) throw new EhdbError("INVALID_ARGUMENT", "a read is iterated once: ask for it again", {});
      isTaken = true;
      hooks.step();
      const pin = hooks.begun();
      try {
        for await (const batch of begin(pin)) {
          yield batch;
          hooks.step();
          pin.touch();
        }
      } catch (error) {
        if (!isEhdbError(error) || isEhdbError(error, "CORRUPT", "IO_ERROR")) hooks.failed();
        throw error;
      } finally {
        pin.release();
      }
    },
  };
}
