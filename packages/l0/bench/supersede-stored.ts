import { assertCount, goal, payloadSeed, seededRecords, SeededRandom, shape } from "@ehdb/harness";
import type { Bench, BenchContext, BySize, Result } from "@ehdb/harness";
import { inspectStore } from "@ehdb/l0";
import type { DurableEngine } from "@ehdb/l0";
import { MAP, withEngine } from "./stage.ts";
import type { Options } from "./stage.ts";

interface Load {
  readonly puts: number;
  readonly keys: number;
  /** `historyRevisions`, and how many puts make a generation. */
  readonly history: number;
  readonly options: Options;
}

const loads: BySize<Load> = {
  // Of the default, a sixteenth.
  tiny: { puts: 30_000, keys: 1000, history: 1024, options: { historyRevisions: 1024, sealMaxCommits: 1024 } },
  small: { puts: 200_000, keys: 10_000, history: 16_384, options: { sealMaxCommits: 8192 } },
  full: { puts: 2_000_000, keys: 100_000, history: 16_384, options: {} },
};
/** Looks at what is stored, while it's written. */
const looks = 40;

interface Stored {
  /** The most that was stored while puts went on, in parts of what is due. */
  readonly most: number;
  readonly looks: number;
  readonly merges: number;
  /** How often each byte that was sealed was written, into parts. */
  readonly amplification: number;
  /** After a merge that was asked for: what is stored, and what merges said they left out. */
  readonly after: number;
  readonly superseded: number;
}

/** What is still stored of N puts to K keys: while they go on, and after a merge that was asked for. */
export const supersedeStored: Bench = {
  name: "l0.supersede.stored",
  results: ["l0.supersede.stored", "l0.supersede.stored.steady", "l0.supersede.stored.load"],
  async run(context: BenchContext): Promise<Result[]> {
    const load = loads[context.size];
    const { puts, keys, history } = load;
    const steady = await measure(context, load, true);
    const loaded = await measure(context, load, false);
    const share = loaded.after / due(load, puts);
    const unit = "x the keys and the records above the floor (less is better)";
    const met = ({ looks, merges, amplification }: Stored): string =>
      `the most of ${looks} looks; ${merges} merges, and each byte that was sealed was written ${amplification.toFixed(1)} times`;
    return [
      {
        name: "l0.supersede.stored",
        value: share,
        unit,
        n: puts,
        note: `${puts} puts to ${keys} keys, versions of the last ${history} revisions kept: ${loaded.after} records after a merge that was asked for, ${loaded.superseded} left out`,
        verdicts: [shape(`${share.toFixed(2)} <= 1.2 x`, share <= 1.2)],
      },
      {
        name: "l0.supersede.stored.steady",
        value: steady.most,
        unit,
        n: puts,
        note: `puts no faster than merges: ${met(steady)}`,
        verdicts: [
          goal(`${steady.most.toFixed(2)} <= 2 x`, steady.most <= 2),
          shape(`${steady.most.toFixed(2)} <= 4 x`, steady.most <= 4),
        ],
      },
      {
        name: "l0.supersede.stored.load",
        value: loaded.most,
        unit,
        n: puts,
        note: `puts as fast as they are taken: ${met(loaded)}`,
        verdicts: [goal(`${loaded.most.toFixed(2)} <= 2 x`, loaded.most <= 2)],
      },
    ];
  },
};

/** Records that must be there when so many puts are sealed: each key has a value, and each revision above the floor one record of its own. */
function due({ keys, history }: Load, sealed: number): number {
  return Math.min(sealed, keys) + Math.min(sealed, history);
}

async function measure(context: BenchContext, load: Load, isPaced: boolean): Promise<Stored> {
  const { puts, keys, history, options } = load;
  return await withEngine(context, options, async (engine, dir) => {
    const records = seededRecords(payloadSeed, 997, 100);
    const random = new SeededRandom(payloadSeed);
    const last = new Float64Array(keys);
    const shares: number[] = [];
    for (let look = 0; look < looks; look++) {
      await put(engine, puts / looks, (index) => {
        const number = look * (puts / looks) + index;
        const key = number < keys ? number : random.integer(keys);
        last[key] = number + 1;
        return [`key-${key}`, records[number % records.length] as Uint8Array];
      });
      // Small generations that are full wait for each other.
      await engine.seal();
      const { sealed } = engine.heads;
      // The first generations hide nothing.
      if (sealed > 2 * (keys + history)) shares.push((await storedIn(dir)) / due(load, sealed));
      if (isPaced) await engine.runPendingMerges();
    }
    const { merges } = engine.stats();
    if (merges === 0 || shares.length === 0)
      throw new Error(`${merges} merges, ${shares.length} looks: nothing was measured`);
    await engine.seal();
    await engine.merge();
    const after = await storedIn(dir);
    const { records_superseded: superseded, sealed_bytes, merged_bytes } = engine.stats();
    assertCount("records_superseded", superseded, puts - after);
    await assertHoldsLast(engine, last, records);
    const amplification = (sealed_bytes + merged_bytes) / sealed_bytes;
    return { most: Math.max(...shares), looks: shares.length, merges, amplification, after, superseded };
  });
}

async function put(
  engine: DurableEngine,
  count: number,
  record: (index: number) => readonly [key: string, payload: Uint8Array],
): Promise<void> {
  let next = 0;
  const caller = async (): Promise<void> => {
    while (next < count) {
      const [key, payload] = record(next++);
      await engine.commit((batch) => batch.put(MAP, key, payload));
    }
  };
  await Promise.all(Array.from({ length: 512 }, caller));
}

/** As the manifest has it. */
async function storedIn(dir: string): Promise<number> {
  const { datasets } = await inspectStore({ dir });
  return datasets.find(({ name }) => name === MAP)?.records ?? 0;
}

/** The map holds of each key what was put last: the commit of that number, and its bytes. */
async function assertHoldsLast(
  engine: DurableEngine,
  last: Float64Array,
  records: readonly Uint8Array[],
): Promise<void> {
  let right = 0;
  for await (const batch of engine.map(MAP).scan()) {
    for (const { key, revision, payload } of batch) {
      const wanted = records[((last[Number(key.slice(4))] as number) - 1) % records.length] as Uint8Array;
      if (revision === last[Number(key.slice(4))] && Buffer.compare(payload, wanted) === 0) right++;
    }
  }
  assertCount("keys that hold what was put last", right, last.length);
}
