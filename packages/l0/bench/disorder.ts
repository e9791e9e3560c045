import { isEhdbError } from "@ehdb/contracts";
import type { ImportedRecord } from "@ehdb/contracts";
import { assertCount, payloadSeed, SeededRandom, shape } from "@ehdb/harness";
import type { Bench, BenchContext, BySize, Result } from "@ehdb/harness";
import type { DurableEngine } from "@ehdb/l0";
import { setImmediate as turn } from "node:timers/promises";
import { LOG, withEngine } from "./stage.ts";

const counts: BySize<number> = { tiny: 4000, small: 40_000, full: 200_000 };
const callers = 64;

/** Records in the order in which a follower met them: their positions, and the numbers that their callers gave them. */
interface Met {
  readonly positions: Float64Array;
  readonly numbers: Float64Array;
}

/**
 * Whether who follows a log by a key, and goes on from the last one that it saw, misses records: each whose key is below one that was
 * met before. The control is a key that each caller takes itself, one after the other, before it commits.
 *
 * The engine's own count of it is held to that control: what came in the order of the callers' keys is imported with these as sort keys, which must be
 * refused, and when disorder is counted, be counted to the record.
 */
export const disorder: Bench = {
  name: "l0.disorder",
  results: ["l0.disorder", "l0.disorder.control", "l0.disorder.import"],
  async run(context: BenchContext): Promise<Result[]> {
    const count = counts[context.size];
    const { positions, numbers } = await withEngine(context, {}, async (engine) => {
      const [met] = await Promise.all([follow(engine, count), write(engine, count)]);
      return met;
    });
    assertCount("the sum of all numbers met", numbers.reduce(sum, 0), (count * (count - 1)) / 2);
    const imported = await importInDisorder(context, numbers);
    const [ours, control] = [percentBelow(positions), percentBelow(numbers)];
    const unit = "% of records that came behind a higher key (less is better)";
    return [
      {
        name: "l0.disorder",
        value: ours,
        unit,
        n: count,
        note: `${callers} callers, a follower beside them; the key is the position, which the commit step gives`,
        verdicts: [shape(`${ours.toFixed(1)}% = 0%`, ours === 0)],
      },
      {
        name: "l0.disorder.control",
        value: control,
        unit,
        n: count,
        control: true,
        note: "the same records; the key is a number that callers take before they commit, up to 3 turns of the loop earlier",
        verdicts: [shape(`${control.toFixed(1)}% > 5%`, control > 5)],
      },
      {
        name: "l0.disorder.import",
        value: (100 * imported.counted) / count,
        unit,
        n: count,
        control: true,
        note: "those very numbers as sort keys of an import, as out_of_order_appends counts them",
        verdicts: [
          shape(`refused: ${imported.refused}`, imported.refused === "OUT_OF_ORDER"),
          shape(`${imported.counted} counted = ${below(numbers)}`, imported.counted === below(numbers)),
          shape(`${imported.read} read in order = ${count}`, imported.read === count),
        ],
      },
    ];
  },
};

async function write(engine: DurableEngine, count: number): Promise<void> {
  const random = new SeededRandom(payloadSeed);
  let next = 0;
  const caller = async (): Promise<void> => {
    while (next < count) {
      const payload = Buffer.alloc(64);
      payload.writeUInt32LE(next++);
      // What a caller does between taking a number and committing takes as long as it takes.
      for (let turns = random.integer(4); turns > 0; turns--) await turn();
      await engine.commit((batch) => batch.append(LOG, `key-${random.integer(1000)}`, payload));
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
}

async function follow(engine: DurableEngine, count: number): Promise<Met> {
  const met: Met = { positions: new Float64Array(count), numbers: new Float64Array(count) };
  let [seen, revision] = [0, 0];
  while (seen < count) {
    await engine.news(revision);
    for await (const batch of engine.log(LOG).scan({ from: seen + 1 })) {
      for (const record of batch) {
        met.positions[seen] = record.sort;
        met.numbers[seen++] = Buffer.from(record.payload.buffer, record.payload.byteOffset).readUInt32LE();
        ({ revision } = record);
      }
    }
  }
  return met;
}

interface Disorder {
  readonly refused: string | undefined;
  readonly counted: number;
  /** Records that were read back in the order of their sort keys. */
  readonly read: number;
}

async function importInDisorder(context: BenchContext, numbers: Float64Array): Promise<Disorder> {
  return await withEngine(context, {}, async (engine) => {
    const refused = await engine.import(LOG, recordsOf(numbers)).then(
      () => undefined,
      (error: unknown) => (isEhdbError(error) ? error.code : String(error)),
    );
    await engine.import(LOG, recordsOf(numbers), { disorder: "count" });
    let [read, last] = [0, 0];
    for await (const batch of engine.log(LOG).scan()) {
      for (const { sort } of batch) {
        if (sort > last) read++;
        last = sort;
      }
    }
    return { refused, counted: engine.stats().out_of_order_appends, read };
  });
}

/** One key each: versions of a key that came in disorder would be out of order as well. */
function* recordsOf(numbers: Float64Array): Iterable<ImportedRecord[]> {
  for (let from = 0; from < numbers.length; from += 256) {
    yield Array.from(numbers.subarray(from, from + 256), (number) => ({
      sort: number + 1,
      key: `key-${number}`,
      version: 1,
      time: 0,
      payload: Buffer.alloc(64),
    }));
  }
}

function percentBelow(keys: Float64Array): number {
  return (100 * below(keys)) / keys.length;
}

function below(keys: Float64Array): number {
  let [count, highest] = [0, -1];
  for (const key of keys) {
    if (key <= highest) count++;
    else highest = key;
  }
  return count;
}

function sum(total: number, each: number): number {
  return total + each;
}
