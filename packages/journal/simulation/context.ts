import type { SimulatedHost } from "@ehdb/host";
import { isEhdbError } from "@ehdb/contracts";
import type { ErrorCode } from "@ehdb/contracts";
import type { Stage } from "@ehdb/harness";
import type { Journal } from "../src/index.ts";
import type { Ledger, Shown } from "./ledger.ts";
import type { Payloads } from "./payloads.ts";
import type { Random } from "./random.ts";
import type { Settings } from "./settings.ts";

export const DIRECTORY = "/journal";

/** What a run counts of its own; the host's statistics come on top. */
export const countNames = [
  "opens",
  "reopens",
  "crashInRecovery",
  "crashInClose",
  "crashInReopen",
  "kills",
  "closes",
  "poisonings",
  "readOnlyOpens",
  "writes",
  "refused",
  "queueFull",
  "noSpaceErrors",
  "outcomeUnknown",
  "roomAgain",
  "readies",
  "flushes",
  "modeChanges",
  "drops",
  "retentions",
  "rolls",
  "scans",
  "reads",
  "tails",
  "tailsCut",
  "checkpoints",
  "cutCheckpoints",
  "readers",
  "readerRecords",
  "verifies",
  "copied",
  "cutRecords",
  "encrypted",
  "compressed",
  "rots",
  "rotsFound",
  "salvages",
  "clockJumps",
  "leftovers",
  "lostPages",
] as const;

export type Counts = Record<(typeof countNames)[number], number>;

/** One run: what lasts through all incarnations. */
export interface Run {
  readonly random: Random;
  readonly settings: Settings;
  readonly ledger: Ledger;
  readonly payloads: Payloads;
  readonly counts: Counts;
  /** Places that readers were shown, to go on from later. */
  readonly shown: Shown[];
  host: SimulatedHost;
  /** The disk had, or may have had, no room at some time since the open. */
  full: boolean;
}

/** One incarnation of the journal at work. */
export interface Work {
  readonly run: Run;
  readonly stage: Stage;
  readonly journal: Journal;
  /** The epoch in force: changes with a reopen. */
  readonly epoch: number;
  /** Since it was opened, only durable records have been shown. */
  showsDurable: boolean;
  /** Somebody has appended since the machine's last turn: what `ready()` promised may have gone to them. */
  crowded: boolean;
  /** Close has been called. */
  closing: boolean;
}

/** Notes an append, until the machine's next turn. */
export function crowd(work: Work): void {
  if (work.crowded) return;
  work.crowded = true;
  setImmediate(() => {
    work.crowded = false;
  });
}

export const noCounts = (): Counts => Object.fromEntries(countNames.map((name) => [name, 0])) as Counts;

export function codeOf(error: unknown): ErrorCode | undefined {
  return isEhdbError(error) ? error.code : undefined;
}

export function describe(error: unknown): string {
  if (isEhdbError(error))
    return `${error.code}: ${error.message} ${JSON.stringify(error.data)}${error.cause instanceof Error ? ` <- ${error.cause.message}` : ""}`;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** Which errors may happen at all, given the trouble that this run asked for. */
export function mayHappen(run: Run, code: ErrorCode | undefined): boolean {
  const { trouble } = run.settings;
  if (code === "POISONED" || code === "OUTCOME_UNKNOWN")
    return trouble === "failed syncs" || trouble === "failed writes" || trouble === "all";
  if (code === "IO_ERROR") return trouble !== "none" && trouble !== "no space";
  if (code === "NO_SPACE" || code === "READ_ONLY") return run.full;
  return false;
}

/** Looks at what can be seen without waiting, and holds the journal to it. */
export function inspect(work: Work): void {
  const { run, journal } = work;
  if (run.host.frozen) return;
  const { appended, written, durable } = journal.cursors;
  if (!(durable <= written && written <= appended))
    run.ledger.fail(`cursors: durable ${durable}, written ${written}, appended ${appended}`);
  if (durable < run.ledger.firm && journal.state !== "read-only") {
    run.ledger.fail(`the durable cursor is ${durable}, and ${run.ledger.firm} was acknowledged`);
  }
  run.ledger.acknowledge(durable);
  if (journal.state === "poisoned" && !mayHappen(run, "POISONED"))
    run.ledger.fail("the journal is poisoned, and nothing has failed");
  run.ledger.checkFirst(journal.first);
}
