import { eventLogDatasets, eventLogOn } from "@ehdb/eventlog";
import type { DurableEventLog } from "@ehdb/eventlog";
import type { SoakProblem } from "@ehdb/harness";
import { openEngine } from "@ehdb/l0";
import type { DurableEngine } from "@ehdb/l0";
import type { Contents } from "./contents.ts";
import type { Ledger } from "./ledger.ts";
import { controls } from "./settings.ts";
import type { SoakSettings } from "./settings.ts";

/** A map beside the event log, with the state of each stream. */
export const STATES = "soak.states";
export const EVENTS = "eventlog.events";

const mostProblems = 10;

/** What all that runs in a soak has in common. */
export interface Stage {
  readonly dir: string;
  readonly settings: SoakSettings;
  /** The defect that is planted. */
  readonly control: string | undefined;
  readonly engine: DurableEngine;
  readonly log: DurableEventLog;
  readonly contents: Contents;
  readonly ledger: Ledger;
  readonly problems: Problems;
  /** Whether the load is to end. */
  readonly isOver: () => boolean;
}

export class Problems {
  readonly all: SoakProblem[] = [];

  add(what: string, found: string): void {
    if (this.all.length < mostProblems) this.all.push({ what, found });
  }

  /** Whatever it throws is a problem. */
  async watch(what: string, work: Promise<unknown>): Promise<void> {
    try {
      await work;
    } catch (error) {
      this.add(what, error instanceof Error ? error.message : String(error));
    }
  }
}

export async function openStage(
  dir: string,
  { sealMaxBytes }: SoakSettings,
  control: string | undefined,
): Promise<Pick<Stage, "engine" | "log">> {
  const datasets = [...eventLogDatasets, { name: STATES, order: "by-key" } as const];
  const engine = await openEngine({ dir, datasets, sealMaxBytes, background: control !== controls.merges });
  return { engine, log: await eventLogOn(engine) };
}
