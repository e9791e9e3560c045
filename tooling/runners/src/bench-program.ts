// Runs one bench in this process and hands its rows to the parent.
import { roundsAt } from "@ehdb/harness";
import type { BenchSize, MeasuredResult } from "@ehdb/harness";
import { namePattern } from "./name-pattern.ts";
import { repositoryRoot } from "./repository.ts";
import { loadBenches } from "./tiers.ts";

/** What this program is told. */
export interface BenchOrder {
  readonly tier: string;
  readonly bench: string;
  readonly size: BenchSize;
  readonly only?: string;
  readonly directory: string;
}

// Without a parent nobody wants the outcome.
process.once("disconnect", () => process.exit());
const { tier, bench: name, size, only, directory } = JSON.parse(process.argv[2] ?? "") as BenchOrder;
const bench = (await loadBenches(repositoryRoot, tier)).find((each) => each.name === name);
if (bench === undefined) throw new Error(`packages/${tier} has no bench "${name}"`);
const wants = namePattern(only);
const rows = await bench.run({ size, rounds: roundsAt[size], directory, wants });
const { user, system } = process.cpuUsage();
const cost = {
  cpuMillis: Math.round((user + system) / 1000),
  peakBytes: process.resourceUsage().maxRSS * 1024,
  processes: 1,
  machines: 1,
};
const results: MeasuredResult[] = rows.map((row) => ({ ...row, ...cost }));
process.send?.(results, undefined, undefined, () => process.disconnect());
