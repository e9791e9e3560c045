import { EhdbError } from "@ehdb/contracts";
import type { Distribution } from "./statistics.ts";
import type { MachineFacts } from "./machine.ts";

/** A claim about a figure, and whether it holds. */
export interface Verdict {
  readonly claim: string;
  readonly holds: boolean;
  /**
   * `shape`: a ratio, an order or an exponent within one run; it decides the exit code.
   * `goal`: what is to be beaten on a machine like ours; missed or met, it's printed and never asserted.
   */
  readonly kind: "shape" | "goal";
}

/** One row of a bench. A ratio is ours divided by the other's: `unit` tells whether larger or smaller is better. */
export interface Result extends Partial<Omit<Distribution, "n">> {
  /** Canonical: dotted, the parameter last. */
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** How many operations, or samples, stand behind the value. */
  readonly n: number;
  readonly floorRatio?: number;
  readonly peerRatio?: Readonly<Record<string, number>>;
  readonly exponent?: number;
  /** A figure that had to come out bad, to show that the instrument can. */
  readonly control?: boolean;
  /** The floor's figure in the same unit. */
  readonly floor?: number;
  /** The peers' figures in the same unit. */
  readonly peers?: Readonly<Record<string, number>>;
  /** Between the rounds: (largest - smallest) / median. */
  readonly variation?: number;
  readonly verdicts?: readonly Verdict[];
  readonly note?: string;
}

/** Milliseconds of processor time and peak resident bytes of the process that ran a bench. */
export interface ProcessCost {
  readonly cpuMillis: number;
  readonly peakBytes: number;
}

/** A row with what its process cost, and how many processes and machines it used. */
export interface MeasuredResult extends Result, ProcessCost {
  readonly processes: number;
  readonly machines: number;
}

/** What `--json` writes and `--compare` reads. */
export interface BenchReport {
  readonly machine: MachineFacts;
  readonly size: BenchSize;
  readonly results: readonly MeasuredResult[];
}

export type BenchSize = "tiny" | "small" | "full";

/** Rounds at each size: their median is the figure. */
export const roundsAt: Readonly<Record<BenchSize, number>> = { tiny: 3, small: 3, full: 5 };

export function shape(claim: string, holds: boolean): Verdict {
  return { claim, holds, kind: "shape" };
}

export function goal(claim: string, holds: boolean): Verdict {
  return { claim, holds, kind: "goal" };
}

/** Whether `text` is a report: the form is API, so that runs of different versions can be compared. */
export function parseReport(text: string): BenchReport {
  const report = JSON.parse(text) as Partial<BenchReport> | null;
  if (
    typeof report !== "object" ||
    report === null ||
    typeof report.machine !== "object" ||
    !Array.isArray(report.results)
  ) {
    throw new EhdbError("INVALID_ARGUMENT", "this isn't a bench report: it has no machine and no results");
  }
  for (const [index, row] of (report.results as unknown[]).entries()) {
    const { name, value, unit, n } = (row ?? {}) as Partial<Result>;
    if (typeof name !== "string" || typeof value !== "number" || typeof unit !== "string" || typeof n !== "number") {
      throw new EhdbError("INVALID_ARGUMENT", `result ${index} of this report lacks a name, a value, a unit or n`);
    }
  }
  return report as BenchReport;
}
