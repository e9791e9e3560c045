import { alternate, distribution, goal, median, payloadSeed, seededRecords, shape } from "@ehdb/harness";
import type { Bench, BenchContext, BySize, Distribution, Result } from "@ehdb/harness";
import { copyLoop } from "@ehdb/harness/floors";
import { assertHolds, withJournal } from "./stage.ts";

const kib = 1024;
const sizes = [0, 64, 255, 256, 257, kib, 4 * kib, 16 * kib, 64 * kib, 256 * kib, 512 * kib];
const mostCalls: BySize<number> = { tiny: 1500, small: 10_000, full: 30_000 };
const leastCalls: BySize<number> = { tiny: 32, small: 64, full: 256 };
const bytesASize: BySize<number> = { tiny: 2 ** 22, small: 2 ** 25, full: 2 ** 26 };

interface SizeFigure extends Distribution {
  readonly bytes: number;
}

/** One call at each size of a record: no size may cost more than its bytes do. */
export const appendSize: Bench = {
  name: "journal.append.size",
  results: ["journal.append.size"],
  async run(context: BenchContext): Promise<Result[]> {
    const ours: SizeFigure[] = [];
    const floors: SizeFigure[] = [];
    for (const bytes of sizes) {
      const [journal, floor] = await measureSize(context, bytes);
      ours.push({ bytes, ...journal });
      floors.push({ bytes, ...floor });
    }
    const worst = largestStep(ours, ({ p999 }) => p999);
    const worstMiddle = largestStep(ours, ({ p50 }) => p50);
    const pastInline = largestStep(
      ours.filter(({ bytes }) => bytes >= 255 && bytes <= 257),
      ({ p50 }) => p50,
    );
    const rows = ours.map(({ bytes, ...spread }, index): Result => {
      const floor = (floors[index] as SizeFigure).p50;
      return {
        name: `journal.append.size.${bytes}`,
        value: spread.p50,
        unit: "ns a call (less is better)",
        ...spread,
        floor,
        floorRatio: spread.p50 / floor,
      };
    });
    const verdicts = [
      goal(
        `p99.9 has no jump: the largest step is ${worst.step.toFixed(1)} x its bytes, from ${worst.from} to ${worst.to} B`,
        worst.step <= 4,
      ),
      goal(
        `p50 has no jump: the largest step is ${worstMiddle.step.toFixed(1)} x its bytes, from ${worstMiddle.from} to ${worstMiddle.to} B`,
        worstMiddle.step <= 4,
      ),
      shape(`p50 has no jump at 256 B: ${pastInline.step.toFixed(1)} x`, pastInline.step <= 3),
    ];
    const n = ours.reduce((sum, each) => sum + each.n, 0);
    return [
      {
        name: "journal.append.size",
        value: worst.step,
        unit: "x, largest step of p99.9 (less is better)",
        n,
        verdicts,
      },
      ...rows,
    ];
  },
};

async function measureSize(context: BenchContext, bytes: number): Promise<[Distribution, Distribution]> {
  const { size } = context;
  const calls = Math.max(leastCalls[size], Math.min(mostCalls[size], Math.floor(bytesASize[size] / (bytes + 1))));
  const records = seededRecords(payloadSeed, bytes > 4096 ? 4 : 256, bytes);
  const ours = (): Promise<Float64Array> =>
    withJournal(context, { durability: "async" }, async (journal) => {
      const nanos = new Float64Array(calls);
      for (let i = 0; i < calls; i++) {
        const record = records[i % records.length] as Uint8Array;
        await journal.ready(bytes);
        const start = process.hrtime.bigint();
        journal.append(record);
        nanos[i] = Number(process.hrtime.bigint() - start);
      }
      await journal.flush();
      await assertHolds(journal, records, calls);
      return nanos;
    });
  const floor = async (): Promise<Float64Array> => copyLoop(records, calls, 1).nanosPerCall;
  const figures = await alternate(
    [
      { name: "journal", round: ours },
      { name: "floor", round: floor },
    ],
    context.rounds,
  );
  const spread = (name: string): Distribution => {
    const rounds = (figures.get(name) ?? []).map((nanos) => distribution(nanos));
    const middle = (of: (round: Distribution) => number): number => median(rounds.map(of));
    // The median of the rounds' percentiles: a stall of the machine in one round isn't the size's.
    return {
      n: calls * rounds.length,
      p50: middle(({ p50 }) => p50),
      p90: middle(({ p90 }) => p90),
      p95: middle(({ p95 }) => p95),
      p99: middle(({ p99 }) => p99),
      p999: middle(({ p999 }) => p999),
      max: middle(({ max }) => max),
    };
  };
  return [spread("journal"), spread("floor")];
}

/** The largest growth from one size to the next beyond the growth of the bytes (from 256 B on; below, a call costs more than its bytes). */
function largestStep(
  figures: readonly SizeFigure[],
  of: (figure: SizeFigure) => number,
): { step: number; from: number; to: number } {
  let largest = { step: 0, from: 0, to: 0 };
  for (const [index, figure] of figures.entries()) {
    const before = figures[index - 1];
    if (before === undefined) continue;
    const bytes = Math.max(figure.bytes, 256) / Math.max(before.bytes, 256);
    const step = of(figure) / of(before) / bytes;
    if (step > largest.step) largest = { step, from: before.bytes, to: figure.bytes };
  }
  return largest;
}
