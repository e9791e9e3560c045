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
 */
export const disorder: Bench = {
  name: "l0.disorder",
  results: ["l0.disorder", "l0.disorder.control"],
  async run(context: BenchContext): Promise<Result[]> {
    const count = counts[context.size];
    const { positions, numbers } = await withEngine(context, {}, async (engine) => {
      const [met] = await Promise.all([follow(engine, count), write(engine, count)]);
      return met;
    });
    assertCount("the sum of all numbers met", numbers.reduce(sum, 0), (count * (count - 1)) / 2);
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

function percentBelow(keys: Float64Array): number {
  let [below, highest] = [0, -1];
  for (const key of keys) {
    if (key <= highest) below++;
    else highest = key;
  }
  return (100 * below) / keys.length;
}

function sum(total: number, each: number): number {
  return total + each;
}
