import { engineRuleDatasets, engineRuleDedupeWindow, KIB } from "@ehdb/contracts";
import { simulatedHost } from "@ehdb/host";
import type { Host, SimulatedHost } from "@ehdb/host";
import { openEngine } from "@ehdb/l0";
import type { DurableEngine, EngineOptions } from "@ehdb/l0";
import { onTestFailed } from "vitest";

export interface Stage {
  readonly host: SimulatedHost;
  readonly engine: DurableEngine;
}

/** An engine on a simulated machine of its own. */
export async function stage(options: Partial<EngineOptions> = {}, seed = 1): Promise<Stage> {
  onTestFailed(() => console.log(`seed=${seed}`));
  const host = simulatedHost({ seed });
  return { host, engine: await openOn(host, options) };
}

/** The same directory again, on what is left of the machine. */
export async function openOn(host: Host, options: Partial<EngineOptions> = {}): Promise<DurableEngine> {
  return await openEngine({
    dir: "/store",
    datasets: engineRuleDatasets,
    dedupeWindow: engineRuleDedupeWindow,
    sealMaxBytes: 64 * KIB,
    host,
    ...options,
  });
}
