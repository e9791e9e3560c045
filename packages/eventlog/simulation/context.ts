import { isEhdbError } from "@ehdb/contracts";
import type { ErrorCode } from "@ehdb/contracts";
import type { Stage } from "@ehdb/harness";
import type { SimulatedHost } from "@ehdb/host";
import type { DurableEventLog } from "../src/index.ts";
import type { Calls } from "./calls.ts";
import type { CrashPlan } from "./crash-plans.ts";
import type { Follower } from "./follower.ts";
import type { Ledger } from "./ledger.ts";
import type { ReaderBeside } from "./reader-beside.ts";
import type { Random } from "./random.ts";
import type { Durability, Settings } from "./settings.ts";

/** What a run counts of its own; the host's statistics come on top. */
export const countNames = [
  "opens",
  "reopens",
  "closes",
  "doubtfulCloses",
  "kills",
  "crashInSeal",
  "crashInManifest",
  "crashInRecovery",
  "crashInReopen",
  "crashInClose",
  "crashInHiding",
  "poisonings",
  "readOnlyOpens",
  "calls",
  "appends",
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
  "outOfRange",
  "refused",
  "aborted",
  "outcomeUnknown",
  "unheard",
  "cutEvents",
  "seals",
  "sealFailures",
  "coldLoads",
  "flushes",
  "readies",
  "modeChanges",
  "clockJumps",
  "reads",
  "exactReads",
  "acks",
  "consumersDeleted",
  "subscriptions",
  "subscriptionsResumed",
  "resumedInNextLife",
  "delivered",
  "caughtUp",
  "followedLive",
  "subscriptionsTruncated",
  "subscriptionsCompacted",
  "subscriptionsClosed",
  "subscriptionsBeyond",
  "tails",
  "roomAgain",
  "besideOpens",
  "besideLooks",
  "besideReads",
  "besideOvertaken",
  "encrypted",
] as const;

export type Counts = Record<(typeof countNames)[number], number>;

/** One run: what lasts through all incarnations. */
export interface Run {
  readonly random: Random;
  readonly settings: Settings;
  readonly ledger: Ledger;
  readonly calls: Calls;
  readonly counts: Counts;
  /** Readers who go on over crashes and closes. */
  readonly followers: readonly Follower[];
  readonly plan: CrashPlan;
  /** Some runs have a reader beside the writer. */
  readonly beside: ReaderBeside | undefined;
  host: SimulatedHost;
  /** The mode in force. */
  durability: Durability;
  /** How often it has become `async`. */
  asyncTurns: number;
  /** Since the open or reopen, only durable events have been shown. */
  showsDurable: boolean;
  /** The disk had, or may have had, no room at some time since the open. */
  full: boolean;
  /** Rises when a reopen begins and when it has been looked at. */
  recoveries: number;
  /** How often reads fail, while nothing keeps them from it. */
  readError: number;
  /** Calls that hide something and have no answer yet. */
  hiding: number;
  /** Staged appends that have no answer yet. */
  staging: number;
  /** Calls without an answer that may wait, in the log, for something to be looked up; and those behind them. */
  lined: number;
}

/** One incarnation of the log at work. */
export interface Work {
  readonly run: Run;
  readonly stage: Stage;
  readonly log: DurableEventLog;
  /** Close has been called. */
  closing: boolean;
  /** Nobody writes any more: followers stop once they have all. */
  isQuiet: boolean;
  /** What followers do when it becomes quiet. */
  readonly whenQuiet: Set<() => void>;
  /** Reclaims under way that look at consumers: nobody moves one meanwhile. */
  reclaiming: number;
}

export function atWork(run: Run, log: DurableEventLog, stage: Stage): Work {
  const quiet = { closing: false, isQuiet: false, whenQuiet: new Set<() => void>() };
  return { run, stage, log, ...quiet, reclaiming: 0 };
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

/** Throws what can't be explained by the trouble that this run asked for. */
export function excuse(work: Work, error: unknown): void {
  const code = codeOf(error);
  if (code === "CLOSED" && work.closing) return;
  if (!mayHappen(work.run, code)) throw error;
}

export function takes({ log: { engine } }: Work): boolean {
  return engine.state !== "poisoned" && engine.state !== "closed" && engine.state !== "corrupt";
}

/** What was shown before it was durable isn't shown any more once the disk has failed: until a reopen nobody knows what became of it. */
export function showsLess({ run, log }: Work): boolean {
  return !run.showsDurable && log.engine.state === "poisoned";
}

/** Looks at what can be seen without waiting, and holds the log to it. */
export function inspect({ run, log }: Work): void {
  const { ledger } = run;
  const { engine } = log;
  if (run.host.frozen || engine.state === "read-only" || run.recoveries % 2 === 1) return;
  if (log.position < ledger.firm) ledger.fail(`the log ends at ${log.position}, and ${ledger.firm} was acknowledged`);
  if (log.epoch === ledger.epoch && log.firstPosition < ledger.model.firstPosition)
    ledger.fail(`the first position is ${log.firstPosition}, and ${ledger.model.firstPosition} was reclaimed`);
  if (engine.state === "poisoned" && !mayHappen(run, "POISONED"))
    ledger.fail("the log is poisoned, and nothing has failed");
  if (engine.state === "corrupt") ledger.fail("the log says that what is on disk is damaged, and nothing is");
}
