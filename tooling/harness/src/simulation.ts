/** What one seed's history came to. */
export interface SimulationResult {
  /** Each a sentence: what should have held, and what was found. */
  readonly violations: string[];
  /** What was met on the way: operations, crashes, torn batches, … */
  readonly counts: Readonly<Record<string, number>>;
}

/** Random histories of one tier on the simulated host. A package's `simulation/index.ts` exports one as `simulation`. */
export interface Simulation {
  readonly tier: string;
  /** The same seed gives the same history. */
  run(seed: number): Promise<SimulationResult>;
  /** Counts that must be above 0 over 300 seeds or more: a situation that is never met isn't tested. */
  readonly required: readonly string[];
}

/** A run this long must have met every required situation. */
export const enoughSeeds = 300;

export type Counts = Readonly<Record<string, number>>;

export function addCounts(a: Counts, b: Counts): Counts {
  const sum: Record<string, number> = { ...a };
  for (const [name, count] of Object.entries(b)) sum[name] = (sum[name] ?? 0) + count;
  return sum;
}

/** The required counts that a run of `seeds` seeds should have met and didn't. */
export function unmetCounts(required: readonly string[], counts: Counts, seeds: number): string[] {
  return seeds < enoughSeeds ? [] : required.filter((name) => !((counts[name] ?? 0) > 0));
}

/**
 * A planted defect: the simulation must find it, or the simulation is blind there. A package's `simulation/mutants.ts` exports
 * a list of them as `mutants`.
 */
export interface Mutant {
  readonly name: string;
  /** Relative to the package's `src`. */
  readonly file: string;
  /** Stands in the file exactly once. */
  readonly find: string;
  readonly replace: string;
  /** How many seeds, from 1, may go by before it is found. */
  readonly seeds: number;
}
