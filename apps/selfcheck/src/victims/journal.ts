import { MIB } from "@ehdb/contracts";
import { openJournal } from "@ehdb/journal";
import { runLoad } from "../load.ts";
import { LoadPlan } from "../load-plan.ts";
import type { Filling } from "./filling.ts";

/** Small, so that some kills come while a new one is started. */
export const KILLED_SEGMENT_BYTES: number = 4 * MIB;

export async function fillJournal({ host, source, dir, round, acknowledge }: Filling): Promise<void> {
  const journal = await openJournal({ dir, host, segmentBytes: KILLED_SEGMENT_BYTES });
  await runLoad({
    journal,
    source,
    round,
    plan: new LoadPlan(Infinity, source.maxBytes),
    clock: host.clock,
    onAcknowledged: ({ numbers, sequence }) =>
      acknowledge({ number: numbers[0] ?? 0, count: numbers.length, sequence, version: 0 }),
  });
}
