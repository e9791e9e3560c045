import { SeededRandom } from "@ehdb/harness";
import type { SimulatedHost } from "@ehdb/host";
import { inspectStore } from "@ehdb/l0";
import type { DurableEngine } from "@ehdb/l0";
import { expect, test } from "vitest";
import { stage } from "./drive.ts";

/** Records of the log and of the map as the parts in force have them, looked up on disk. */
async function stored(host: SimulatedHost): Promise<{ readonly log: number; readonly map: number }> {
  const { datasets } = await inspectStore({ dir: "/store", host });
  const of = (name: string): number => datasets.find((dataset) => dataset.name === name)?.records ?? 0;
  return { log: of("events"), map: of("state") };
}

/** What a merge took from disk, beside what was counted of it. */
async function expectCounted(
  engine: DurableEngine,
  host: SimulatedHost,
  merge: () => Promise<unknown>,
): Promise<number> {
  const [before, was] = [await stored(host), engine.stats()];
  await merge();
  const [after, is] = [await stored(host), engine.stats()];
  const superseded = is.records_superseded - was.records_superseded;
  const gone = is.records_erased - was.records_erased + is.records_dropped - was.records_dropped;
  expect([superseded, gone]).toEqual([before.map - after.map, before.log - after.log]);
  return superseded;
}

test.each([1, 2, 3, 4])("what merges dropped is what is counted, to the record (seed %i)", async (seed) => {
  const { host, engine } = await stage({ background: false, historyRevisions: 20 }, seed);
  const random = new SeededRandom(seed);
  const chance = (probability: number): boolean => random.integer(1000) < 1000 * probability;
  let [puts, superseded] = [0, 0];
  for (let round = 0; round < 24; round++) {
    for (let commits = 1 + random.integer(30); commits > 0; commits--) {
      const key = `key ${random.integer(8)}`;
      await engine.commit((batch) => {
        if (chance(0.2)) batch.delete("state", key);
        else batch.put("state", key, Buffer.from(`${round}`));
        batch.append("events", key, Buffer.from(`${round}`));
        if (chance(0.1)) batch.erase("events", key, 2);
      });
      puts++;
    }
    await engine.seal();
    expect((await stored(host)).map).toBe(puts - superseded);
    if (chance(0.2)) await engine.raiseFloor("events", Math.max(0, engine.log("events").last - 40));
    if (chance(0.2)) {
      host.failNext("create", "EIO", /\.part$/);
      // One that fails has dropped nothing; the other dataset's may come to its end.
      superseded += await expectCounted(engine, host, () => engine.merge({ dataset: "state" }).catch(() => undefined));
    }
    superseded += await expectCounted(engine, host, () => (chance(0.3) ? engine.merge() : engine.runPendingMerges()));
  }
  expect(superseded).toBeGreaterThan(100);
  await engine.merge();
  expect(engine.stats().records_superseded).toBe(puts - (await stored(host)).map);
});
