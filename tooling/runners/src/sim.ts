import { addCounts, enoughSeeds, unmetCounts } from "@ehdb/harness";
import type { Counts } from "@ehdb/harness";
import Table from "cli-table3";
import { progressBar } from "./progress.ts";
import { repositoryRoot } from "./repository.ts";
import { runSeeds } from "./seed-run.ts";
import { loadSimulation, requireTier } from "./tiers.ts";

export interface SimOptions {
  readonly tier: string;
  readonly seeds: number;
  readonly from: number;
}

/** From here on two processes share the seeds. */
const seedsForTwo = 16;
const mostPrinted = 20;

export async function sim({ tier, seeds, from }: SimOptions): Promise<number> {
  requireTier(repositoryRoot, tier, "simulation");
  const { required } = await loadSimulation(repositoryRoot, tier);
  const all = Array.from({ length: seeds }, (_, index) => from + index);
  const shares =
    seeds < seedsForTwo
      ? [all]
      : [all.filter((_, index) => index % 2 === 0), all.filter((_, index) => index % 2 === 1)];
  const bar = progressBar("seeds", seeds);
  let counts: Counts = {};
  const violations: { seed: number; violation: string }[] = [];
  const run = (share: readonly number[]): Promise<void> =>
    runSeeds({ root: repositoryRoot, tier, seeds: share }, (seed, result) => {
      counts = addCounts(counts, result.counts);
      for (const violation of result.violations) violations.push({ seed, violation });
      bar.increment();
      return true;
    });
  try {
    await Promise.all(shares.map(run));
  } finally {
    bar.stop();
  }
  const unmet = unmetCounts(required, counts, seeds);
  printCounts(counts, required, seeds);
  for (const { seed, violation } of violations.sort((a, b) => a.seed - b.seed).slice(0, mostPrinted)) {
    console.log(`violation at seed ${seed}: ${violation}`);
    console.log(`  repeat it with: npm run sim -- --tier ${tier} --seeds 1 --from ${seed}`);
  }
  if (violations.length > mostPrinted) console.log(`and ${violations.length - mostPrinted} more violations`);
  for (const name of unmet) console.log(`never met in ${seeds} seeds: ${name}; the simulation doesn't test it`);
  if (seeds < enoughSeeds) console.log(`fewer than ${enoughSeeds} seeds: not every situation need have been met`);
  console.log(`tier=${tier} seeds=${seeds} violations=${violations.length}`);
  return violations.length > 0 || unmet.length > 0 ? 1 : 0;
}

function printCounts(counts: Counts, required: readonly string[], seeds: number): void {
  const table = new Table({
    head: ["met", "times", "a seed", "required"],
    colAligns: ["left", "right", "right", "left"],
    style: { head: [], border: [], compact: true },
  });
  const names = [...new Set([...Object.keys(counts), ...required])].sort();
  for (const name of names) {
    const count = counts[name] ?? 0;
    table.push([name, String(count), (count / seeds).toFixed(2), required.includes(name) ? "yes" : ""]);
  }
  console.log(table.toString());
}
