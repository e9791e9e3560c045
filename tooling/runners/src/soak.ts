import { writeFile } from "node:fs/promises";
import { machineFacts } from "@ehdb/harness";
import type { SoakReport } from "@ehdb/harness";
import Table from "cli-table3";
import { figure } from "./figures.ts";
import { shareBar } from "./progress.ts";
import { repositoryRoot, withScratch } from "./repository.ts";
import { loadSoak, requireTier } from "./tiers.ts";
import { UsageError } from "./usage-error.ts";

export interface SoakOptions {
  readonly tier: string;
  readonly minutes: number;
  readonly control?: string;
  readonly json?: string;
}

const mostRows = 60;

/** A tier under constant load: what grows, what slows down, what isn't what was written. */
export async function soak({ tier, minutes, control, json }: SoakOptions): Promise<number> {
  requireTier(repositoryRoot, tier, "soak");
  const wanted = await loadSoak(repositoryRoot, tier);
  const { controls } = wanted;
  if (control !== undefined && !controls.includes(control))
    throw new UsageError(`there is no control "${control}" for ${tier}; there are: ${controls.join(", ") || "none"}`);
  const bar = shareBar(`of ${minutes} minutes`);
  const planted = control === undefined ? {} : { control };
  const report = await withScratch("soak", (directory) =>
    wanted.run({ directory, millis: minutes * 60_000, progress: (share) => bar.set(share), ...planted }),
  ).finally(() => bar.stop());
  const { bounds, problems, figures, columns, rows } = report;
  const ok = problems.length === 0;
  printRows(report);
  for (const bound of bounds) console.log(bound);
  for (const { what, found } of problems) console.log(`${what}: ${found}`);
  const samples = rows.map((row) => Object.fromEntries(columns.map((column, at) => [column, row[at]])));
  const whole = {
    machine: machineFacts(repositoryRoot),
    tier,
    minutes,
    ...planted,
    ok,
    figures,
    bounds,
    problems,
    samples,
  };
  if (json !== undefined) await writeFile(json, `${JSON.stringify(whole, undefined, 2)}\n`);
  const said = Object.entries({ tier, minutes, ...planted, ...figures }).map(([name, value]) => `${name}=${value}`);
  console.log(`ok=${ok} ${said.join(" ")}`);
  return ok ? 0 : 1;
}

/** One row for each interval; of a long soak some are left out. */
function printRows({ columns, rows }: SoakReport): void {
  const table = new Table({
    head: [...columns],
    colAligns: columns.map(() => "right" as const),
    style: { head: [], border: [], compact: true },
  });
  const step = Math.ceil(rows.length / mostRows);
  for (const [index, row] of rows.entries()) if (index % step === 0) table.push(row.map(figure));
  console.log(table.toString());
}
