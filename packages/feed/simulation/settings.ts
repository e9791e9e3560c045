import { SeededRandom } from "@ehdb/harness";
import type { Faults } from "@ehdb/host";
import type { GroupOptions } from "../src/index.ts";

/** The workload's own stream of chance: the host's choices don't shift it, nor it them. */
export class Random extends SeededRandom {
  /** From `least` to `most`, both included. */
  between(least: number, most: number): number {
    return least + this.integer(most - least + 1);
  }

  chance(probability: number): boolean {
    return this.fraction() < probability;
  }
}

/** What kind of trouble a run meets, besides crashes. */
export type Trouble = "none" | "no space" | "failed syncs" | "failed writes" | "failed reads" | "all";

export interface Settings {
  readonly trouble: Trouble;
  readonly lives: number;
  readonly group: Required<Omit<GroupOptions, "start">>;
  readonly sealMaxCommits: number;
  readonly faults: Partial<Faults>;
}

export function drawSettings(random: Random): Settings {
  const troubles: Trouble[] = ["no space", "failed syncs", "failed writes", "failed reads", "all"];
  const trouble = random.pick<Trouble>(["none", "none", "none", ...troubles]);
  const often = random.pick([0.003, 0.01, 0.03]);
  const is = (...kinds: Trouble[]): number => (kinds.includes(trouble) ? often : 0);
  return {
    trouble,
    lives: random.between(2, 4),
    group: {
      order: random.pick(["none", "key"] as const),
      maxDeliver: random.pick([1, 2, 3, Infinity, Infinity]),
      maxInFlight: random.pick([2, 5, 20, 100_000]),
      leaseSeconds: random.pick([0.05, 0.5, 5]),
      subjects: random.pick([["a.*"], ["a.*", "b.>"]]),
    },
    sealMaxCommits: random.pick([5, 20, 60]),
    faults: {
      syncError: is("failed syncs", "all"),
      writeError: is("failed writes", "all"),
      readError: is("failed reads", "all"),
      slow: random.chance(0.3) ? 0.2 : 0,
    },
  };
}
