import { KIB } from "@ehdb/contracts";
import type { DurableEngine, EngineStats } from "@ehdb/l0";
import { describe, expect, test } from "vitest";
import { openOn, stage } from "./drive.ts";
import type { Stage } from "./drive.ts";

const text = (value: string): Uint8Array => Buffer.from(value);

async function append(engine: DurableEngine, key: string, id?: string): Promise<void> {
  await engine.commit((batch) => batch.append("events", key, text(`of ${key}`), id));
}

async function readAll<T>(batches: AsyncIterable<readonly T[]>): Promise<number> {
  let count = 0;
  for await (const batch of batches) count += batch.length;
  return count;
}

/** What dashboards and alarms are written with: none may go or change its name. */
const operatorsNames = `
  appends out_of_order_appends dedupe_hits dedupe_window_evictions dedupe_window_records
  manifest_versions_pruned manifest_versions_retained manifest_parts ingest_append_failed ingest_decode_failed
  recovered_active_records seals uploads upload_bytes replica_writes read_fallbacks cold_loads merges
  parts_merged merged_bytes orphans_reclaimed orphan_bytes parts_dropped records_superseded reads parts_pruned
  parts_bloom_pruned parts_scanned parts_local_only parts_under_replicated
`.match(/\w+/g) as string[];

/** What the work changes of the statistics. */
async function moved(engine: DurableEngine, work: () => Promise<unknown>): Promise<Partial<EngineStats>> {
  const before = engine.stats();
  await work();
  const after = engine.stats();
  const names = Object.keys(after).filter((name) => name !== "errors") as Exclude<keyof EngineStats, "errors">[];
  return Object.fromEntries(names.map((name) => [name, after[name] - before[name]]));
}

/** Three parts of a log: `a` and `b` in the first, `c` in the second, `a` in the third. */
async function threeParts({ host, engine }: Stage): Promise<DurableEngine> {
  for (const keys of [["a", "b"], ["c"], ["a"]]) {
    for (const key of keys) await append(engine, key, `id of ${key} ${engine.revision}`);
    await engine.seal();
  }
  await engine.close();
  // Another open has nothing in memory.
  return await openOn(host);
}

