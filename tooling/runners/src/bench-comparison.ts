import type { BenchReport } from "@ehdb/harness";
import Table from "cli-table3";
import { figure } from "./figures.ts";

/** The difference to an earlier run. Ratios to the floor are the fairer ones: both runs' machines were measured by them too. */
export function printComparison(before: BenchReport, now: BenchReport): void {
  const table = new Table({
    head: ["name", "unit", "before", "now", "change", "÷ floor before", "÷ floor now"],
    colAligns: ["left", "left", "right", "right", "right", "right", "right"],
    style: { head: [], border: [], compact: true },
  });
  for (const row of now.results) {
    const old = before.results.find(({ name }) => name === row.name);
    const change = old === undefined || old.value === 0 ? "new" : percent(row.value / old.value - 1);
    table.push([
      row.name,
      row.unit,
      figure(old?.value),
      figure(row.value),
      change,
      figure(old?.floorRatio),
      figure(row.floorRatio),
    ]);
  }
  console.log(table.toString());
  const gone = before.results
    .filter(({ name }) => !now.results.some((row) => row.name === name))
    .map(({ name }) => name);
  if (gone.length > 0) console.log(`only in the earlier run: ${gone.join(", ")}`);
  if (before.size !== now.size)
    console.log(`the earlier run was of size ${before.size}, this one is ${now.size}: don't compare them`);
  if (before.machine.cpu !== now.machine.cpu || before.machine.filesystem !== now.machine.filesystem) {
    console.log(
      `the earlier run was on another machine (${before.machine.cpu}, ${before.machine.filesystem}): compare ratios only`,
    );
  }
}

function percent(share: number): string {
  return `${share >= 0 ? "+" : ""}${(share * 100).toFixed(1)}%`;
}
