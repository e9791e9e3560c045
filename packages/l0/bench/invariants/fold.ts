import { crc32 } from "node:zlib";
import type { LogRecord } from "@ehdb/contracts";
import type { Bench, BenchContext, Result } from "@ehdb/harness";
import { openEngineReader } from "@ehdb/l0";
import type { DurableEngine } from "@ehdb/l0";
import { LOG, withEngine } from "../stage.ts";
import { allKeys, commitCounts, manyParts, recordsOf, settleHistory, writeHistory } from "./history.ts";
import { invariantRows } from "./rows.ts";

/** Of each key what its records made of it, in their order. */
type State = Map<string, number>;
type Readable = Pick<DurableEngine, "log">;

const pageRecords = 97;

/**
 * The same records give the same state, however they are read: at once, in pages, key by key, backwards, out of one part, beside the
 * writer, from another life of the store. The control's pages leave out a record between each two.
 */
export const fold: Bench = {
  name: "l0.invariant.fold",
  results: ["l0.invariant.fold", "l0.invariant.fold.control"],
  async run(context: BenchContext): Promise<Result[]> {
    const { ours, control } = await withEngine(context, manyParts[context.size], async (engine, dir) => {
      await writeHistory(engine, commitCounts[context.size]);
      await settleHistory(engine);
      const all = await recordsOf(engine);
      const first = folded(all);
      const states = [await inPages(engine, 1), await keyByKey(engine), await backwards(engine)];
      const skipping = await inPages(engine, 2);
      const reader = await openEngineReader({ dir });
      states.push(folded(await recordsOf(reader)));
      await reader.close();
      await engine.merge();
      states.push(folded(await recordsOf(engine)), await keyByKey(engine));
      const violations = states.reduce((sum, state) => sum + differences(first, state), 0);
      return {
        ours: { violations, population: all.length * states.length },
        control: { violations: differences(first, skipping), population: all.length },
      };
    });
    return invariantRows(
      "l0.invariant.fold",
      "keys whose state differs from that of one scan, of six other ways to read",
      ours,
      {
        ...control,
        what: `pages of ${pageRecords} that leave out a record between each two`,
      },
    );
  },
};

function folded(records: readonly LogRecord[], state: State = new Map()): State {
  for (const { key, version, payload } of records)
    state.set(key, crc32(payload, ((state.get(key) ?? 0) ^ version) >>> 0));
  return state;
}

/** Each page begins `step` behind the last record of the one before. */
async function inPages(engine: Readable, step: number): Promise<State> {
  const state: State = new Map();
  for (let from = 1; ;) {
    const page: LogRecord[] = [];
    for await (const batch of engine.log(LOG).scan({ from, limit: pageRecords })) page.push(...batch);
    folded(page, state);
    const last = page.at(-1);
    if (last === undefined) return state;
    from = last.sort + step;
  }
}

async function keyByKey(engine: Readable): Promise<State> {
  const state: State = new Map();
  for (const key of allKeys()) for await (const batch of engine.log(LOG).read(key)) folded(batch, state);
  return state;
}

async function backwards(engine: Readable): Promise<State> {
  const all: LogRecord[] = [];
  for await (const batch of engine.log(LOG).scan({ direction: "backwards" })) all.push(...batch);
  return folded(all.toReversed());
}

function differences(one: State, other: State): number {
  const keys = new Set([...one.keys(), ...other.keys()]);
  return [...keys].filter((key) => one.get(key) !== other.get(key)).length;
}
