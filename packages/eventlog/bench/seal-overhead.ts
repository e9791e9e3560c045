import { alternate, goal, inFlightOf, median, medianRatio, shape, variation } from "@ehdb/harness";
import { MIB } from "@ehdb/contracts";
import type { Bench, BenchContext, BySize, Result } from "@ehdb/harness";
import { benchEvents, withLog } from "./stage.ts";
import type { BenchEvent, Options } from "./stage.ts";

interface Comparison {
  readonly name: string;
  readonly inFlight: number;
  readonly counts: BySize<number>;
  readonly often: Options;
  readonly seldom: Options;
  readonly what: string;
}

const comparisons: readonly Comparison[] = [
  {
    name: "eventlog.seal.overhead.1",
    inFlight: 1,
    counts: { tiny: 1000, small: 4000, full: 12_000 },
    // About 16 KiB of events.
    often: { sealMaxCommits: 36 },
    seldom: {},
    what: "generations of 16 KiB against 8 MiB, one in flight",
  },
  {
    name: "eventlog.seal.overhead.64",
    inFlight: 64,
    counts: { tiny: 40_000, small: 160_000, full: 400_000 },
    often: {},
    seldom: { sealMaxBytes: 64 * MIB, sealMaxCommits: 2 ** 24 },
    what: "generations of 8 MiB against 64 MiB, 64 in flight",
  },
];

/** What seals cost the appends beside them, parts included. */
export const sealOverhead: Bench = {
  name: "eventlog.seal.overhead",
  results: comparisons.map(({ name }) => name),
  async run(context: BenchContext): Promise<Result[]> {
    const events = benchEvents(4096);
    const results: Result[] = [];
    for (const { name, inFlight, counts, often, seldom, what } of comparisons) {
      if (!context.wants(name)) continue;
      const count = counts[context.size];
      const run = (options: Options) => (): Promise<number> => rate(context, events, count, inFlight, options);
      const figures = await alternate(
        [
          { name: "often", round: run(often) },
          { name: "seldom", round: run(seldom) },
        ],
        context.rounds,
      );
      const [rates, base] = [figures.get("often") ?? [], figures.get("seldom") ?? []];
      const overhead = 1 / medianRatio(rates, base) - 1;
      results.push({
        name,
        value: 100 * overhead,
        unit: "% more time (less is better)",
        n: count * context.rounds,
        variation: variation(rates),
        note: `${what}: ${Math.round(median(rates))}/s and ${Math.round(median(base))}/s`,
        verdicts: [
          goal(`${(100 * overhead).toFixed(0)}% <= 10%`, overhead <= 0.1),
          shape(`${(100 * overhead).toFixed(0)}% <= 150%`, overhead <= 1.5),
        ],
      });
    }
    return results;
  },
};

async function rate(
  context: BenchContext,
  events: readonly BenchEvent[],
  count: number,
  inFlight: number,
  options: Options,
): Promise<number> {
  return await withLog(context, options, async (log) => {
    const start = performance.now();
    await inFlightOf(inFlight, count, (index) => {
      const { stream, event } = events[index % events.length] as BenchEvent;
      return log.append(stream, event);
    });
    return (count * 1000) / (performance.now() - start);
  });
}
