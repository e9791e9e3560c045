import {
  alternate,
  assertCount,
  distribution,
  goal,
  inFlightOf,
  median,
  medianRatio,
  shape,
  variation,
  withDirectory,
} from "@ehdb/harness";
import type { Bench, BenchContext, BySize, Contender, Result, Verdict } from "@ehdb/harness";
import { groupCommit } from "@ehdb/harness/floors";
import type { LatencyFigure } from "@ehdb/harness/floors";
import { peerAppends, peers } from "@ehdb/harness/peers";
import { join } from "node:path";
import { assertHolds, benchEvents, unsealed, withLog } from "./stage.ts";
import type { BenchEvent } from "./stage.ts";

interface Load {
  readonly inFlight: number;
  readonly counts: BySize<number>;
  /** Of the floor: what the goal asks for. */
  readonly wanted: number;
  /** How many of the appends a peer does; without it none is asked. */
  readonly peerShare?: number;
}

const loads: readonly Load[] = [
  { inFlight: 1, counts: { tiny: 400, small: 1500, full: 4000 }, wanted: 1 / 1.15, peerShare: 0.5 },
  { inFlight: 8, counts: { tiny: 2400, small: 12_000, full: 32_000 }, wanted: 0.6 },
  { inFlight: 64, counts: { tiny: 16_384, small: 65_536, full: 131_072 }, wanted: 0.6, peerShare: 0.1 },
  { inFlight: 1024, counts: { tiny: 32_768, small: 131_072, full: 262_144 }, wanted: 0.6 },
];

/** Appends of one event each, so many callers each waiting for its own before the next, over many streams. */
export const append: Bench = {
  name: "eventlog.append",
  results: loads.map(({ inFlight }) => nameOf(inFlight)),
  async run(context: BenchContext): Promise<Result[]> {
    const events = benchEvents(4096);
    const results: Result[] = [];
    for (const load of loads) {
      if (context.wants(nameOf(load.inFlight))) results.push(await measure(context, events, load, results.at(-1)));
    }
    return results;
  },
};

async function measure(
  context: BenchContext,
  events: readonly BenchEvent[],
  { inFlight, counts, wanted, peerShare }: Load,
  smaller: Result | undefined,
): Promise<Result> {
  const count = counts[context.size];
  const records = events.map(({ json }) => json);
  const besides = peerShare === undefined ? [] : peers.filter(({ concurrent }) => inFlight === 1 || concurrent);
  const contenders: Contender<LatencyFigure>[] = [
    { name: "eventlog", round: () => withLog(context, unsealed, (log) => appends(log, events, count, inFlight)) },
    {
      name: "floor",
      round: () =>
        withDirectory(context.directory, (directory) =>
          groupCommit(join(directory, "floor"), records, count, inFlight, (index) => encoded(events, index)),
        ),
    },
    ...besides.map((kind) => ({
      name: kind.name,
      round: async (): Promise<LatencyFigure> => {
        const work = { directory: context.directory, records, count: Math.ceil(count * (peerShare ?? 1)) };
        return { perSecond: await peerAppends(kind, work, inFlight), millis: new Float64Array() };
      },
    })),
  ];
  const figures = await alternate(contenders, context.rounds);
  const rates = (name: string): number[] => (figures.get(name) ?? []).map(({ perSecond }) => perSecond);
  const { n: _, ...spread } = distribution((figures.get("eventlog") ?? []).flatMap(({ millis }) => [...millis]));
  const value = median(rates("eventlog"));
  const ratio = medianRatio(rates("eventlog"), rates("floor"));
  const ratios = besides.map(({ name }) => [name, medianRatio(rates("eventlog"), rates(name))] as const);
  const verdicts: Verdict[] = [
    goal(`${ratio.toFixed(2)} >= ${wanted.toFixed(2)} x the floor`, ratio >= wanted),
    shape(`${ratio.toFixed(2)} >= ${(wanted / 2).toFixed(2)} x the floor`, ratio >= wanted / 2),
  ];
  if (smaller !== undefined)
    verdicts.push(shape(`not slower than ${smaller.name} by more than 25%`, value >= smaller.value * 0.75));
  return {
    name: nameOf(inFlight),
    value,
    unit: "appends/s (more is better); ms",
    n: count * context.rounds,
    ...spread,
    floor: median(rates("floor")),
    floorRatio: ratio,
    ...(besides.length === 0
      ? {}
      : {
          peers: Object.fromEntries(besides.map(({ name }) => [name, median(rates(name))])),
          peerRatio: Object.fromEntries(ratios),
        }),
    variation: variation(rates("eventlog")),
    note: "within one generation; the floor counts JSON.stringify and encoding, the peers get bytes that are ready",
    verdicts,
  };
}

async function appends(
  log: Parameters<typeof assertHolds>[0],
  events: readonly BenchEvent[],
  count: number,
  inFlight: number,
): Promise<LatencyFigure> {
  const start = performance.now();
  const millis = await inFlightOf(inFlight, count, (index) => {
    const { stream, event } = events[index % events.length] as BenchEvent;
    return log.append(stream, event);
  });
  assertCount("the log's position", log.position, count);
  const perSecond = (count * 1000) / (performance.now() - start);
  await assertHolds(log, events, count);
  return { perSecond, millis };
}

function encoded(events: readonly BenchEvent[], index: number): Uint8Array {
  const { stream, event } = events[index % events.length] as BenchEvent;
  return Buffer.from(JSON.stringify({ stream, ...event }));
}

function nameOf(inFlight: number): string {
  return `eventlog.append.${inFlight}`;
}
