import { alternate, assertCount, distribution, goal, payloadSeed, seededRecords, shape } from "@ehdb/harness";
import type { Bench, BenchContext, BySize, Result } from "@ehdb/harness";
import { assertHolds, withJournal } from "./stage.ts";

const mib = 1024 * 1024;
const recordBytes = 4096;
const longStallMillis = 0.5;
const segmentBytes: BySize<number> = { tiny: 2 * mib, small: 8 * mib, full: 8 * mib };
const rolls: BySize<number> = { tiny: 3, small: 5, full: 10 };

/** One append: how long its caller was held up before it could go on, how long until it was durable, and whether a roll came in between. */
interface Timed {
  readonly held: number;
  readonly durable: number;
  readonly rolled: boolean;
}

/**
 * One writer through many segments, and the same without a roll. A stall is a roll's when a segment was started during the
 * append; the others are the disk's, and the journal without rolls shows how many of those there are anyway.
 */
export const rollStall: Bench = {
  name: "journal.roll.stall",
  results: ["journal.roll.stall"],
  async run(context: BenchContext): Promise<Result[]> {
    const records = seededRecords(payloadSeed, 256, recordBytes);
    const small = segmentBytes[context.size];
    const count = Math.floor((small / recordBytes) * (rolls[context.size] + 0.5));
    const contenders = [
      { name: "rolling", round: () => appends(context, records, count, small) },
      { name: "still", round: () => appends(context, records, count, 256 * mib) },
    ];
    const figures = await alternate(contenders, context.rounds);
    const all = (figures.get("rolling") ?? []).flat();
    const still = (figures.get("still") ?? []).flat();
    const atRoll = all.filter(({ rolled }) => rolled);
    const others = all.filter(({ rolled }) => !rolled);
    assertCount("segments started without rolls", still.filter(({ rolled }) => rolled).length, 0);
    return [
      row("journal.roll.stall", "append held up", (each) => each.held, { atRoll, others, still }),
      row("journal.roll.stall.durable", "append to durable", (each) => each.durable, { atRoll, others, still }),
    ];
  },
};

interface Classified {
  readonly atRoll: readonly Timed[];
  readonly others: readonly Timed[];
  readonly still: readonly Timed[];
}

function row(name: string, what: string, of: (each: Timed) => number, { atRoll, others, still }: Classified): Result {
  const { n, ...spread } = distribution(atRoll.map(of));
  const usual = distribution(others.map(of));
  const without = distribution(still.map(of));
  const caused = spread.p50 - usual.p50;
  const long = (timed: readonly Timed[]): string =>
    `${timed.filter((each) => of(each) > usual.p50 + longStallMillis).length} of ${timed.length}`;
  const note = [
    `${what}; ${n} rolls`,
    `more than ${longStallMillis} ms above the median: ${long(atRoll)} at a roll, ${long(others)} elsewhere (the disk), ${long(still)} in a journal that never rolls`,
    `elsewhere p50 ${usual.p50.toFixed(3)}, p99 ${usual.p99.toFixed(3)}, max ${usual.max.toFixed(2)} ms; never rolling p50 ${without.p50.toFixed(3)}, p99 ${without.p99.toFixed(3)}, max ${without.max.toFixed(2)} ms`,
  ];
  return {
    name,
    value: caused,
    unit: "ms more than elsewhere, p50 (less is better)",
    n,
    ...spread,
    note: note.join("; "),
    verdicts: [
      goal(
        `no append is held up for more than ${longStallMillis} ms by a roll: the worst took ${spread.max.toFixed(2)} ms`,
        spread.max <= usual.p50 + longStallMillis,
      ),
      shape(
        `half of the rolls cost ${caused.toFixed(2)} ms <= ${2 * longStallMillis} ms`,
        caused <= 2 * longStallMillis,
      ),
    ],
  };
}

function appends(
  context: BenchContext,
  records: readonly Uint8Array[],
  count: number,
  segment: number,
): Promise<Timed[]> {
  return withJournal(context, { segmentBytes: segment }, async (journal) => {
    const timed: Timed[] = [];
    let { rolls: before } = journal.stats();
    for (let i = 0; i < count; i++) {
      const start = performance.now();
      await journal.ready(recordBytes);
      const sequence = journal.append(records[i % records.length] as Uint8Array);
      const held = performance.now() - start;
      await journal.durable(sequence);
      const durable = performance.now() - start;
      const { rolls: now } = journal.stats();
      timed.push({ held, durable, rolled: now > before });
      before = now;
    }
    assertCount("the durable sequence", journal.cursors.durable, count);
    await assertHolds(journal, records, count);
    return timed;
  });
}
