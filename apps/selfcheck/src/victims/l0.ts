import { KIB } from "@ehdb/contracts";
import { openEngine } from "@ehdb/l0";
import type { EngineOptions } from "@ehdb/l0";
import { AppendPlan } from "../append-plan.ts";
import { runCommitLoad } from "../l0/commit-load.ts";
import { datasets } from "../l0/staged-commit.ts";
import type { Filling } from "./filling.ts";

/** Small, so that kills come while generations are sealed. */
export const killedEngineOptions: Pick<EngineOptions, "datasets" | "sealMaxBytes"> = {
  datasets,
  sealMaxBytes: 256 * KIB,
};

export async function fillEngine({ host, source, dir, round, acknowledge }: Filling): Promise<void> {
  const engine = await openEngine({ dir, host, ...killedEngineOptions });
  await runCommitLoad({
    engine,
    source,
    round,
    plan: new AppendPlan(source, Infinity, "whole"),
    clock: host.clock,
    onCommitted: ({ numbers }, { revision }) =>
      acknowledge({ number: numbers[0] ?? 0, count: numbers.length, sequence: revision, version: 0 }),
  });
}
