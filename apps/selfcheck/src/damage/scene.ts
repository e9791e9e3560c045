import type { SequenceRange } from "@ehdb/journal";
import type { Checks } from "../checks.ts";
import type { EventSource } from "../event-source.ts";
import type { LoadPlan } from "../load-plan.ts";
import { SelfcheckError } from "../outcome.ts";
import type { SeededRandom } from "../random.ts";
import { liveBatches, readSegments } from "../segment-file.ts";
import type { Batch } from "../segment-file.ts";
import type { VerbContext } from "../verb.ts";

/** What the kills have left behind, for damage to be done to copies of it. */
export interface Scene {
  readonly context: VerbContext;
  readonly checks: Checks;
  readonly source: EventSource;
  readonly plan: LoadPlan;
  readonly random: SeededRandom;
  /** The log after the last recovery, closed. */
  readonly clean: string;
  /** Its events by sequence. */
  readonly known: ReadonlyMap<number, number>;
  /** A copy from right after the last kill, which nobody has opened since. */
  readonly unclean: string;
  /** What was promised by then: events with their sequence. */
  readonly acknowledged: ReadonlyMap<number, number>;
}

export interface SealedSegment {
  readonly path: string;
  /** Those with records; two at least. */
  readonly batches: readonly Batch[];
}

/** The segment with the most batches among those that have a successor. */
export async function findSealedSegment(scene: Scene, directory: string): Promise<SealedSegment> {
  const segments = await readSegments(scene.context.host.files, directory);
  const sealed = segments.slice(0, -1).map((segment, i) => ({
    path: segment.path,
    batches: liveBatches(segment, segments[i + 1] ?? segment),
  }));
  const largest = sealed.sort((a, b) => b.batches.length - a.batches.length)[0];
  if (largest !== undefined && largest.batches.length >= 2) return largest;
  throw new SelfcheckError(
    "unavailable",
    `no sealed segment of ${directory} holds two batches, so nothing can be cut between them`,
  );
}

export const rangeOf = (batches: readonly Batch[]): SequenceRange => {
  const last = batches.at(-1);
  return { first: batches[0]?.first ?? 1, last: last === undefined ? 0 : last.first + last.records - 1 };
};
