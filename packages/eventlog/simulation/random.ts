import { SeededRandom } from "@ehdb/harness";

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
