import { goal, growthExponent, inFlightOf, median, shape, withDirectory } from "@ehdb/harness";
import type { Bench, BenchContext, BySize, Result, SizedCost } from "@ehdb/harness";
import { openEventLog } from "@ehdb/eventlog";
import { benchEvents, fill, withLog } from "./stage.ts";
import type { BenchEvent } from "./stage.ts";

const sizes: BySize<readonly number[]> = {
  tiny: [4096, 16_384, 65_536],
  small: [10_000, 50_000, 250_000],
  full: [10_000, 100_000, 1_000_000],
};
/** A generation, so that each size is measured at the same fill of the active one. */
const generation = 2048;
const sealed = { sealMaxCommits: generation };
/** Appends behind each size: some generations, so that seals are in the figure. */
const measured = 4 * generation;

/** What an append costs in a log that holds more and more. */
export const appendGrowth: Bench = {
  name: "eventlog.append.growth",
  results: ["eventlog.append.growth"],
  async run(context: BenchContext): Promise<Result[]> {
    const events = benchEvents(8192);
    const rounds: SizedCost[][] = [];
    for (let round = 0; round < context.rounds; round++) rounds.push(await appendCosts(context, events));
    const costs = mediansOf(rounds);
    const exponent = growthExponent(costs);
    return [
      {
        name: "eventlog.append.growth",
        value: costs.at(-1)?.cost ?? NaN,
        unit: "us an append at the largest size (less is better)",
        n: measured * context.rounds,
        exponent,
        note: `64 in flight, seals of ${generation} appends running; ${listed(costs, "us")}`,
        verdicts: [
          goal(`grows by ${exponent.toFixed(3)} <= 0.05`, exponent <= 0.05),
          shape(`grows by ${exponent.toFixed(3)} <= 0.25`, exponent <= 0.25),
        ],
      },
    ];
  },
};

async function appendCosts(context: BenchContext, events: readonly BenchEvent[]): Promise<SizedCost[]> {
  return await withLog(context, sealed, async (log) => {
    const costs: SizedCost[] = [];
    // Warm before the first figure.
    await fill(log, events, measured);
    for (const size of sizes[context.size]) {
      await fill(log, events, Math.max(0, size - log.position), log.position);
      const start = performance.now();
      await inFlightOf(64, measured, (index) => {
        const { stream, event } = events[index % events.length] as BenchEvent;
        return log.append(stream, event);
      });
      costs.push({ size, cost: ((performance.now() - start) * 1000) / measured });
    }
    return costs;
  });
}

/** What it costs to open a log, append one event and close it, in a log that holds more and more. */
export const openGrowth: Bench = {
  name: "eventlog.open.growth",
  results: ["eventlog.open.growth", "eventlog.open.fill"],
  async run(context: BenchContext): Promise<Result[]> {
    const events = benchEvents(8192);
    const costs: SizedCost[] = [];
    let fills: readonly [number, number] = [NaN, NaN];
    for (const size of sizes[context.size]) {
      await withDirectory(context.directory, async (parent) => {
        const dir = `${parent}/log`;
        const log = await openEventLog({ ...sealed, dir });
        await fill(log, events, Math.floor(size / generation) * generation);
        await log.close();
        costs.push({ size, cost: median(await opens(dir, events, 7)) });
        if (size === sizes[context.size].at(-1)) fills = await fullAndEmpty(dir, events);
      });
    }
    const exponent = growthExponent(costs);
    const [empty, full] = fills;
    return [
      {
        name: "eventlog.open.growth",
        value: costs.at(-1)?.cost ?? NaN,
        unit: "ms for open, append and close at the largest size (less is better)",
        n: 7 * costs.length,
        exponent,
        note: `an empty active generation; ${listed(costs, "ms")}`,
        verdicts: [
          goal(`grows by ${exponent.toFixed(3)} <= 0.05`, exponent <= 0.05),
          shape(`grows by ${exponent.toFixed(3)} <= 0.3`, exponent <= 0.3),
        ],
      },
      {
        name: "eventlog.open.fill",
        value: full / empty,
        unit: "x an empty generation's open with a full one of the default size, after a clean close (less is better)",
        n: 10,
        note: `${empty.toFixed(1)} ms empty, ${full.toFixed(1)} ms full`,
        verdicts: [goal(`${(full / empty).toFixed(2)} <= 2 x`, full / empty <= 2)],
      },
    ];
  },
};

/** Milliseconds of opens with an empty active generation, and with one that is nearly full. */
async function fullAndEmpty(dir: string, events: readonly BenchEvent[]): Promise<readonly [number, number]> {
  const empty = median(await opens(dir, events, 5));
  const log = await openEventLog({ dir });
  await fill(log, events, 16_000);
  await log.close();
  return [empty, median(await opens(dir, events, 5))];
}

async function opens(dir: string, events: readonly BenchEvent[], times: number): Promise<number[]> {
  const millis: number[] = [];
  for (let i = 0; i < times; i++) {
    const { stream, event } = events[i] as BenchEvent;
    const start = performance.now();
    const log = await openEventLog({ dir });
    await log.append(stream, event);
    await log.close();
    millis.push(performance.now() - start);
  }
  return millis;
}

function mediansOf(rounds: readonly (readonly SizedCost[])[]): SizedCost[] {
  return (rounds[0] ?? []).map(({ size }, i) => ({ size, cost: median(rounds.map((round) => round[i]?.cost ?? NaN)) }));
}

function listed(costs: readonly SizedCost[], unit: string): string {
  return costs.map(({ size, cost }) => `${cost.toFixed(1)} ${unit} at ${size}`).join(", ");
}