describe("what an engine counts", () => {
  test("commits, and the records and operations in them", async () => {
    const { engine } = await stage();
    const work = (): Promise<unknown> =>
      engine.commit((batch) => {
        batch.append("events", "a", text("one"));
        batch.put("state", "a", text("two"));
        batch.delete("state", "b");
      });
    expect(await moved(engine, work)).toMatchObject({ commits: 1, appends: 3 });
  });

  test("conflicts, and not as commits", async () => {
    const { engine } = await stage();
    const work = (): Promise<unknown> =>
      engine
        .commit((batch) => {
          batch.expect("events", "a", "exists");
          batch.append("events", "a", text("one"));
        })
        .catch(() => undefined);
    expect(await moved(engine, work)).toMatchObject({ conflicts: 1, commits: 0, appends: 0 });
  });

  test("duplicates, and not as commits", async () => {
    const { engine } = await stage();
    await append(engine, "a", "once");
    expect(await moved(engine, () => append(engine, "a", "once"))).toMatchObject({ dedupe_hits: 1, commits: 0 });
  });

  test("the records whose ids are known, and those that have left the window", async () => {
    const { engine } = await stage({ dedupeWindow: 3 });
    for (let i = 0; i < 2; i++) await append(engine, "a");
    expect(engine.stats()).toMatchObject({ dedupe_window_records: 2, dedupe_window_evictions: 0 });
    for (let i = 0; i < 3; i++) await append(engine, "a");
    expect(engine.stats()).toMatchObject({ dedupe_window_records: 3, dedupe_window_evictions: 2 });
  });

  test("commits that the journal refused", async () => {
    const { host, engine } = await stage({ reserveBytes: 0 });
    await append(engine, "a");
    host.faults.noSpaceAfterBytes = 0;
    const large = Buffer.alloc(2 * 1024 * KIB);
    const work = (): Promise<unknown> =>
      engine.commit((batch) => batch.append("events", "a", large)).catch(() => undefined);
    // The first one waits until it's known that there is no room.
    await work();
    expect(await moved(engine, work)).toMatchObject({ ingest_append_failed: 1, commits: 0 });
  });

  test("batches that were refused as they were stated", async () => {
    const { engine } = await stage();
    const work = async (): Promise<void> => {
      await engine.commit(() => undefined).catch(() => undefined);
      await engine.commit((batch) => batch.append("events", "", text("no key"))).catch(() => undefined);
    };
    expect(await moved(engine, work)).toMatchObject({ ingest_decode_failed: 2, commits: 0 });
  });

  test("records that an open read back from the journal", async () => {
    const { host, engine } = await stage();
    for (let i = 0; i < 3; i++) await append(engine, "a");
    await engine.close();
    const again = await openOn(host);
    expect(again.stats().recovered_active_records).toBe(3);
    await again.seal();
    await again.close();
    expect((await openOn(host)).stats().recovered_active_records).toBe(0);
  });

  test("seals, their bytes, the parts that there are, and what isn't sealed", async () => {
    const { engine } = await stage();
    await append(engine, "a");
    await engine.commit((batch) => batch.put("state", "a", text("one")));
    expect(engine.stats()).toMatchObject({ seals: 0, manifest_parts: 0, unsealed_generations: 1 });
    expect(engine.stats().unsealed_bytes).toBeGreaterThan(0);
    await engine.seal();
    expect(engine.stats()).toMatchObject({ seals: 1, manifest_parts: 2, unsealed_generations: 1, unsealed_bytes: 0 });
    expect(engine.stats().sealed_bytes).toBeGreaterThan(2 * 4096);
  });

  test("generations that wait to be sealed", async () => {
    const { host, engine } = await stage({ sealMaxCommits: 1 });
    const held = host.hold(["create"], /\.part$/);
    await append(engine, "a");
    await append(engine, "a");
    expect(engine.stats().unsealed_generations).toBe(3);
    held.release();
    await engine.seal();
    expect(engine.stats().unsealed_generations).toBe(1);
  });

  test("seals that failed, and failures of the manifest", async () => {
    const { host, engine } = await stage();
    await append(engine, "a");
    host.failNext("write", "EIO", /\.part$/);
    await engine.seal().catch(() => undefined);
    expect(engine.stats()).toMatchObject({ seal_failed: 1, manifest_errors: 0, seals: 0 });
    host.failNext("dataSync", "EIO", /manifest-/);
    await host.advance(300);
    expect(engine.stats()).toMatchObject({ seal_failed: 2, manifest_errors: 1, seals: 0 });
    await host.advance(300);
    expect(engine.stats()).toMatchObject({ seal_failed: 2, manifest_errors: 1, seals: 1 });
  });

  test("older manifests that are kept, and those that were removed", async () => {
    const { host, engine } = await stage({ manifestRetain: 1 });
    expect(engine.stats()).toMatchObject({ manifest_versions_retained: 0, manifest_versions_pruned: 0 });
    await engine.close();
    const second = await openOn(host, { manifestRetain: 1 });
    expect(second.stats()).toMatchObject({ manifest_versions_retained: 1, manifest_versions_pruned: 0 });
    await second.close();
    const third = await openOn(host, { manifestRetain: 1 });
    expect(third.stats()).toMatchObject({ manifest_versions_retained: 1, manifest_versions_pruned: 1 });
  });

  test("reads, each once, however much they give", async () => {
    const { engine } = await stage();
    await append(engine, "a");
    const [log, map] = [engine.log("events"), engine.map("state")];
    const work = async (): Promise<void> => {
      await readAll(log.scan());
      await readAll(log.read("a"));
      await log.version("a");
      await readAll(map.scan());
      await map.get("a");
    };
    expect(await moved(engine, work)).toMatchObject({ reads: 5, read_errors: 0 });
  });

  test("reads that failed", async () => {
    const store = await stage();
    const engine = await threeParts(store);
    store.host.failNext("read", "EIO", /\.part$/);
    const work = (): Promise<unknown> => readAll(engine.log("events").scan()).catch(() => undefined);
    expect(await moved(engine, work)).toMatchObject({ reads: 1, read_errors: 1 });
    expect(await moved(engine, work)).toMatchObject({ reads: 1, read_errors: 0 });
  });

  test("parts that a scan left out by their range, and those it looked into", async () => {
    const engine = await threeParts(await stage());
    const log = engine.log("events");
    expect(await moved(engine, () => readAll(log.scan()))).toMatchObject({ parts_pruned: 0, parts_scanned: 3 });
    expect(await moved(engine, () => readAll(log.scan({ from: 4 })))).toMatchObject({
      parts_pruned: 2,
      parts_scanned: 1,
    });
  });

  test("parts that a lookup left out by their bloom filter, and those it looked into", async () => {
    const engine = await threeParts(await stage());
    // Newest first: `a` is in the third, and nobody has to look further.
    expect(await moved(engine, () => engine.log("events").version("a"))).toMatchObject({
      parts_bloom_pruned: 0,
      parts_scanned: 1,
    });
    expect(await moved(engine, () => engine.log("events").version("b"))).toMatchObject({
      parts_bloom_pruned: 2,
      parts_scanned: 1,
    });
    expect(await moved(engine, () => engine.log("events").version("none"))).toMatchObject({
      parts_bloom_pruned: 3,
      parts_scanned: 0,
    });
  });

  test("heads and ids that had to be loaded, once", async () => {
    const engine = await threeParts(await stage());
    const work = (): Promise<unknown> => append(engine, "b");
    expect(await moved(engine, work)).toMatchObject({ cold_loads: 1 });
    expect(await moved(engine, work)).toMatchObject({ cold_loads: 0 });
    expect((await moved(engine, () => append(engine, "c", "new"))).cold_loads).toBeGreaterThan(0);
  });

  test("blocks that were in memory, those that weren't, and what they take", async () => {
    const engine = await threeParts(await stage());
    expect(engine.stats()).toMatchObject({ block_cache_bytes: 0, block_cache_misses: 0 });
    const cold = await moved(engine, () => engine.log("events").version("c"));
    expect(cold.block_cache_misses).toBeGreaterThan(0);
    expect(cold.block_cache_bytes).toBeGreaterThan(0);
    const warm = await moved(engine, () => engine.log("events").version("c"));
    expect(warm).toMatchObject({ block_cache_misses: 0, block_cache_bytes: 0 });
    expect(warm.block_cache_hits).toBeGreaterThan(0);
  });

  test("the names that operators know are there", async () => {
    const { engine } = await stage();
    const stats: object = engine.stats();
    expect(operatorsNames.filter((name) => !(name in stats))).toEqual([]);
  });

  test("all of it is there at 0, in a new store", async () => {
    const { engine } = await stage();
    const { errors, unsealed_generations, reserve_bytes, journal_bytes, manifest_bytes, ...rest } = engine.stats();
    expect(journal_bytes).toBeGreaterThan(0);
    expect(manifest_bytes).toBeGreaterThan(0);
    expect(unsealed_generations).toBe(1);
    expect(reserve_bytes).toBeGreaterThanOrEqual(0);
    expect(new Set(Object.values({ ...rest, ...errors }))).toEqual(new Set([0]));
  });
});
