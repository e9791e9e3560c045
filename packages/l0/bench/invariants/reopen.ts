import { cp } from "node:fs/promises";
import { crc32 } from "node:zlib";
import type { Bench, BenchContext, Result } from "@ehdb/harness";
import type { DurableEngine } from "@ehdb/l0";
import { LOG, MAP, open, withEngine } from "../stage.ts";
import { allKeys, commitCounts, manyParts, recordsOf, settleHistory, writeHistory } from "./history.ts";
import { invariantRows } from "./rows.ts";

/** All that an engine shows, each by its name. */
type Shown = ReadonlyMap<string, string>;

/**
 * What a store shows is what it showed before: after a close and an open, and from a copy that was made while it stood open, which is what a
 * killed process leaves. The control looks again after one commit more.
 */
export const reopen: Bench = {
  name: "l0.invariant.reopen",
  results: ["l0.invariant.reopen", "l0.invariant.reopen.control"],
  async run(context: BenchContext): Promise<Result[]> {
    const options = manyParts[context.size];
    const { ours, control } = await withEngine(context, options, async (engine, dir) => {
      await writeHistory(engine, commitCounts[context.size]);
      await settleHistory(engine);
      const before = await shownBy(engine);
      await cp(dir, `${dir}-killed`, { recursive: true });
      await engine.close();
      let violations = 0;
      let replayed = 0;
      for (const again of [dir, dir, `${dir}-killed`]) {
        const opened = await open(again, options);
        replayed += opened.recovery.replayedRecords;
        violations += differences(before, await shownBy(opened));
        await opened.close();
      }
      if (replayed === 0) throw new Error("no open had anything to replay");
      const opened = await open(dir, options);
      await writeHistory(opened, 1);
      const control = { violations: differences(before, await shownBy(opened)), population: before.size };
      await opened.close();
      return { ours: { violations, population: before.size * 3 }, control };
    });
    return invariantRows(
      "l0.invariant.reopen",
      "records, versions, values and heads that differ, over two closes and a kill",
      ours,
      {
        ...control,
        what: "one commit more",
      },
    );
  },
};

async function shownBy(engine: DurableEngine): Promise<Shown> {
  const shown = new Map<string, string>();
  const log = engine.log(LOG);
  shown.set("revision", `${engine.revision}`).set("first", `${log.first}`).set("last", `${log.last}`);
  for (const { sort, key, version, revision, time, payload } of await recordsOf(engine))
    shown.set(`record ${sort}`, `${key}@${version} r${revision} t${time} ${crc32(payload)}`);
  for await (const batch of engine.map(MAP).scan()) {
    for (const { key, revision, time, payload } of batch)
      shown.set(`value of ${key}`, `r${revision} t${time} ${crc32(payload)}`);
  }
  for (const key of allKeys()) {
    shown.set(`version of ${key}`, `${await log.version(key)}`);
    shown.set(`got of ${key}`, `${(await engine.map(MAP).get(key))?.revision}`);
  }
  return shown;
}

function differences(before: Shown, after: Shown): number {
  const names = new Set([...before.keys(), ...after.keys()]);
  return [...names].filter((name) => before.get(name) !== after.get(name)).length;
}
