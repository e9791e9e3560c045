import { distribution, goal, median, shape } from "@ehdb/harness";
import { monitorEventLoopDelay } from "node:perf_hooks";
import type { Bench, BenchContext, BySize, Result } from "@ehdb/harness";
import { MIB } from "@ehdb/contracts";
import { benchEvents, fill, withLog } from "./stage.ts";

const counts: BySize<number> = { tiny: 60_000, small: 300_000, full: 1_000_000 };

/** How late timers are with 1 000 and more appends in flight and seals running, beside an idle loop. */
export const loopDelay: Bench = {
  name: "eventlog.loop.delay",
  results: ["eventlog.loop.delay"],
  async run(context: BenchContext): Promise<Result[]> {
    const events = benchEvents(4096);
    const idle = (await delays(() => new Promise((resolve) => setTimeout(resolve, 500)))).p99;
    const loads: { p50: number; p99: number; max: number }[] = [];
    for (let round = 0; round < context.rounds; round++) {
      loads.push(
        await withLog(context, { sealMaxBytes: 4 * MIB }, (log) =>
          delays(() => fill(log, events, counts[context.size])),
        ),
      );
    }
    const p99 = median(loads.map((load) => load.p99));
    return [
      {
        name: "eventlog.loop.delay",
        value: p99 - idle,
        unit: "ms above an idle loop's, p99 (less is better)",
        n: counts[context.size] * context.rounds,
        max: distribution(loads.map((load) => load.max)).max,
        note: `idle p99 ${idle.toFixed(2)} ms, under load p50 ${median(loads.map((load) => load.p50)).toFixed(2)}, p99 ${p99.toFixed(2)} ms; 1 024 in flight, seals of 4 MiB`,
        verdicts: [
          goal(`${(p99 - idle).toFixed(2)} ms <= 5 ms`, p99 - idle <= 5),
          shape(`${(p99 - idle).toFixed(2)} ms <= 50 ms`, p99 - idle <= 50),
        ],
      },
    ];
  },
};

async function delays(work: () => Promise<void>): Promise<{ p50: number; p99: number; max: number }> {
  const histogram = monitorEventLoopDelay({ resolution: 1 });
  histogram.enable();
  await work();
  histogram.disable();
  const millis = (nanos: number): number => nanos / 1e6;
  return { p50: millis(histogram.percentile(50)), p99: millis(histogram.percentile(99)), max: millis(histogram.max) };
}
