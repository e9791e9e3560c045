import { alternate, goal, growthExponent, median, medianRatio, shape } from "@ehdb/harness";
import type { Bench, BenchContext, BySize, Result } from "@ehdb/harness";
import { drained, growthOf, listed } from "./drain.ts";
import { withBacklog } from "./stage.ts";

const backlogs: BySize<readonly number[]> = {
  tiny: [5000, 20_000, 80_000],
  small: [15_000, 60_000, 250_000],
  full: [60_000, 250_000, 1_000_000],
};
const limit = 256;
/** So many fetches lie between a message and its acknowledgement: 10 240 messages in flight. */
const later = 40;

/** A consumer that acknowledges late, with many in flight, beside one that does so at once. */
export const lazy: Bench = {
  name: "feed.ack.lazy",
  results: ["feed.ack.lazy"],
  async run(context: BenchContext): Promise<Result[]> {
    const sizes = backlogs[context.size];
    const most = sizes.at(-1) as number;
    return await withBacklog(context, most, async (stage) => {
      const costs = await growthOf(context, stage, sizes, (size) => drained(stage, size, limit, most, later));
      const exponent = growthExponent(costs);
      const figures = await alternate(
        [
          { name: "lazy", round: () => drained(stage, most, limit, most, later) },
          { name: "prompt", round: () => drained(stage, most, limit, most) },
        ],
        context.rounds,
      );
      const [lazily, promptly] = [figures.get("lazy") ?? [], figures.get("prompt") ?? []];
      const ratio = medianRatio(promptly, lazily);
      return [
        {
          name: "feed.ack.lazy",
          value: ratio,
          unit: "x the time of a prompt consumer (less is better)",
          n: most * context.rounds,
          exponent,
          note: `${Math.round(median(lazily))}/s with ${limit * later} in flight, ${Math.round(median(promptly))}/s promptly; ${listed(costs)}`,
          verdicts: [
            goal(`${ratio.toFixed(2)} <= 1.1 x`, ratio <= 1.1),
            goal(`grows by ${exponent.toFixed(3)} <= 1.05`, exponent <= 1.05),
            shape(`${ratio.toFixed(2)} <= 2.2 x`, ratio <= 2.2),
            shape(`grows by ${exponent.toFixed(3)} <= 1.25`, exponent <= 1.25),
          ],
        },
      ];
    });
  },
};
