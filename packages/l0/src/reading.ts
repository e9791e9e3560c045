import type { Batches } from "@ehdb/contracts";
import { EhdbError } from "@ehdb/contracts";
import type { Pin } from "./pins.ts";
import type { Turns } from "./turns.ts";

export interface ReadingHooks {
  readonly begun: () => Pin;
  readonly turns: Turns;
  /** Throws CLOSED or ABORTED. */
  readonly step: () => void;
  /** Its caller is about to be told. */
  readonly failed: (error: unknown) => void;
}

/** A read that begins with its iteration, ends when the engine is closed, and is counted. */
export function countedBatches<T>(begin: (pin: Pin) => AsyncGenerator<readonly T[]>, hooks: ReadingHooks): Batches<T> {
  let isTaken = false;
  return {
    async *[Symbol.asyncIterator]() {
      let pin: Pin | undefined;
      try {
        if (isTaken) throw new EhdbError("INVALID_ARGUMENT", "a read is iterated once: ask for it again", {});
        isTaken = true;
        hooks.step();
        pin = hooks.begun();
        for await (const batch of begin(pin)) {
          yield batch;
          const turn = hooks.turns.next();
          if (turn !== undefined) await turn;
          hooks.step();
          pin.touch();
        }
      } catch (error) {
        hooks.failed(error);
        throw error;
      } finally {
        pin?.release();
      }
    },
  };
}
