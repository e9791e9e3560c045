import {
  alternate,
  assertCount,
  assertWork,
  goal,
  growthExponent,
  median,
  medianRatio,
  shape,
  variation,
} from "@ehdb/harness";
import type { Bench, BenchContext, BySize, Result, SizedCost } from "@ehdb/harness";
import { drain, expectedOf, groupOver, scan, withBacklog } from "./stage.ts";
import type { Stage } from "./stage.ts";

const counts: BySize<number> = { tiny: 150_000, small: 250_000, full: 1_000_000 };
const wanted = [
  { limit: 1, perSecond: 300_000 },
  { limit: 256, perSecond: 1_200_000 },
  { limit: 1024, perSecond: 2_000_000 },
];
const jetStream =
  "JetStream 2.9's pull consumer on such a machine, a server of its own, not synced: 290 000/s without acknowledgements, 85 000 to 97 000/s with";

/** A backlog through a consumer group: fetches of so many, each message acknowledged by itself, all of that durable at the end. */
export const drainBench: Bench = {
  name: "feed.drain",
  results: wanted.map(({ limit }) => nameOf(limit)),
  async run(context: BenchContext): Promise<Result[]> {
    const count = counts[context.size];
    return await withBacklog(context, count, async (stage) => {
      const figures = await alternate(
        [
          ...wanted.map(({ limit }) => ({ name: nameOf(limit), round: () => drained(stage, count, limit) })),
          { name: "scan", round: () => scanned(stage, count) },
        ],
        context.rounds,
      );
      const results: Result[] = [];
      for (const { limit, perSecond } of wanted)
        results.push(resultOf(figures, { limit, perSecond, n: count * context.rounds }, results.at(-1)));
      return results;
    });
  },
};

const backlogs: BySize<readonly number[]> = {
  tiny: [2500, 10_000, 40_000],
  small: [15_000, 60_000, 250_000],
  full: [60_000, 250_000, 1_000_000],
};
const growthLimit = 256;

/** What draining costs as the backlog grows. */
export const drainGrowth: Bench = {
  name: "feed.drain.growth",
  results: ["feed.drain.growth"],
  async run(context: BenchContext): Promise<Result[]> {
    const sizes = backlogs[context.size];
    const most = sizes.at(-1) as number;
    return await withBacklog(context, most, async (stage) => {
      const costs = await growthOf(context, stage, sizes, (size) => drained(stage, size, growthLimit, most));
      const exponent = growthExponent(costs);
      return [
        {
          name: "feed.drain.growth",
          value: exponent,
          unit: "exponent of the time in the backlog (less is better)",
          n: sizes.length * context.rounds,
          exponent,
          note: `fetches of ${growthLimit}; ${listed(costs)}`,
          verdicts: [
            goal(`${exponent.toFixed(3)} <= 1.05`, exponent <= 1.05),
            shape(`${exponent.toFixed(3)} <= 1.25`, exponent <= 1.25),
          ],
        },
      ];
    });
  },
};

/** Medians of the seconds at each size. */
export async function growthOf(
  context: BenchContext,
  stage: Stage,
  sizes: readonly number[],
  perSecond: (size: number) => Promise<number>,
): Promise<SizedCost[]> {
  // Warm before the first figure.
  await perSecond(sizes[0] as number);
  await scan(stage);
  const contenders = sizes.map((size) => ({ name: String(size), round: () => perSecond(size) }));
  const figures = await alternate(contenders, context.rounds);
  return sizes.map((size) => ({ size, cost: size / median(figures.get(String(size)) ?? []) }));
}

export function listed(costs: readonly SizedCost[]): string {
  return costs.map(({ size, cost }) => `${(cost * 1000).toFixed(0)} ms at ${size}`).join(", ");
}

/** Messages a second. */
export async function drained(
  stage: Stage,
  count: number,
  limit: number,
  backlog = count,
  fetchesLater = 0,
): Promise<number> {
  const group = await groupOver(stage, count, backlog);
  const { seconds, proof } = await drain(group, limit, fetchesLater);
  assertWork("a drain", proof, expectedOf(count, backlog));
  const { committed, lag } = await group.info();
  assertCount("the committed place", committed, backlog);
  assertCount("the lag", lag, 0);
  return count / seconds;
}

async function scanned(stage: Stage, count: number): Promise<number> {
  const { seconds, proof } = await scan(stage);
  assertWork("a scan", proof, expectedOf(count, count));
  return count / seconds;
}

function resultOf(
  figures: ReadonlyMap<string, readonly number[]>,
  { limit, perSecond, n }: { readonly limit: number; readonly perSecond: number; readonly n: number },
  smaller: Result | undefined,
): Result {
  const name = nameOf(limit);
  const rates = [...(figures.get(name) ?? [])];
  const floor = [...(figures.get("scan") ?? [])];
  const value = median(rates);
  const verdicts = [goal(`${Math.round(value)} >= ${perSecond}/s`, value >= perSecond)];
  if (smaller !== undefined)
    verdicts.push(shape(`not slower than ${smaller.name} by more than 25%`, value >= smaller.value * 0.75));
  return {
    name,
    value,
    unit: "messages/s, acknowledged one by one, durable at the end (more is better)",
    n,
    floor: median(floor),
    floorRatio: medianRatio(rates, floor),
    variation: variation(rates),
    note: `the floor is a bare scan of the same records of 100 bytes; ${jetStream}`,
    verdicts,
  };
}

function nameOf(limit: number): string {
  return `feed.drain.${limit}`;
}
