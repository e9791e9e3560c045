import {
  alternate,
  assertCount,
  goal,
  median,
  medianRatio,
  payloadSeed,
  seededRecords,
  shape,
  variation,
  withDirectory,
} from "@ehdb/harness";
import type { Bench, BenchContext, BySize, Contender, Result } from "@ehdb/harness";
import { copyAndWrite } from "@ehdb/harness/floors";
import type { WriteFigure } from "@ehdb/harness/floors";
import { join } from "node:path";
import { assertHolds, withJournal } from "./stage.ts";

const recordBytes = 256;
const group = 512;
const counts: BySize<number> = { tiny: 50_176, small: 300_032, full: 1_000_448 };

/** Appends that are synced once, at the end: everything counted, the flush too. */
export const appendAsync: Bench = {
  name: "journal.append.async",
  results: ["journal.append.async"],
  async run(context: BenchContext): Promise<Result[]> {
    const records = seededRecords(payloadSeed, 1024, recordBytes);
    const count = counts[context.size];
    const ours = (): Promise<number> =>
      withJournal(context, { durability: "async" }, async (journal) => {
        const start = performance.now();
        for (let done = 0; done < count; done += group) {
          await journal.ready(group * (recordBytes + 8));
          for (let i = 0; i < group; i++) journal.append(records[(done + i) % records.length] as Uint8Array);
        }
        assertCount("the durable sequence", await journal.flush(), count);
        const perSecond = (count * 1000) / (performance.now() - start);
        await assertHolds(journal, records, count);
        return perSecond;
      });
    const floor = (): Promise<WriteFigure> =>
      withDirectory(context.directory, (directory) => copyAndWrite(join(directory, "floor"), records, count));
    const contenders: Contender<WriteFigure>[] = [
      { name: "journal", round: async () => ({ perSecond: await ours(), perSecondWithZeros: Number.NaN }) },
      { name: "floor", round: floor },
    ];
    const figures = await alternate(contenders, context.rounds);
    const rates = (figures.get("journal") ?? []).map(({ perSecond }) => perSecond);
    const floors = (figures.get("floor") ?? []).map(({ perSecond }) => perSecond);
    const filling = (figures.get("floor") ?? []).map(({ perSecondWithZeros }) => perSecondWithZeros);
    const [value, floorValue] = [median(rates), median(floors)];
    const [ratio, fillingRatio] = [medianRatio(rates, floors), medianRatio(rates, filling)];
    return [
      {
        name: "journal.append.async",
        value,
        unit: "records/s (more is better)",
        n: count,
        floor: floorValue,
        floorRatio: ratio,
        variation: variation(rates),
        note: `256 B; the journal fills its space with zeros meanwhile, the floor had its own before the clock started; a floor that fills them too does ${Math.round(median(filling))}/s`,
        verdicts: [
          goal(`${ratio.toFixed(2)} >= 0.6 x the floor of the same bytes`, ratio >= 0.6),
          shape(
            `${fillingRatio.toFixed(2)} >= 0.3 x the floor that fills its space with zeros too`,
            fillingRatio >= 0.3,
          ),
        ],
      },
    ];
  },
};
