import { isEhdbError } from "@ehdb/contracts";
import type { ErrorCode } from "@ehdb/contracts";
import type { DurableEventLog } from "@ehdb/eventlog";
import type { Stage } from "@ehdb/harness";
import type { SimulatedHost } from "@ehdb/host";
import type { DurableEngine } from "@ehdb/l0";
import type { RecordedEvent } from "@ehdb/contracts";
import type { EngineConsumerGroup, EngineFeed } from "../src/index.ts";
import type { Ledger } from "./ledger.ts";
import type { Random, Settings } from "./settings.ts";

export const countNames = [
  "opens",
  "closes",
  "kills",
  "powerLosses",
  "crashInOpen",
  "poisonings",
  "reopens",
  "appends",
  "fetched",
  "fetchedAgain",
  "acks",
  "acksOfSeveral",
  "nacks",
  "extensions",
  "parks",
  "lateRefused",
  "staleRefused",
  "replays",
  "discards",
  "seeksBack",
  "seeksForward",
  "seeksInDoubt",
  "left",
  "pauses",
  "clockJumps",
  "commits",
  "commitConflicts",
  "commitsInDoubt",
  "compacted",
  "groupsMade",
  "groupsDeleted",
  "parkedByCount",
  "seals",
] as const;

export type Counts = Record<(typeof countNames)[number], number>;

export const noCounts = (): Counts => Object.fromEntries(countNames.map((name) => [name, 0])) as Counts;

export interface Store {
  readonly engine: DurableEngine;
  readonly log: DurableEventLog;
  readonly feed: EngineFeed<RecordedEvent>;
}

/** One run: what lasts through all incarnations. */
export interface Run {
  readonly random: Random;
  readonly settings: Settings;
  readonly ledger: Ledger;
  readonly counts: Counts;
  /** Other groups: those that must be there, and those that may be. */
  readonly others: Map<string, "there" | "perhaps">;
  /** Outcomes that were committed for sure. */
  readonly outcomes: Set<string>;
  host: SimulatedHost;
  isFull: boolean;
}

/** One incarnation at work. */
export interface Work {
  readonly run: Run;
  readonly stage: Stage;
  readonly store: Store;
  readonly group: EngineConsumerGroup<RecordedEvent>;
  /** The group is being moved: nobody else calls it. */
  isMoving: boolean;
  /** Calls of others that have no answer. */
  calls: number;
  /** No reads of what was committed, and the like, while it's recovered in place. */
  isOver: boolean;
}

export function codeOf(error: unknown): ErrorCode | undefined {
  return isEhdbError(error) ? error.code : undefined;
}

export function describe(error: unknown): string {
  if (!isEhdbError(error)) return error instanceof Error ? (error.stack ?? error.message) : String(error);
  return `${error.code}: ${error.message} ${JSON.stringify(error.data)}`;
}

/** Throws what can't be explained by the trouble that this run asked for. */
export function excuse({ settings: { trouble }, isFull }: Run, error: unknown): void {
  const code = codeOf(error);
  if (code === "POISONED" || code === "OUTCOME_UNKNOWN")
    if (trouble === "failed syncs" || trouble === "failed writes" || trouble === "all") return;
  if (code === "IO_ERROR" && trouble !== "none" && trouble !== "no space") return;
  if ((code === "NO_SPACE" || code === "READ_ONLY") && isFull) return;
  throw error;
}

export const takes = ({ store: { engine }, isOver }: Work): boolean =>
  !isOver && engine.state !== "poisoned" && engine.state !== "closed";
