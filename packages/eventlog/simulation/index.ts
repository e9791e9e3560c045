import type { Simulation, SimulationResult } from "@ehdb/harness";
import { simulatedHost } from "@ehdb/host";
import { openEventLog } from "../src/index.ts";
import { closeLog } from "./beside.ts";
import { Calls } from "./calls.ts";
import { noCounts } from "./context.ts";
import type { Run } from "./context.ts";
import { CrashPlan } from "./crash-plans.ts";
import { Follower } from "./follower.ts";
import { Ledger } from "./ledger.ts";
import { live } from "./life.ts";
import { alone, calm, open } from "./opening.ts";
import { Random } from "./random.ts";
import { ReaderBeside } from "./reader-beside.ts";
import { drawWanted } from "./readers.ts";
import { drawSettings } from "./settings.ts";

export interface RunResult extends SimulationResult {
  /** Of all that the disk did, in its order: the same seed gives the same. */
  readonly digest: string;
}

/** What the first open of a process compiles takes real time, which no simulated history may depend on. */
async function openOnce(): Promise<void> {
  const log = await openEventLog({ dir: "/log", host: simulatedHost({ seed: 1 }) });
  await log.close();
}

let opened: Promise<void> | undefined;

/** An event log at work on the simulated host: what a seed draws, over several incarnations, held to the ledger. */
export async function run(seed: number): Promise<RunResult> {
  await (opened ??= openOnce());
  const random = new Random(seed);
  const settings = drawSettings(random);
  const host = simulatedHost({ seed, faults: settings.faults });
  const ledger = new Ledger(settings.dedupeWindow);
  const followers: Follower[] = [];
  const context: Run = {
    random,
    settings,
    ledger,
    calls: new Calls(random, settings.scale),
    counts: noCounts(),
    followers,
    plan: new CrashPlan(),
    beside: seed % 3 === 0 ? new ReaderBeside(new Random(seed + 2 ** 32)) : undefined,
    host,
    durability: "sync",
    asyncTurns: 0,
    showsDurable: true,
    full: false,
    recoveries: 0,
    readError: settings.faults.readError ?? 0,
    hiding: 0,
    staging: 0,
    lined: 0,
  };
  for (let left = random.between(1, 3); left > 0; left--) {
    const name = `follower ${left}`;
    const manner = { takesBatches: random.chance(0.3), slowness: random.pick([0, 0, 20, 100]) };
    followers.push(new Follower(name, drawWanted(context), manner));
  }
  for (let lives = settings.lives; lives > 0; lives--) {
    if (!(await live(context)) || ledger.violations.length > 0) break;
  }
  if (ledger.violations.length === 0) await lastLook(context);
  const { statistics, history } = context.host;
  const met = {
    operations: statistics.operations,
    crashes: statistics.crashes,
    unsynced: statistics.lostUnsyncedWrites,
    torn: statistics.tornWrites,
    noSpace: statistics.noSpace,
    failedSync: statistics.failedSyncs,
    failedWrites: statistics.failedWrites,
    failedReads: statistics.failedReads,
    unheard: ledger.unheard,
    cutEvents: ledger.cutEvents,
  };
  return { violations: ledger.violations, counts: { ...context.counts, ...met }, digest: history.digest };
}

/** With nothing wrong any more, the log opens, and holds what was promised. */
async function lastLook(run: Run): Promise<void> {
  for (;;) {
    calm(run);
    const log = await open(run);
    if (log === "failed") return;
    if (log !== "frozen") {
      await alone(run, "the last close", async () => await closeLog(log));
      return;
    }
    run.host = run.host.crash();
  }
}

export const simulation: Simulation = {
  tier: "eventlog",
  run,
  required: [
    "operations",
    "calls",
    "unsynced",
    "torn",
    "noSpace",
    "failedSync",
    "failedWrites",
    "failedReads",
    "crashInSeal",
    "crashInManifest",
    "crashInRecovery",
    "crashInReopen",
    "crashInClose",
    "crashInHiding",
    "kills",
    "reopens",
    "poisonings",
    "roomAgain",
    "severalAtOnce",
    "staged",
    "stagedAgain",
    "stagedConflicts",
    "crashInStaged",
    "duplicates",
    "conflicts",
    "conflictsOfDeleted",
    "idsReused",
    "revivals",
    "truncations",
    "deletions",
    "reclaims",
    "unheard",
    "cutEvents",
    "seals",
    "coldLoads",
    "exactReads",
    "acks",
    "consumersDeleted",
    "resumedInNextLife",
    "followedLive",
    "subscriptionsTruncated",
    "subscriptionsCompacted",
    "subscriptionsClosed",
    "tails",
    "besideLooks",
    "besideReads",
    "encrypted",
  ],
};
