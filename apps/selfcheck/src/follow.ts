import { isEhdbError } from "@ehdb/contracts";
import type { Clock } from "@ehdb/host";
import type { JournalReader } from "@ehdb/journal";
import type { Comparison } from "./comparison.ts";

/** A tail that is still behind after so long isn't slow but stuck. */
const PATIENCE_MILLIS = 30_000;

export interface Follower {
  /** Resolves once the tail has caught up with `sequence`; what is missing then, the comparison says. */
  upTo(sequence: number): Promise<Comparison>;
  cancel(): void;
}

/** Compares what a live tail delivers, from the first record on. */
export function follow(reader: JournalReader, comparison: Comparison, clock: Clock, signal: AbortSignal): Follower {
  const stop = new AbortController();
  let [target, caughtUp] = [Infinity, 0];
  const endWhenThere = (): void => {
    if (caughtUp >= target) stop.abort();
  };
  const ended = compareAll(reader, comparison, AbortSignal.any([signal, stop.signal]), (sequence) => {
    caughtUp = sequence;
    endWhenThere();
  });
  // Whoever cancels has an error of its own to tell.
  ended.catch(() => undefined);
  return {
    cancel: () => stop.abort(),
    async upTo(sequence) {
      target = sequence;
      const timer = clock.timer(PATIENCE_MILLIS, () => {
        comparison.problems.add(
          `${PATIENCE_MILLIS / 1000} s after the last append the tail is at ${caughtUp} of ${sequence}`,
        );
        stop.abort();
      });
      endWhenThere();
      try {
        await ended;
      } catch (error) {
        if (!isEhdbError(error, "ABORTED") || signal.aborted) throw error;
      } finally {
        timer.cancel();
      }
      return comparison;
    },
  };
}

async function compareAll(
  reader: JournalReader,
  comparison: Comparison,
  signal: AbortSignal,
  onCaughtUp: (sequence: number) => void,
): Promise<void> {
  for await (const records of reader.tail({ from: 1, signal, onCaughtUp }).batches()) {
    for (const record of records) comparison.see(record);
  }
}
