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
const longestLoadMillis = 300;
const sideBySide = 2;

/**
 * Kills the target's program again and again: SIGKILL at a random moment, recover, compare everything that is there with
 * everything that was acknowledged, go on in the same directory. Two directories are worked on side by side.
 */
export async function runKills(target: KillTarget, options: KillOptions): Promise<KillReport> {
  const lives = Array.from({ length: Math.ceil(options.times / target.killsPerDirectory) }, (_, index) => {
    const kills = Math.min(target.killsPerDirectory, options.times - index * target.killsPerDirectory);
    return new DirectoryLife(target, options, index, kills);
  });
  const queue = [...lives];
  let done = 0;
  const work = async (): Promise<void> => {
    for (let life = queue.shift(); life !== undefined; life = queue.shift())
      await life.toEnd(() => options.onKill?.(++done));
  };
  await Promise.all(Array.from({ length: sideBySide }, work));
  return report(lives, options.times);
}

/** One directory through all its kills. */
class DirectoryLife {
  readonly ledger = new KillLedger();
  killsInOpen = 0;
  readonly #target: KillTarget;
  readonly #options: KillOptions;
  readonly #kills: number;
  readonly #directory: string;
  readonly #settings: unknown;
  readonly #random: SeededRandom;

  constructor(target: KillTarget, options: KillOptions, index: number, kills: number) {
    this.#target = target;
    this.#options = options;
    this.#kills = kills;
    this.#directory = join(options.directory, `directory-${index}`);
    this.#settings = target.settings(index);
    this.#random = new SeededRandom(options.seed * 1000 + index);
  }

  async toEnd(onKill: () => void): Promise<void> {
    mkdirSync(this.#directory, { recursive: true });
    for (let incarnation = 1; incarnation <= this.#kills; incarnation++) {
      const inOpen = this.#random.integer(openKillEvery) === 0;
      await this.#kill(incarnation, inOpen);
      onKill();
      // After a kill in open the next incarnation mostly meets the remains itself, not a store that was recovered for the check.
      const checks = incarnation === this.#kills || !inOpen || this.#random.integer(4) === 0;
      if (checks) await this.ledger.check(this.#target.survivors(this.#directory, this.#settings));
    }
    rmSync(this.#directory, { recursive: true, force: true });
  }

  async #kill(incarnation: number, inOpen: boolean): Promise<void> {
    const { defect, nodeOptions } = this.#options;
    const load = {
      directory: this.#directory,
      incarnation,
      settings: this.#settings,
      ...(defect === undefined ? {} : { defect }),
    };
    const child = new KilledChild(this.#target.program, nodeOptions, load, (line) => this.ledger.hear(line));
    await child.says(inOpen ? "opening" : "open");
    await pause(this.#random.fraction() * (inOpen ? longestOpenMillis : longestLoadMillis));
    await child.kill();
    if (inOpen) this.killsInOpen++;
  }
}

function report(lives: readonly DirectoryLife[], kills: number): KillReport {
  const sum = (of: (ledger: KillLedger) => number): number =>
    lives.reduce((total, { ledger }) => total + of(ledger), 0);
  return {
    kills,
    killsInOpen: lives.reduce((total, life) => total + life.killsInOpen, 0),
    acknowledged: sum((ledger) => ledger.acknowledged),
    lost: sum((ledger) => ledger.lost),
    doubled: sum((ledger) => ledger.doubled),
    disordered: sum((ledger) => ledger.disordered),
    damaged: sum((ledger) => ledger.damaged),
    revived: sum((ledger) => ledger.revived),
    unacknowledged: sum((ledger) => ledger.unacknowledged),
    drops: sum((ledger) => ledger.drops),
    problems: lives
      .flatMap(({ ledger }, index) => ledger.problems.map((problem) => `directory ${index}: ${problem}`))
      .slice(0, 20),
  };
}
