import type { Mutant } from "@ehdb/harness";
import Table from "cli-table3";
import { join } from "node:path";
import { MutableCopy } from "./mutable-copy.ts";
import { progressBar } from "./progress.ts";
import { repositoryRoot, withScratch } from "./repository.ts";
import { runSeeds } from "./seed-run.ts";
import { loadMutants } from "./tiers.ts";

interface Found {
  readonly seed: number;
  readonly violation: string;
}

/** How the hunt for one defect went; without a seed it wasn't found. */
interface Outcome extends Partial<Found> {
  readonly mutant: Mutant;
  /** Seeds that fail without the defect too. */
  readonly elsewhere: readonly number[];
  readonly seconds: number;
}

const atOnce = 2;

/** Plants each defect of the tier's list in a copy of its sources and expects the simulation to find it. */
export async function mutants({
  tier,
  only,
}: {
  readonly tier: string;
  readonly only?: string | undefined;
}): Promise<number> {
  const list = (await loadMutants(repositoryRoot, tier)).filter(
    ({ name }) => only === undefined || name.includes(only),
  );
  const outcomes: Outcome[] = [];
  await withScratch("mutants", async (directory) => {
    const bar = progressBar("planted defects", list.length);
    const queue = [...list];
    const work = async (place: number): Promise<void> => {
      const copy = new MutableCopy(repositoryRoot, tier, join(directory, `copy-${place}`));
      for (let mutant = queue.shift(); mutant !== undefined; mutant = queue.shift()) {
        outcomes.push(await hunt(copy, mutant));
        bar.increment();
      }
    };
    try {
      await Promise.all(Array.from({ length: atOnce }, (_, place) => work(place)));
    } finally {
      bar.stop();
    }
  });
  print(list, outcomes);
  const elsewhere = [...new Set(outcomes.flatMap((outcome) => outcome.elsewhere))].sort((a, b) => a - b);
  if (elsewhere.length > 0) console.log(`these seeds fail without any planted defect: ${elsewhere.join(", ")}`);
  const caught = outcomes.filter(({ seed }) => seed !== undefined).length;
  if (list.length === 0) console.log("there are no planted defects: this run shows nothing");
  console.log(`tier=${tier} mutants=${list.length} caught=${caught}`);
  return list.length > 0 && caught === list.length ? 0 : 1;
}

async function hunt(copy: MutableCopy, mutant: Mutant): Promise<Outcome> {
  const start = performance.now();
  const seeds = Array.from({ length: mutant.seeds }, (_, index) => index + 1);
  const elsewhere: number[] = [];
  for (let rest = seeds; rest.length > 0;) {
    const found = await firstViolation(copy, rest, mutant);
    if (found === undefined) break;
    // A seed that fails without the defect as well says nothing about it.
    if ((await firstViolation(copy, [found.seed])) === undefined)
      return { mutant, ...found, elsewhere, seconds: secondsSince(start) };
    elsewhere.push(found.seed);
    rest = rest.slice(rest.indexOf(found.seed) + 1);
  }
  return { mutant, elsewhere, seconds: secondsSince(start) };
}

/** With the defect planted when one is given. */
async function firstViolation(
  copy: MutableCopy,
  seeds: readonly number[],
  mutant?: Mutant,
): Promise<Found | undefined> {
  const restore = mutant === undefined ? (): void => {} : copy.plant(mutant);
  let found: Found | undefined;
  try {
    await runSeeds({ root: copy.root, tier: copy.tier, seeds }, (seed, { violations }) => {
      const [violation] = violations;
      if (violation !== undefined) found = { seed, violation };
      return violation === undefined;
    });
  } finally {
    restore();
  }
  return found;
}

function secondsSince(start: number): number {
  return (performance.now() - start) / 1000;
}

function print(list: readonly Mutant[], outcomes: readonly Outcome[]): void {
  const table = new Table({
    head: ["planted defect", "file", "found by seed", "s", "violation"],
    colWidths: [40, 22, 15, 7, 70],
    wordWrap: true,
    style: { head: [], border: [] },
  });
  for (const mutant of list) {
    const outcome = outcomes.find((each) => each.mutant === mutant);
    const seed = outcome?.seed === undefined ? `NOT in ${mutant.seeds}` : String(outcome.seed);
    table.push([
      mutant.name,
      mutant.file,
      seed,
      outcome?.seconds.toFixed(1) ?? "",
      outcome?.violation?.split("\n")[0]?.slice(0, 200) ?? "",
    ]);
  }
  console.log(table.toString());
}
