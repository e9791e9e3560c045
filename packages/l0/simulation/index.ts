import type { Simulation, SimulationResult } from "@ehdb/harness";
import { simulatedHost } from "@ehdb/host";
import { Stage } from "@ehdb/harness";
import { loadContentHash } from "../src/content-hash.ts";
import type { DurableEngine } from "../src/index.ts";
import { lookAtBackups } from "./backups-beside.ts";
import { Calls } from "./calls.ts";
import { codeOf, describe, mayHappen, noCounts } from "./context.ts";
import type { Run } from "./context.ts";
import { CrashPlan } from "./crash-plans.ts";
import { Floors, Forgotten } from "./forgotten.ts";
import { Ledger } from "./ledger.ts";
import { live } from "./life.ts";
import { alone, calm, open, optionsOf } from "./opening.ts";
import { lookForOrphans, verifyNamedParts } from "./parts-on-disk.ts";
import { Random } from "./random.ts";
import { Beside } from "./reader-beside.ts";
import { rot } from "./rot.ts";
import { drawSettings } from "./settings.ts";

export interface RunResult extends SimulationResult {
  /** Of all that the disk did, in its order: the same seed gives the same. */
  readonly digest: string;
}

/** An engine at work on the simulated host: what a seed draws, over several incarnations, held to the ledger. */
export async function run(seed: number): Promise<RunResult> {
  // Compiling takes real time, which no simulated history may depend on.
  await loadContentHash();
  const random = new Random(seed);
  const settings = drawSettings(random);
  const host = simulatedHost({ seed, faults: settings.faults });
  const ledger = new Ledger(settings.dedupeWindow);
  const context: Run = {
    random,
    importRandom: new Random(seed + 2 ** 33),
    settings,
    ledger,
    calls: new Calls(random, settings.scale),
    counts: noCounts(),
    shown: [],
    forgotten: new Forgotten(),
    floors: new Floors(),
    plan: new CrashPlan(),
    beside: seed % 3 === 0 ? new Beside(new Random(seed + 2 ** 32)) : undefined,
    host,
    durability: "sync",
    asyncTurns: 0,
    showsDurable: true,
    full: false,
  };
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
    lostDirectoryOperations: statistics.lostDirectoryOperations,
    noSpace: statistics.noSpace,
    failedSync: statistics.failedSyncs,
    failedWrites: statistics.failedWrites,
    unheard: ledger.unheard,
    cutCommits: ledger.cut,
    unheardImports: ledger.unheardImports,
    lostImports: ledger.lostImports,
  };
  return { violations: ledger.violations, counts: { ...context.counts, ...met }, digest: history.digest };
}

/** With nothing wrong any more, the engine opens, and holds what was promised; or a bit of it rots first, and that is said. */
async function lastLook(run: Run): Promise<void> {
  for (;;) {
    calm(run);
    const engine = await open(run);
    if (engine === "failed") return;
    if (engine === "frozen") {
      run.plan.count(run.counts);
      run.host = run.host.crash();
      continue;
    }
    calm(run);
    await alone(run, "a look at all parts", async () => {
      await mergeAtLast(run, engine);
      await lookForOrphans(run);
      await lookAtBackups(run);
      for (const { file, offset, reason } of (await verifyNamedParts(run.host, optionsOf(run).encryption)).damage)
        run.ledger.fail(`${file} is damaged at byte ${offset}: ${reason}`);
    });
    if (run.settings.rots) {
      const stage = new Stage(run.host, (who, error) => run.ledger.fail(`${who}: ${describe(error)}`));
      await rot(run, { run, stage, engine, closing: false, hasNamelessCommit: false });
    } else await alone(run, "the last close", async () => await engine.close());
    return;
  }
}

/** What was to fail and hasn't yet fails now. */
async function mergeAtLast(run: Run, engine: DurableEngine): Promise<void> {
  const excuse = (error: unknown): void => {
    if (!mayHappen(run, codeOf(error))) throw error;
  };
  for (let failures = 0; ; failures++) {
    try {
      if (engine.state === "poisoned") await engine.reopen();
      await engine.runPendingMerges();
      return;
    } catch (error) {
      if (failures > 20 || !mayHappen(run, codeOf(error))) throw error;
      // What fails may have been a sync of the journal.
      if (engine.state === "poisoned") await engine.reopen().catch(excuse);
    }
  }
}

export const simulation: Simulation = {
  tier: "l0",
  run,
  required: [
    "operations",
    "unsynced",
    "torn",
    "noSpace",
    "failedSync",
    "crashInSeal",
    "crashInManifestEdit",
    "crashInManifestSwitch",
    "crashInRecovery",
    "crashInClose",
    "crashInReopen",
    "kills",
    "reopens",
    "poisonings",
    "roomAgain",
    "commits",
    "duplicates",
    "conflicts",
    "idsReused",
    "unheard",
    "cutCommits",
    "seals",
    "sealFailures",
    "sealsOnReserve",
    "coldLoads",
    "crashInMerge",
    "merges",
    "mergeFailures",
    "namesUnsynced",
    "fullMerges",
    "scavenges",
    "superseded",
    "erased",
    "dropped",
    "floors",
    "compacted",
    "snapshots",
    "orphansReclaimed",
    "readsChecked",
    "besideReadsChecked",
    "besideMergedAway",
    "besideNews",
    "besideBackups",
    "checkpoints",
    "cutCheckpoints",
    "encrypted",
    "compressed",
    "imports",
    "importsRefused",
    "crashInImport",
    "unheardImports",
    "lostImports",
    "rotsFound",
  ],
};
