import { isEhdbError } from "@ehdb/contracts";
import type { DatasetSpec, ErrorCode } from "@ehdb/contracts";
import type { Stage } from "@ehdb/harness";
import type { SimulatedHost } from "@ehdb/host";
import type { Durability } from "@ehdb/journal";
import type { DurableEngine } from "../src/index.ts";
import type { Calls } from "./calls.ts";
import type { CrashPlan } from "./crash-plans.ts";
import type { Floors, Forgotten } from "./forgotten.ts";
import type { Ledger } from "./ledger.ts";
import type { Beside } from "./reader-beside.ts";
import type { Shown } from "./readers.ts";
import type { Random } from "./random.ts";
import type { Settings } from "./settings.ts";

export const DIRECTORY = "/store";
export const logs: readonly string[] = ["events", "more"];
export const maps: readonly string[] = ["state", "other"];
export const datasets: readonly DatasetSpec[] = [
  ...logs.map((name) => ({ name, order: "by-sort" as const })),
  ...maps.map((name) => ({ name, order: "by-key" as const })),
];

/** What a run counts of its own; the host's statistics come on top. */
export const countNames = [
  "opens",
  "reopens",
  "closes",
  "kills",
  "crashInSeal",
  "crashInManifestEdit",
  "crashInManifestSwitch",
  "crashInRecovery",
  "crashInReopen",
  "crashInClose",
  "poisonings",
  "readOnlyOpens",
  "commits",
  "duplicates",
  "conflicts",
  "idsReused",
  "refused",
  "aborted",
  "outcomeUnknown",
  "unheard",
  "cutCommits",
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
  "seals",
  "sealFailures",
  "sealCalls",
  "sealsOnReserve",
  "coldLoads",
  "flushes",
  "readies",
  "modeChanges",
  "clockJumps",
  "reads",
  "readsChecked",
  "checkpoints",
  "cutCheckpoints",
  "news",
  "roomAgain",
  "encrypted",
  "compressed",
  "besideOpens",
  "besideLooks",
  "besideReads",
  "besideReadsChecked",
  "besideOvertaken",
  "besideMergedAway",
  "besideNews",
  "besideBackups",
  "imports",
  "importsRefused",
  "crashInImport",
  "rots",
  "rotsFound",
] as const;

export type Counts = Record<(typeof countNames)[number], number>;

/** One run: what lasts through all incarnations. */
export interface Run {
  readonly random: Random;
  /** Another stream, so that imports don't shift what else is drawn. */
  readonly importRandom: Random;
  readonly settings: Settings;
  readonly ledger: Ledger;
  readonly calls: Calls;
  readonly counts: Counts;
  /** Places that readers were shown, to go on from later. */
  readonly shown: Shown[];
  /** Records that were seen to be gone. */
  readonly forgotten: Forgotten;
  readonly floors: Floors;
  readonly plan: CrashPlan;
  /** Some runs have a reader beside the writer. */
  readonly beside: Beside | undefined;
  host: SimulatedHost;
  /** The mode in force. */
  durability: Durability;
  /** How often it has become `async`. */
  asyncTurns: number;
  /** Since the open or reopen, only durable records have been shown. */
  showsDurable: boolean;
  /** The disk had, or may have had, no room at some time since the open. */
  full: boolean;
}

/** One incarnation of the engine at work. */
export interface Work {
  readonly run: Run;
  readonly stage: Stage;
  readonly engine: DurableEngine;
  /** Close has been called. */
  closing: boolean;
  /** A commit that nobody could recognize on disk is under way: one at a time. */
  hasNamelessCommit: boolean;
}

export const noCounts = (): Counts => Object.fromEntries(countNames.map((name) => [name, 0])) as Counts;

export function codeOf(error: unknown): ErrorCode | undefined {
  return isEhdbError(error) ? error.code : undefined;
}

export function describe(error: unknown): string {
  if (!isEhdbError(error)) return error instanceof Error ? (error.stack ?? error.message) : String(error);
  const cause = error.cause instanceof Error ? ` <- ${error.cause.message}` : "";
  return `${error.code}: ${error.message} ${JSON.stringify(error.data)}${cause}`;
}

/** Which errors may happen at all, given the trouble that this run asked for. */
export function mayHappen({ settings: { trouble }, full }: Run, code: ErrorCode | undefined): boolean {
  if (code === "POISONED" || code === "OUTCOME_UNKNOWN")
    return trouble === "failed syncs" || trouble === "failed writes" || trouble === "all";
  if (code === "IO_ERROR") return trouble !== "none" && trouble !== "no space";
  if (code === "NO_SPACE" || code === "READ_ONLY") return full;
  return false;
}

/** Looks at what can be seen without waiting, and holds the engine to it. */
export function inspect(work: Work): void {
  const { run, engine } = work;
  const { ledger } = run;
  if (run.host.frozen || engine.state === "read-only") return;
  const { accepted, durable, sealed } = engine.heads;
  if (!(sealed <= durable && durable <= accepted) && engine.state !== "poisoned")
    ledger.fail(`heads: sealed ${sealed}, durable ${durable}, accepted ${accepted}`);
  if (durable < ledger.firm) ledger.fail(`${durable} is durable, and ${ledger.firm} was acknowledged`);
  ledger.acknowledge(durable);
  if (engine.state === "poisoned" && !mayHappen(run, "POISONED"))
    ledger.fail("the engine is poisoned, and nothing has failed");
  if (engine.state === "corrupt") ledger.fail("the engine says that what is on disk is damaged, and nothing is");
}
