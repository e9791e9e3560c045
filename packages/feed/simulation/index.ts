import type { Simulation, SimulationResult } from "@ehdb/harness";
import { simulatedHost } from "@ehdb/host";
import { openEngine } from "@ehdb/l0";
import { feedDatasets } from "../src/index.ts";
import { noCounts } from "./context.ts";
import type { Run } from "./context.ts";
import { drainAll } from "./last-look.ts";
import { Ledger } from "./ledger.ts";
import { calm, live, make } from "./life.ts";
import { drawSettings, Random } from "./settings.ts";

export interface RunResult extends SimulationResult {
  /** Of all that the disk did, in its order: the same seed gives the same. */
  readonly digest: string;
}

/** What the first open of a process compiles takes real time, which no simulated history may depend on. */
async function openOnce(): Promise<void> {
  const engine = await openEngine({ dir: "/store", datasets: feedDatasets, host: simulatedHost({ seed: 1 }) });
  await engine.close();
}

let opened: Promise<void> | undefined;

/** A feed at work on the simulated host, in one engine with its event log: what a seed draws, over several incarnations, held to the ledger. */
export async function run(seed: number): Promise<RunResult> {
  await (opened ??= openOnce());
  const random = new Random(seed);
  const settings = drawSettings(random);
  const ledger = new Ledger(settings);
  const context: Run = {
    random,
    settings,
    ledger,
    counts: noCounts(),
    others: new Map(),
    outcomes: new Set(),
    host: simulatedHost({ seed }),
    isFull: false,
  };
  await make(context);
  Object.assign(context.host.faults, settings.faults);
  for (let lives = settings.lives; lives > 0 && ledger.violations.length === 0; lives--) await live(context);
  if (ledger.violations.length === 0) {
    calm(context);
    await drainAll(context);
  }
  const { statistics, history } = context.host;
  const { operations, noSpace, failedSyncs, failedWrites, failedReads, lostUnsyncedWrites, tornWrites } = statistics;
  const met = { operations, noSpace, failedSyncs, failedWrites, failedReads, lostUnsyncedWrites, tornWrites };
  return { violations: ledger.violations, counts: { ...context.counts, ...met }, digest: history.digest };
}

export const simulation: Simulation = {
  tier: "feed",
  run,
  required: [
    "operations",
    "kills",
    "powerLosses",
    "crashInOpen",
    "closes",
    "poisonings",
    "reopens",
    "noSpace",
    "failedSyncs",
    "failedWrites",
    "failedReads",
    "lostUnsyncedWrites",
    "tornWrites",
    "fetchedAgain",
    "acksOfSeveral",
    "nacks",
    "extensions",
    "parks",
    "parkedByCount",
    "lateRefused",
    "staleRefused",
    "replays",
    "discards",
    "seeksBack",
    "seeksForward",
    "seeksInDoubt",
    "left",
    "clockJumps",
    "commits",
    "commitConflicts",
    "commitsInDoubt",
    "compacted",
    "groupsMade",
    "groupsDeleted",
    "seals",
  ],
};
