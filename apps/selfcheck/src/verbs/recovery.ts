import { join } from "node:path";
import type { RecoveryReport } from "@ehdb/journal";
import type { Checks } from "../checks.ts";
import { Comparison } from "../comparison.ts";
import { cutSegment } from "../damage/cut-segment.ts";
import { flipBit } from "../damage/flipped-bit.ts";
import { tearTail } from "../damage/torn-tail.ts";
import type { EventSource } from "../event-source.ts";
import { rounded } from "../figures.ts";
import { killRound } from "../kill-round.ts";
import { LoadPlan } from "../load-plan.ts";
import { SeededRandom } from "../random.ts";
import { copyTree } from "../tree.ts";
import type { Verb, VerbContext } from "../verb.ts";
import { KILLED_SEGMENT_BYTES } from "../victims/journal.ts";

const FOUND_ONCE = "acknowledged, found once, byte for byte";

interface Rounds {
  readonly context: VerbContext;
  readonly source: EventSource;
  readonly plan: LoadPlan;
  readonly random: SeededRandom;
  readonly dir: string;
  /** A copy of the log from after the last kill. */
  readonly unclean: string;
  /** Events that must be there for ever, with their sequence: acknowledged, or served once. */
  readonly promised: Map<number, number>;
  readonly recoveries: RecoveryReport[];
}

export const recoveryVerb: Verb = {
  name: "recovery",
  summary: "kills a process in mid-load, again and again, then damages copies of what it left, and reads all back",

  async run(context, checks) {
    if (context.options.kills === 0) {
      checks.disable("--kills 0");
      return;
    }
    const { source } = await context.events();
    const { directory, options } = context;
    const rounds: Rounds = {
      context,
      source,
      dir: join(directory, "log"),
      unclean: join(directory, "unclean"),
      plan: new LoadPlan(Infinity, source.maxBytes),
      random: new SeededRandom(options.seed, "recovery"),
      promised: new Map(),
      recoveries: [],
    };
    const acknowledged = await killRounds(rounds, checks);
    if (acknowledged === undefined) return;
    const known = new Map([...rounds.promised].map(([number, sequence]) => [sequence, number]));
    const { plan, random, dir: clean, unclean } = rounds;
    const scene = { context, checks, source, plan, random, clean, known, unclean, acknowledged };
    await flipBit(scene);
    await cutSegment(scene);
    await tearTail(scene);
  },
};

/** The kills; resolves with what was promised at the last one, or undefined when a log wasn't what it must be. */
async function killRounds(rounds: Rounds, checks: Checks): Promise<Map<number, number> | undefined> {
  const { context, promised, recoveries } = rounds;
  const { kills } = context.options;
  let [acknowledged, lost, atLastKill] = [0, 0, new Map<number, number>()];
  for (let round = 0; round < kills; round++) {
    acknowledged += await killOnce(rounds, round);
    if (round === kills - 1) {
      await copyTree(context.host.files, rounds.dir, rounds.unclean);
      atLastKill = new Map(promised);
    }
    const comparison = await reopen(rounds);
    lost += comparison.lost;
    context.progress(round + 1, kills);
    if (comparison.problems.none) continue;
    const message = `after kill ${round + 1}: ${comparison.problems.text}`;
    checks.step({ name: FOUND_ONCE, count: acknowledged, value: lost, unit: "lost", ok: false, message });
    return undefined;
  }
  const slowest = Math.max(...recoveries.map((report) => report.millis));
  const sum = (of: (report: RecoveryReport) => number): number =>
    recoveries.reduce((total, report) => total + of(report), 0);
  const found = `${promised.size} events in the log; ${sum((one) => one.recordsCopied)} were copied by recoveries, ${sum((one) => one.tornBytes)} bytes were torn`;
  checks.step({ name: "killed in mid-load (SIGKILL)", count: kills });
  checks.step({ name: FOUND_ONCE, count: acknowledged, value: lost, unit: "lost", message: found });
  checks.step({ name: "recovery, slowest", count: kills, value: rounded(slowest), unit: "ms" });
  return atLastKill;
}

/** Resolves with the number of events that were acknowledged. */
async function killOnce(rounds: Rounds, round: number): Promise<number> {
  const { context, plan, random, promised, dir } = rounds;
  let acknowledged = 0;
  await killRound(context, { store: "journal", dir, round, random }, ({ number, count, sequence }) => {
    acknowledged += count;
    for (let i = 0; i < count; i++) promised.set(number + i * plan.writers, sequence + i);
  });
  return acknowledged;
}

/** Recovers the log and compares all of it; what it serves now is promised, acknowledged or not. */
async function reopen(rounds: Rounds): Promise<Comparison> {
  const { context, source, plan, dir, promised, recoveries } = rounds;
  const journal = await context.openJournal({ dir, host: context.host, segmentBytes: KILLED_SEGMENT_BYTES });
  try {
    recoveries.push(journal.recovery);
    const comparison = new Comparison(source, plan);
    for await (const records of journal.scan({ signal: context.signal }).batches()) {
      for (const record of records) comparison.see(record);
    }
    comparison.finish(promised);
    for (const [number, sequence] of comparison.seen) promised.set(number, sequence);
    return comparison;
  } finally {
    await journal.close();
  }
}
