import { distribution, goal, median, shape } from "@ehdb/harness";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import type { Bench, BenchContext, BySize, Result } from "@ehdb/harness";
import { MIB } from "@ehdb/contracts";
import { benchEvents, fill, withLog } from "./stage.ts";
import type { BenchEvent } from "./stage.ts";

const counts: BySize<number> = { tiny: 60_000, small: 300_000, full: 1_000_000 };
const mostFills = 10;
const blockMillis = 100;

interface Load {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
  readonly merges: number;
}

/**
 * How late timers are with 1 000 and more appends in flight, beside an idle loop: with seals of 4 MiB, and with many small ones that merges
 * follow. The control is a loop that somebody holds now and then.
 */
export const loopDelay: Bench = {
  name: "eventlog.loop.delay",
  results: ["eventlog.loop.delay", "eventlog.loop.delay.merges", "eventlog.loop.delay.control"],
  async run(context: BenchContext): Promise<Result[]> {
    const events = benchEvents(4096);
    const idle = (await delays(() => sleep(500))).p99;
    const [sealing, merging]: [Load[], Load[]] = [[], []];
    for (let round = 0; round < context.rounds; round++) {
      sealing.push(await filled(context, events, 4 * MIB, 0));
      merging.push(await filled(context, events, MIB, 2));
    }
    const held = await delays(holdTheLoop);
    return [
      row("eventlog.loop.delay", idle, sealing, counts[context.size], "seals of 4 MiB"),
      row("eventlog.loop.delay.merges", idle, merging, counts[context.size], "seals of 1 MiB"),
      {
        name: "eventlog.loop.delay.control",
        value: held.p99 - idle,
        unit: "ms above an idle loop's, p99",
        n: 1,
        max: held.max,
        control: true,
        note: `the loop is held for ${blockMillis} ms every ${blockMillis + 20} ms`,
        verdicts: [shape(`${(held.p99 - idle).toFixed(2)} ms >= 30 ms`, held.p99 - idle >= 30)],
      },
    ];
  },
};

function row(name: string, idle: number, loads: readonly Load[], count: number, what: string): Result {
  const p99 = median(loads.map((load) => load.p99));
  const merges = Math.min(...loads.map((load) => load.merges));
  const late = p99 - idle;
  return {
    name,
    value: late,
    unit: "ms above an idle loop's, p99 (less is better)",
    n: count * loads.length,
    max: distribution(loads.map((load) => load.max)).max,
    note: `idle p99 ${idle.toFixed(2)} ms, under load p50 ${median(loads.map((load) => load.p50)).toFixed(2)}, p99 ${p99.toFixed(2)} ms; 1 024 in flight, ${what}, ${merges} merges or more`,
    verdicts: [goal(`${late.toFixed(2)} ms <= 5 ms`, late <= 5), shape(`${late.toFixed(2)} ms <= 50 ms`, late <= 50)],
  };
}

/** Fills until so many merges have come to their end meanwhile. */
async function filled(
  context: BenchContext,
  events: readonly BenchEvent[],
  sealMaxBytes: number,
  leastMerges: number,
): Promise<Load> {
  return await withLog(context, { sealMaxBytes }, async (log) => {
    const mergesOf = (): number => log.engine.stats().merges;
    const count = counts[context.size];
    let merges = 0;
    const load = await delays(async () => {
      for (let fills = 0; fills < mostFills && (fills === 0 || merges < leastMerges); fills++) {
        await fill(log, events, count, fills * count);
        merges = mergesOf();
      }
    });
    if (merges < leastMerges) throw new Error(`${merges} merges ran beside ${mostFills * count} appends`);
    return { ...load, merges };
  });
}

async function holdTheLoop(): Promise<void> {
  for (let i = 0; i < 10; i++) {
    for (const end = performance.now() + blockMillis; performance.now() < end;);
    await sleep(20);
  }
}

async function delays(work: () => Promise<unknown>): Promise<Omit<Load, "merges">> {
  const histogram = monitorEventLoopDelay({ resolution: 1 });
  histogram.enable();
  await work();
  histogram.disable();
  const millis = (nanos: number): number => nanos / 1e6;
  return { p50: millis(histogram.percentile(50)), p99: millis(histogram.percentile(99)), max: millis(histogram.max) };
}
