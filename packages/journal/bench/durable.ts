import {
  alternate,
  assertCount,
  distribution,
  goal,
  median,
  medianRatio,
  payloadSeed,
  seededPayloads,
  shape,
  variation,
  withDirectory,
} from "@ehdb/harness";
import type { Bench, BenchContext, BySize, Contender, Result, Verdict } from "@ehdb/harness";
import { groupCommit, writeAndSync } from "@ehdb/harness/floors";
import type { LatencyFigure } from "@ehdb/harness/floors";
import { peerAppends, peers } from "@ehdb/harness/peers";
import type { Journal } from "@ehdb/journal";
import { join } from "node:path";
import { assertHolds, withJournal } from "./stage.ts";

interface Load {
  readonly inFlight: number;
  readonly counts: BySize<number>;
  /** Beside peers, which do so much less in number: the slow ones would take minutes. */
  readonly peerShare?: number;
}

const loads: readonly Load[] = [
  { inFlight: 1, counts: { tiny: 400, small: 1500, full: 4000 }, peerShare: 0.5 },
  { inFlight: 8, counts: { tiny: 2400, small: 12_000, full: 32_000 } },
  { inFlight: 64, counts: { tiny: 16_000, small: 64_000, full: 192_000 }, peerShare: 0.1 },
  { inFlight: 1024, counts: { tiny: 61_440, small: 204_800, full: 512_000 } },
];

/** Durable appends of events, so many callers each waiting for its own before the next. */
export const durable: Bench = {
  name: "journal.durable",
  results: loads.map(({ inFlight }) => nameOf(inFlight)),
  async run(context: BenchContext): Promise<Result[]> {
    const records = seededPayloads(payloadSeed, 4096);
    const results: Result[] = [];
    for (const load of loads) {
      if (context.wants(nameOf(load.inFlight))) results.push(await measure(context, records, load, results.at(-1)));
    }
    return results;
  },
};

async function measure(
  context: BenchContext,
  records: readonly Uint8Array[],
  load: Load,
  smaller: Result | undefined,
): Promise<Result> {
  const { inFlight, peerShare } = load;
  const count = load.counts[context.size];
  const besides = peerShare === undefined ? [] : peers.filter(({ concurrent }) => inFlight === 1 || concurrent);
  const peerCount = Math.ceil(count * (peerShare ?? 1));
  const contenders: Contender<LatencyFigure>[] = [
    { name: "journal", round: () => withJournal(context, {}, (journal) => appends(journal, records, count, inFlight)) },
    {
      name: "floor",
      round: () =>
        withDirectory(context.directory, (directory) => floorOf(join(directory, "floor"), records, count, inFlight)),
    },
    ...besides.map((kind) => ({
      name: kind.name,
      round: async (): Promise<LatencyFigure> => {
        const work = { directory: context.directory, records, count: peerCount };
        return { perSecond: await peerAppends(kind, work, inFlight), millis: new Float64Array() };
      },
    })),
  ];
  const figures = await alternate(contenders, context.rounds);
  const rates = (name: string): number[] => (figures.get(name) ?? []).map(({ perSecond }) => perSecond);
  const spreadOf = (name: string): ReturnType<typeof distribution> =>
    distribution((figures.get(name) ?? []).flatMap(({ millis }) => [...millis]));
  const { n: _, ...spread } = spreadOf("journal");
  const [value, floor] = [median(rates("journal")), median(rates("floor"))];
  const peerRates = Object.fromEntries(besides.map(({ name }) => [name, median(rates(name))]));
  const ratios = Object.fromEntries(besides.map(({ name }) => [name, medianRatio(rates("journal"), rates(name))]));
  const ratio = medianRatio(rates("journal"), rates("floor"));
  const floorSpread = spreadOf("floor");
  const verdicts = [...claims(inFlight, ratio, ratios), middleClaim(inFlight, spread.p50 / floorSpread.p50)];
  if (inFlight === 1) verdicts.push(tailClaim(spread, floorSpread));
  if (smaller !== undefined)
    verdicts.push(shape(`not slower than ${smaller.name} by more than 25%`, value >= smaller.value * 0.75));
  return {
    name: nameOf(inFlight),
    value,
    unit: "appends/s (more is better); ms",
    n: count * context.rounds,
    ...spread,
    floor,
    floorRatio: ratio,
    ...(besides.length === 0 ? {} : { peers: peerRates, peerRatio: ratios }),
    variation: variation(rates("journal")),
    verdicts,
  };
}

function claims(inFlight: number, ratio: number, peerRatios: Readonly<Record<string, number>>): Verdict[] {
  const wanted = wantedRatio(inFlight);
  const verdicts: Verdict[] = [];
  if (inFlight !== 8) verdicts.push(goal(`${ratio.toFixed(2)} >= ${wanted.toFixed(2)} x the floor`, ratio >= wanted));
  const { lmdb, "better-sqlite3": sqlite } = peerRatios;
  if (inFlight === 64 && lmdb !== undefined) verdicts.push(goal(`${lmdb.toFixed(2)} >= 1.5 x lmdb`, lmdb >= 1.5));
  if (inFlight === 1 && sqlite !== undefined)
    verdicts.push(goal(`${sqlite.toFixed(2)} >= 0.85 x better-sqlite3, with the loop free`, sqlite >= 0.85));
  return verdicts;
}

function wantedRatio(inFlight: number): number {
  return inFlight === 1 ? 1 / 1.15 : 0.6;
}

/** The middle decides: another process's syncs fall into the tails of both, not evenly. */
function middleClaim(inFlight: number, ratio: number): Verdict {
  const most = 2 / wantedRatio(inFlight);
  return shape(`p50 is ${ratio.toFixed(2)} <= ${most.toFixed(2)} x the floor's`, ratio <= most);
}

function tailClaim(ours: { p50: number; p99: number }, floor: { p50: number; p99: number }): Verdict {
  const [ratio, allowed] = [ours.p99 / ours.p50, Math.max(2, floor.p99 / floor.p50)];
  return goal(
    `p99 is ${ratio.toFixed(1)} x p50, <= ${allowed.toFixed(1)} (2, or the floor's own ratio)`,
    ratio <= allowed,
  );
}

async function appends(
  journal: Journal,
  records: readonly Uint8Array[],
  count: number,
  inFlight: number,
): Promise<LatencyFigure> {
  const millis = new Float64Array(count);
  let [next, done] = [0, 0];
  const caller = async (): Promise<void> => {
    while (next < count) {
      const index = next++;
      const start = performance.now();
      await journal.appendDurable(records[index % records.length] as Uint8Array);
      millis[index] = performance.now() - start;
      done++;
    }
  };
  const start = performance.now();
  await Promise.all(Array.from({ length: inFlight }, caller));
  assertCount("appends that were acknowledged", done, count);
  assertCount("the durable sequence", journal.cursors.durable, count);
  const perSecond = (count * 1000) / (performance.now() - start);
  await assertHolds(journal, records, count);
  return { perSecond, millis };
}

function floorOf(
  path: string,
  records: readonly Uint8Array[],
  count: number,
  inFlight: number,
): Promise<LatencyFigure> {
  return inFlight === 1 ? writeAndSync(path, records, count) : groupCommit(path, records, count, inFlight);
}

function nameOf(inFlight: number): string {
  return `journal.durable.${inFlight}`;
}
