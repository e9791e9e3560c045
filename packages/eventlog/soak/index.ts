import type { Soak } from "@ehdb/harness";
import { runSoak } from "./run.ts";
import { controls, fullLoad } from "./settings.ts";

/** The event log, and through it all of the engine: full load, retention, seals and merges for as long as one likes. */
export const soak: Soak = {
  tier: "eventlog",
  controls: Object.values(controls),
  run: (context) => runSoak(context, fullLoad),
};
