import {
  alternate,
  assertCount,
  distribution,
  goal,
  median,
  medianRatio,
  payloadSeed,
  seededRecords,
  shape,
  variation,
} from "@ehdb/harness";
import type { Bench, BenchContext, BySize, Result } from "@ehdb/harness";
import { copyLoop } from "@ehdb/harness/floors";
import type { CallFigure } from "@ehdb/harness/floors";
import type { Journal } from "@ehdb/journal";
import { assertHolds, withJournal } from "./stage.ts";

const recordBytes = 256;
const group = 64;
const calls: BySize<number> = { tiny: 50_048, small: 300_032, full: 1_000_000 };

/** The call of `append` alone, in groups, with a garbage collection inside. */
export const appendCall: Bench = {
  name: "journal.append.call",
  results: ["journal.append.call"],
  async run(context: BenchContext): Promise<Result[]> {
    const records = seededRecords(payloadSeed, 1024, recordBytes);
    const count = calls[context.size];
    const figures = await alternate<CallFigure>(
      [
        {
          name: "journal",
          round: () => withJournal(context, { durability: "async" }, (journal) => timedCalls(journal, records, count)),
        },
        { name: "floor", round: async () => copyLoop(records, count, group) },
      ],
      context.rounds,
    );
    const [ours, floor] = ["journal", "floor"].map((name) => figures.get(name) ?? []) as [CallFigure[], CallFigure[]];
    const medians = (of: readonly CallFigure[]): number[] => of.map(({ nanosPerCall }) => median(nanosPerCall));
    const { n, ...spread } = distribution(ours.flatMap(({ nanosPerCall }) => [...nanosPerCall]));
    const [value, floorValue] = [median(medians(ours)), median(medians(floor))];
    const ratio = medianRatio(medians(ours), medians(floor));
    const rate = median(ours.map(({ perSecond }) => perSecond));
    const floorRate = median(floor.map(({ perSecond }) => perSecond));
    return [
      {
        name: "journal.append.call",
        value,
        unit: "ns a call (less is better)",
        n: n * group,
        ...spread,
        floor: floorValue,
        floorRatio: ratio,
        variation: variation(medians(ours)),
        note: `${n} groups of ${group}; the garbage collection counted, calls alone ${Math.round(rate)}/s, the floor's ${Math.round(floorRate)}/s`,
        verdicts: [
          goal(`p50 ${value.toFixed(0)} ns <= 200 ns a call`, value <= 200),
          goal(`p99 of groups ${spread.p99.toFixed(0)} ns <= 1 000 ns a call`, spread.p99 <= 1000),
          shape(`p50 is ${ratio.toFixed(2)} <= 5 x the bare copy's`, ratio <= 5),
        ],
      },
    ];
  },
};

async function timedCalls(journal: Journal, records: readonly Uint8Array[], count: number): Promise<CallFigure> {
  const nanosPerCall = new Float64Array(Math.floor(count / group));
  let [sequence, total] = [0, 0];
  for (let g = 0; g < nanosPerCall.length; g++) {
    await journal.ready(group * (recordBytes + 8));
    const start = process.hrtime.bigint();
    if (g === nanosPerCall.length >> 1) globalThis.gc?.();
    for (let i = 0; i < group; i++) sequence = journal.append(records[(g * group + i) % records.length] as Uint8Array);
    const nanos = Number(process.hrtime.bigint() - start);
    total += nanos;
    nanosPerCall[g] = nanos / group;
  }
  assertCount("the last sequence appended", sequence, nanosPerCall.length * group);
  await journal.flush();
  await assertHolds(journal, records, sequence);
  return { nanosPerCall, perSecond: (sequence * 1e9) / total };
}
