import { runKills } from "@ehdb/harness";
import type { KillReport, KillTarget } from "@ehdb/harness";
import Table from "cli-table3";
import { join } from "node:path";
import { progressBar } from "./progress.ts";
import { builtOptions, repositoryRoot, withScratch } from "./repository.ts";
import { loadKillTarget } from "./tiers.ts";

export interface KillCommand {
  readonly tier: string;
  readonly times: number;
  readonly seed: number;
}

/** A planted defect may need several kills to show. */
const killsADefect = 20;

export async function kill({ tier, times, seed }: KillCommand): Promise<number> {
  const target = await loadKillTarget(repositoryRoot, tier);
  console.log(
    `killing ${tier} ${times} times, moments from seed ${seed}; SIGKILL keeps the page cache, so a missing sync is the simulation's to find`,
  );
  return await withScratch("kill", async (directory) => {
    const bar = progressBar("kills", times);
    const onKill = (): void => bar.increment();
    let report: KillReport;
    try {
      report = await runKills(target, {
        times,
        seed,
        directory: join(directory, "real"),
        nodeOptions: builtOptions,
        onKill,
      });
    } finally {
      bar.stop();
    }
    printReport(report);
    const seen = await seesDefects(target, seed, directory);
    const { acknowledged, lost, doubled, disordered, damaged, revived } = report;
    if (acknowledged === 0) console.log("nothing was ever acknowledged: this run shows nothing");
    console.log(`tier=${tier} kills=${times} acknowledged=${acknowledged} lost=${lost} doubled=${doubled}`);
    return acknowledged > 0 && lost + doubled + disordered + damaged + revived === 0 && seen ? 0 : 1;
  });
}

/** The controls: a program that is wrong on purpose must be found out. */
async function seesDefects(target: KillTarget, seed: number, directory: string): Promise<boolean> {
  let all = true;
  for (const [defect, as] of Object.entries(target.defects)) {
    let kills = 0;
    for (let found = 0; found === 0 && kills < killsADefect; kills++) {
      const place = join(directory, `${defect}-${kills}`);
      const report = await runKills(target, {
        times: 1,
        seed: seed + kills,
        directory: place,
        nodeOptions: builtOptions,
        defect,
      });
      found = report[as];
      if (found > 0) console.log(`control "${defect}": ${as}=${found} after ${kills + 1} kills, as it must be`);
      else if (kills === killsADefect - 1) all = false;
    }
    if (!all) console.log(`control "${defect}": not seen in ${kills} kills, so this run proves nothing`);
  }
  return all;
}

function printReport(report: KillReport): void {
  const { problems, ...figures } = report;
  const table = new Table({ head: Object.keys(figures), style: { head: [], border: [] } });
  table.push(Object.values(figures).map(String));
  console.log(table.toString());
  for (const problem of problems) console.log(problem);
}
