import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { KillLedger } from "./kill-ledger.ts";
import { KilledChild } from "./killed-child.ts";
import type { KillOptions, KillReport, KillTarget } from "./kill-target.ts";
import { SeededRandom } from "./seeded-random.ts";

/** One kill in so many comes while the store is being opened, mostly on the remains of the kill before. */
const openKillEvery = 5;
const longestOpenMillis = 30;
const longestLoadMillis = 400;

/**
 * Kills the target's program again and again: SIGKILL at a random moment, recover, compare everything that is there with
 * everything that was acknowledged, go on in the same directory.
 */
export async function runKills(target: KillTarget, options: KillOptions): Promise<KillReport> {
  const random = new SeededRandom(options.seed);
  const ledgers: KillLedger[] = [];
  let killsInOpen = 0;
  for (let kills = 0; kills < options.times; ) {
    const index = ledgers.length;
    const directory = join(options.directory, `directory-${index}`);
    mkdirSync(directory, { recursive: true });
    const settings = target.settings(index);
    const ledger = new KillLedger();
    ledgers.push(ledger);
    for (let n = 0; n < target.killsPerDirectory && kills < options.times; n++, kills++) {
      const inOpen = random.integer(openKillEvery) === 0;
      const load = { directory, incarnation: n + 1, settings, ...(options.defect === undefined ? {} : { defect: options.defect }) };
      const child = new KilledChild(target.program, options.nodeOptions, load, (line) => ledger.hear(line));
      await child.says(inOpen ? "opening" : "open");
      await pause(random.fraction() * (inOpen ? longestOpenMillis : longestLoadMillis));
      await child.kill();
      if (inOpen) killsInOpen++;
      options.onKill?.(kills + 1);
      // After a kill in open the next incarnation mostly meets the remains itself, not a store that was recovered for the check.
      const isLast = n === target.killsPerDirectory - 1 || kills === options.times - 1;
      if (isLast || !inOpen || random.integer(4) === 0) await ledger.check(target.survivors(directory, settings));
    }
    rmSync(directory, { recursive: true, force: true });
  }
  return report(ledgers, options.times, killsInOpen);
}

function report(ledgers: readonly KillLedger[], kills: number, killsInOpen: number): KillReport {
  const sum = (of: (ledger: KillLedger) => number): number => ledgers.reduce((total, ledger) => total + of(ledger), 0);
  return {
    kills,
    killsInOpen,
    acknowledged: sum((ledger) => ledger.acknowledged),
    lost: sum((ledger) => ledger.lost),
    doubled: sum((ledger) => ledger.doubled),
    disordered: sum((ledger) => ledger.disordered),
    damaged: sum((ledger) => ledger.damaged),
    revived: sum((ledger) => ledger.revived),
    unacknowledged: sum((ledger) => ledger.unacknowledged),
    drops: sum((ledger) => ledger.drops),
    problems: ledgers.flatMap((ledger, index) => ledger.problems.map((problem) => `directory ${index}: ${problem}`)).slice(0, 20),
  };
}
