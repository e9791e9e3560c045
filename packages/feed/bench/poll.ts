import { assertCount, goal, growthExponent, median, shape } from "@ehdb/harness";
import type { Bench, BenchContext, BySize, Result, SizedCost } from "@ehdb/harness";
import type { ConsumerGroup } from "@ehdb/feed";
import { groupOver, withBacklog } from "./stage.ts";

const sizes = [1000, 10_000, 100_000];
const polls: BySize<number> = { tiny: 500, small: 2000, full: 5000 };

/** What a fetch of one message costs, and one that finds nothing, with more and more in flight that nobody has acknowledged. */
export const poll: Bench = {
  name: "feed.poll.inflight",
  results: ["feed.poll.inflight.growth"],
  async run(context: BenchContext): Promise<Result[]> {
    const times = polls[context.size];
    const rounds: { fetches: SizedCost[]; empty: SizedCost[] }[] = [];
    const most = sizes.at(-1) as number;
    const backlog = most + times;
    await withBacklog(context, backlog, async (stage) => {
      for (let round = -1; round < context.rounds; round++) {
        const figures: (typeof rounds)[number] = { fetches: [], empty: [] };
        for (const size of sizes) {
          const group = await groupOver(stage, size + times, backlog, { maxInFlight: 1_000_000 });
          await hold(group, size);
          const fetches = await millisOf(times, 1, () => group.fetch({ member: "m", limit: 1 }));
          assertCount("in flight", (await group.info()).inFlight, size + times);
          const empty = await millisOf(times, 0, () => group.fetch({ member: "m", limit: 1 }));
          figures.fetches.push({ size, cost: fetches });
          figures.empty.push({ size, cost: empty });
          await group.seek("end");
        }
        // The first one only warms.
        if (round >= 0) rounds.push(figures);
      }
    });
    return [resultOf(rounds, times)];
  },
};

async function hold(group: ConsumerGroup<unknown>, count: number): Promise<void> {
  for (let held = 0; held < count;)
    held += (await group.fetch({ member: "m", limit: Math.min(1000, count - held) })).length;
}

/** Milliseconds of each of so many fetches, which give so many messages each. */
async function millisOf(times: number, each: number, fetch: () => Promise<readonly unknown[]>): Promise<number> {
  const start = performance.now();
  for (let i = 0; i < times; i++) assertCount("messages of a fetch", (await fetch()).length, each);
  return (performance.now() - start) / times;
}

function resultOf(
  rounds: readonly { readonly fetches: readonly SizedCost[]; readonly empty: readonly SizedCost[] }[],
  times: number,
): Result {
  const medians = (of: (round: (typeof rounds)[number]) => readonly SizedCost[]): SizedCost[] =>
    sizes.map((size, place) => ({ size, cost: median(rounds.map((round) => of(round)[place]?.cost ?? NaN)) }));
  const [fetches, empty] = [medians(({ fetches }) => fetches), medians(({ empty }) => empty)];
  const exponents = [growthExponent(fetches), growthExponent(empty)];
  const exponent = Math.max(...exponents);
  const micros = (costs: readonly SizedCost[]): string =>
    costs.map(({ size, cost }) => `${(cost * 1000).toFixed(1)} us at ${size}`).join(", ");
  return {
    name: "feed.poll.inflight.growth",
    value: (fetches.at(-1)?.cost ?? NaN) * 1000,
    unit: "us a fetch of one message with 100 000 in flight (less is better)",
    n: times * rounds.length,
    exponent,
    note: `one message: ${micros(fetches)}; none there: ${micros(empty)}`,
    verdicts: [
      goal(`grows by ${exponent.toFixed(3)} <= 0.1`, exponent <= 0.1),
      shape(`grows by ${exponent.toFixed(3)} <= 0.4`, exponent <= 0.4),
    ],
  };
}
