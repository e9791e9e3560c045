import {
  alternate,
  assertCount,
  goal,
  median,
  medianRatio,
  payloadSeed,
  seededPayloads,
  shape,
  variation,
} from "@ehdb/harness";
import type { Bench, BenchContext, BySize, Result } from "@ehdb/harness";
import type { JournalOptions } from "@ehdb/journal";
import { crc32 } from "node:zlib";
import { assertHolds, withJournal } from "./stage.ts";

const millis: BySize<number> = { tiny: 250, small: 1000, full: 2000 };
/** A few microseconds of work: what else the application does, a turn of the loop at a time. */
const workBytes = Buffer.alloc(16 * 1024, 7);

/** How much other work the event loop gets done while one writer appends durably, beside an idle loop. */
export const loopLeft: Bench = {
  name: "journal.loop.left",
  results: ["journal.loop.left"],
  async run(context: BenchContext): Promise<Result[]> {
    const figures = await alternate<number>(
      [
        { name: "idle", round: () => otherWork(millis[context.size], async () => {}) },
        { name: "asynchronous", round: () => underLoad(context, {}) },
        { name: "blocking", round: () => underLoad(context, { blockingSync: true }) },
      ],
      context.rounds,
    );
    const rates = (name: string): number[] => figures.get(name) ?? [];
    const [left, leftByBlocking] = ["asynchronous", "blocking"].map(
      (name) => 100 * medianRatio(rates(name), rates("idle")),
    ) as [number, number];
    return [
      {
        name: "journal.loop.left",
        value: left,
        unit: "% of an idle loop's work (more is better)",
        n: context.rounds,
        variation: variation(rates("asynchronous")),
        note: `one in flight; with blockingSync ${leftByBlocking.toFixed(0)}%; an idle loop does ${Math.round(median(rates("idle")))} units/s; above 100% the machine was busy while the idle loop ran`,
        verdicts: [
          goal(`${left.toFixed(0)}% >= 85% is left`, left >= 85),
          shape(
            `more is left than with blocking syncs: ${left.toFixed(0)}% and ${leftByBlocking.toFixed(0)}%`,
            left > leftByBlocking,
          ),
        ],
      },
    ];
  },
};

function underLoad(context: BenchContext, options: Omit<JournalOptions, "dir">): Promise<number> {
  return withJournal(context, options, async (journal) => {
    const records = seededPayloads(payloadSeed, 512);
    let appended = 0;
    const units = await otherWork(millis[context.size], async (isOver) => {
      while (!isOver()) await journal.appendDurable(records[appended++ % records.length] as Uint8Array);
    });
    assertCount("the durable sequence", journal.cursors.durable, appended);
    await assertHolds(journal, records, appended);
    return units;
  });
}

/** Units of other work a second, one a turn, while `load` runs. */
async function otherWork(forMillis: number, load: (isOver: () => boolean) => Promise<void>): Promise<number> {
  const start = performance.now();
  const isOver = (): boolean => performance.now() - start >= forMillis;
  let units = 0;
  let sum = 0;
  const working = new Promise<void>((resolve) => {
    const turn = (): void => {
      sum = crc32(workBytes, sum);
      units++;
      if (isOver()) resolve();
      else setImmediate(turn);
    };
    setImmediate(turn);
  });
  await Promise.all([working, load(isOver)]);
  return (units * 1000) / (performance.now() - start);
}
