import type { Simulation, SimulationResult } from "@ehdb/harness";
import { simulatedHost } from "@ehdb/host";
import { DIRECTORY, noCounts } from "./context.ts";
import type { Run } from "./context.ts";
import { Ledger } from "./ledger.ts";
import { live } from "./life.ts";
import { alone, calm, open } from "./opening.ts";
import { Payloads } from "./payloads.ts";
import { Random } from "./random.ts";
import { rot } from "./rot.ts";
import { drawSettings } from "./settings.ts";

export interface RunResult extends SimulationResult {
  /** Of all that the disk did, in its order: the same seed gives the same. */
  readonly digest: string;
}

/** A journal at work on the simulated host: what a seed draws, over several incarnations, held to the ledger. */
export async function run(seed: number): Promise<RunResult> {
  const random = new Random(seed);
  const settings = drawSettings(random);
  const host = simulatedHost({ seed, faults: settings.faults });
  const ledger = new Ledger();
  const specimen = (): Uint8Array | undefined => (settings.rots ? undefined : newestSegment(context));
  const context: Run = {
    random,
    settings,
    ledger,
    payloads: new Payloads(random, settings.scale, specimen),
    counts: noCounts(),
    shown: [],
    host,
    full: false,
  };
  for (let lives = settings.lives; lives > 0; lives--) {
    if (!(await live(context)) || ledger.violations.length > 0) break;
  }
  if (ledger.violations.length === 0) await lastLook(context);
  const { statistics, history } = context.host;
  const {
    operations,
    lostUnsyncedWrites,
    tornWrites,
    lostDirectoryOperations,
    noSpace,
    failedSyncs,
    failedWrites,
    crashes,
  } = statistics;
  const met = {
    operations,
    crashes,
    unsynced: lostUnsyncedWrites,
    torn: tornWrites,
    lostDirectoryOperations,
    noSpace,
    failedSync: failedSyncs,
    failedWrites,
  };
  return { violations: ledger.violations, counts: { ...context.counts, ...met }, digest: history.digest };
}

/** With nothing wrong any more, the journal opens, and holds what was promised; or it rots first, and says so. */
async function lastLook(run: Run): Promise<void> {
  calm(run);
  for (;;) {
    const journal = await open(run);
    if (journal === "failed") return;
    if (journal === "frozen") {
      run.host = run.host.crash();
      continue;
    }
    if (run.settings.rots) await rot(run, journal);
    else await alone(run, "the last close", async () => await journal.close());
    return;
  }
}

/** The bytes of batches that the newest segment holds, as far as they go. */
function newestSegment(run: Run): Uint8Array | undefined {
  const path = `${DIRECTORY}/${String(run.ledger.epoch).padStart(16, "0")}.segment`;
  try {
    return run.host.content(path).subarray(4096, 60_000);
  } catch {
    return undefined;
  }
}

export const simulation: Simulation = {
  tier: "journal",
  run,
  required: [
    "operations",
    "unsynced",
    "torn",
    "noSpace",
    "failedSync",
    "crashInRecovery",
    "crashInClose",
    "crashInReopen",
    "kills",
    "reopens",
    "poisonings",
    "roomAgain",
    "rolls",
    "drops",
    "encrypted",
    "compressed",
    "tails",
    "tailsCut",
    "cutCheckpoints",
    "readers",
    "readerRecords",
    "cutRecords",
    "copied",
    "rotsFound",
    "salvages",
    "leftovers",
  ],
};
