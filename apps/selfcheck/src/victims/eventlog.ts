import { KIB } from "@ehdb/contracts";
import { openEventLog } from "@ehdb/eventlog";
import type { EventLogOptions } from "@ehdb/eventlog";
import { AppendPlan } from "../append-plan.ts";
import { runEventLoad } from "../eventlog/event-load.ts";
import type { Filling } from "./filling.ts";

/** Small, so that kills come while generations are sealed. */
export const killedLogOptions: Pick<EventLogOptions, "sealMaxBytes"> = { sealMaxBytes: 256 * KIB };

export async function fillEventLog({ host, source, dir, round, acknowledge }: Filling): Promise<void> {
  const log = await openEventLog({ dir, host, ...killedLogOptions });
  await runEventLoad({
    log,
    source,
    round,
    plan: new AppendPlan(source, Infinity, "cut by stream"),
    clock: host.clock,
    onAppended: ({ numbers }, { firstPosition, firstVersion }) =>
      acknowledge({
        number: numbers[0] ?? 0,
        count: numbers.length,
        sequence: firstPosition,
        version: firstVersion,
      }),
  });
}
