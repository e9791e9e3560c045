import type { LogRecord } from "@ehdb/contracts";
import type { SimulatedHost } from "@ehdb/host";
import type { DurableEngine } from "@ehdb/l0";
import { describe, expect, test } from "vitest";
import { readManifest } from "../src/manifest/read-manifest.ts";
import { openOn, stage } from "./drive.ts";

const text = (value: string): Buffer => Buffer.from(value);
const manual = { background: false, historyRevisions: 0, dedupeWindow: 1000 } as const;

async function all<T>(batches: AsyncIterable<readonly T[]>): Promise<T[]> {
  const found: T[] = [];
  for await (const batch of batches) found.push(...batch);
  return found;
}

const plain = ({ sort, key, version, revision, time, id, payload }: LogRecord): unknown => [
  sort,
  key,
  version,
  revision,
  time,
  id,
  Buffer.from(payload).toString(),
];

async function events(engine: DurableEngine): Promise<unknown[]> {
  return (await all(engine.log("events").scan())).map(plain);
}

async function values(engine: DurableEngine): Promise<[string, string][]> {
  return (await all(engine.map("state").scan())).map(({ key, payload }) => [key, Buffer.from(payload).toString()]);
}

async function append(engine: DurableEngine, key: string, payload: string, id?: string): Promise<number> {
  const { appended } = await engine.commit((batch) => batch.append("events", key, text(payload), id));
  return appended[0]?.version ?? 0;
}

async function partFiles(host: SimulatedHost): Promise<string[]> {
  return (await host.files.list("/store/parts")).map((name) => `/store/parts/${name}`);
}

async function isOnDisk(host: SimulatedHost, bytes: string): Promise<boolean> {
  const journal = (await host.files.list("/store/journal")).filter((name) => name.endsWith(".segment"));
  const paths = [...(await partFiles(host)), ...journal.map((name) => `/store/journal/${name}`)];
  return paths.some((path) => Buffer.from(host.content(path)).includes(bytes));
}

describe("merging a log", () => {
  test("changes nothing that can be read, and no id is forgotten", async () => {
    const { engine, host } = await stage(manual);
    for (let part = 0; part < 9; part++) {
      for (let i = 0; i < 20; i++) await append(engine, `key ${i % (part + 1)}`, `${part} ${i}`, `id ${part} ${i}`);
      await engine.seal();
    }
    const before = await events(engine);
    expect(await engine.runPendingMerges()).toBe(1);
    expect(engine.stats()).toMatchObject({ merges: 1, parts_merged: 9, manifest_parts: 1, parts_retired: 0 });
    expect(await events(engine)).toEqual(before);
    const ofKey = (await all(engine.log("events").read("key 0"))).map(plain);
    expect(ofKey).toEqual(before.filter((record) => (record as unknown[])[1] === "key 0"));
    await engine.close();
    const again = await openOn(host, manual);
    expect(await events(again)).toEqual(before);
    const repeated = await again.commit((batch) => batch.append("events", "key 3", text("8 12"), "id 8 12"));
    expect(repeated).toMatchObject({ isDuplicate: true, appended: [{ sort: 173 }] });
    expect(await partFiles(host)).toHaveLength(1);
  });

  test("leaves parts of falling level, and comes to an end", async () => {
    const { engine } = await stage({ background: true });
    for (let part = 0; part < 40; part++) {
      await append(engine, "a", `${part}`);
      await engine.seal();
    }
    await engine.runPendingMerges();
    expect(await engine.runPendingMerges()).toBe(0);
    expect(engine.stats().manifest_parts).toBeLessThan(10);
    expect(await events(engine)).toHaveLength(40);
  });
});

describe("erasing", () => {
  test("takes the bytes off the disk, and neither version nor id", async () => {
    const { engine, host } = await stage(manual);
    for (let i = 1; i <= 5; i++) await append(engine, "a", `secret ${i}`, `id ${i}`);
    for (let i = 1; i <= 5; i++) await append(engine, "b", `other ${i}`);
    await engine.seal();
    await engine.commit((batch) => batch.erase("events", "a", 100));
    await append(engine, "c", "later");
    expect(await isOnDisk(host, "secret 3")).toBe(true);
    await engine.scavenge();
    expect(await isOnDisk(host, "secret")).toBe(false);
    expect(await isOnDisk(host, "other 3")).toBe(true);
    expect(engine.stats()).toMatchObject({ records_erased: 5 });
    expect(await engine.log("events").version("a")).toBe(5);
    expect(await all(engine.log("events").read("a"))).toEqual([]);
    expect((await events(engine)).length).toBe(6);
    await engine.close();
    const again = await openOn(host, manual);
    const repeated = await again.commit((batch) => batch.append("events", "a", text("secret 2"), "id 2"));
    expect(repeated).toMatchObject({ isDuplicate: true, revision: 2, appended: [{ sort: 2, version: 2 }] });
    expect(await append(again, "a", "again")).toBe(6);
    await again.seal();
    await again.merge();
    expect((await all(again.log("events").read("a"))).map(({ version }) => version)).toEqual([6]);
  });

  test("reaches older parts from a newer one, and not what is appended later", async () => {
    const { engine } = await stage(manual);
    for (let i = 1; i <= 6; i++) {
      await append(engine, "a", `${i}`);
      await append(engine, "b", `${i}`);
      await engine.seal();
    }
    await engine.commit((batch) => batch.erase("events", "a", 4));
    for (let i = 7; i <= 8; i++) await append(engine, "a", `${i}`);
    await engine.seal();
    await engine.runPendingMerges();
    expect((await all(engine.log("events").read("a"))).map(({ version }) => version)).toEqual([4, 5, 6, 7, 8]);
    expect((await all(engine.log("events").read("b"))).map(({ version }) => version)).toEqual([1, 2, 3, 4, 5, 6]);
    const backwards = await all(engine.log("events").read("a", { direction: "backwards", from: 6 }));
    expect(backwards.map(({ version }) => version)).toEqual([6, 5, 4]);
  });

  test("counts each record once, however often its stream is truncated further", async () => {
    const { engine } = await stage(manual);
    for (let i = 1; i <= 100; i++) await append(engine, "a", `${i}`);
    await engine.seal();
    await engine.merge();
    for (const below of [8, 10, 12, 14, 16, 18, 20]) {
      await engine.commit((batch) => batch.erase("events", "a", below));
      await engine.seal();
      await engine.runPendingMerges();
    }
    expect((await all(engine.log("events").read("a")))[0]?.version).toBe(1);
    await engine.commit((batch) => batch.erase("events", "a", 22));
    await engine.seal();
    await engine.runPendingMerges();
    expect((await all(engine.log("events").read("a")))[0]?.version).toBe(22);
  });

  test("of what no older part holds isn't remembered once it's done", async () => {
    const { engine, host } = await stage(manual);
    const erasures = async (): Promise<number[]> =>
      [...(await readManifest({ host, dir: "/store" })).state.parts.values()].map((part) => part.erasures);
    for (let i = 1; i <= 20; i++) await append(engine, "old", `${i}`);
    await engine.seal();
    await engine.merge();
    for (let i = 1; i <= 4; i++) {
      await append(engine, "new", `${i}`);
      if (i === 3) await engine.commit((batch) => (batch.erase("events", "old", 2), batch.erase("events", "new", 2)));
      await engine.seal();
    }
    expect(await erasures()).toEqual([0, 0, 0, 2, 0]);
    expect(await engine.runPendingMerges()).toBe(1);
    expect(await erasures()).toEqual([0, 1]);
    expect((await all(engine.log("events").read("new"))).map(({ version }) => version)).toEqual([2, 3, 4]);
    await engine.merge();
    expect(await erasures()).toEqual([0]);
    expect((await all(engine.log("events").read("old"))).length).toBe(19);
  });

  test("by itself writes a part anew of which more than a fifth is erased", async () => {
    const { engine } = await stage(manual);
    for (let i = 1; i <= 10; i++) await append(engine, "a", `${i}`);
    await engine.seal();
    await engine.commit((batch) => batch.erase("events", "a", 3));
    await engine.seal();
    expect(await engine.runPendingMerges()).toBe(0);
    await engine.commit((batch) => batch.erase("events", "a", 4));
    await engine.seal();
    expect(await engine.runPendingMerges()).toBe(1);
    expect(engine.stats()).toMatchObject({ records_erased: 3 });
    expect(await engine.runPendingMerges()).toBe(0);
  });
});

describe("a log's floor", () => {
  test("hides what lies below at once, drops it, and never forgets a version or a known id", async () => {
    const { engine, host } = await stage(manual);
    for (let i = 1; i <= 30; i++) {
      await append(engine, i <= 10 ? "old" : "new", `${i}`, `id ${i}`);
      if (i % 10 === 0) await engine.seal();
    }
    await engine.raiseFloor("events", 16);
    const log = engine.log("events");
    expect(log.first).toBe(16);
    expect((await all(log.scan())).map(({ sort }) => sort)[0]).toBe(16);
    expect((await all(log.read("new"))).map(({ sort }) => sort)[0]).toBe(16);
    await expect(all(log.scan({ from: 15 }))).rejects.toMatchObject({
      code: "COMPACTED",
      data: { from: 15, first: 16 },
    });
    expect(await engine.runPendingMerges()).toBe(1);
    expect(engine.stats()).toMatchObject({ records_dropped: 10, parts_dropped: 1 });
    expect(await log.version("old")).toBe(10);
    await engine.close();
    const again = await openOn(host, manual);
    expect(again.log("events").first).toBe(16);
    expect(await append(again, "old", "more")).toBe(11);
    const repeated = await again.commit((batch) => batch.append("events", "old", text("7"), "id 7"));
    expect(repeated).toMatchObject({ isDuplicate: true, appended: [{ sort: 7, version: 7 }] });
    await again.seal();
    await again.merge();
    expect((await all(again.log("events").scan())).map(({ sort }) => sort)).toEqual(
      [...Array(16).keys()].map((i) => i + 16),
    );
    expect(again.stats()).toMatchObject({ records_dropped: 5 });
  });

  test("raised again and again writes what is left of a part a few times, not each time", async () => {
    const { engine } = await stage(manual);
    const merged: number[] = [];
    for (let part = 0; part < 40; part++) {
      for (let i = 0; i < 20; i++) await append(engine, `key ${part} ${i}`, "x");
      await engine.seal();
      await engine.raiseFloor("events", engine.log("events").last + 1);
      await engine.runPendingMerges();
      merged.push(engine.stats().merged_bytes);
    }
    const { manifest_parts: parts, records_dropped: dropped } = engine.stats();
    expect(dropped).toBe(800);
    expect(parts).toBeLessThan(12);
    // Each part once when its records go, then once a level: were all written each time, twice as many would cost four times as much.
    expect((merged[39] as number) / (merged[19] as number)).toBeLessThan(3);
    expect(await engine.log("events").version("key 0 3")).toBe(1);
    expect(await append(engine, "key 0 3", "y")).toBe(2);
  });

  test("is at most behind the end, and never falls", async () => {
    const { engine } = await stage(manual);
    await append(engine, "a", "1");
    await expect(engine.raiseFloor("events", 3)).rejects.toMatchObject({ code: "OUT_OF_RANGE", data: { last: 1 } });
    await expect(engine.raiseFloor("state", 1)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    const nowhere = undefined as unknown as number;
    await expect(engine.raiseFloor("events", nowhere)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    await engine.raiseFloor("events", 2);
    await engine.raiseFloor("events", 1);
    expect(engine.log("events").first).toBe(2);
    expect(await events(engine)).toEqual([]);
  });

  test("is raised by retention, as far as limits let whole parts go", async () => {
    const { engine, host } = await stage(manual);
    for (let part = 0; part < 5; part++) {
      for (let i = 0; i < 10; i++) await append(engine, "a", "x");
      await engine.seal();
      await host.advance(1000);
    }
    expect(await engine.retain("events", { maxRecords: 50 })).toBe(1);
    expect(await engine.retain("events", { maxRecords: 35 })).toBe(21);
    expect(await engine.retain("events", { maxAgeSeconds: 2.5 }).catch((error: unknown) => error)).toMatchObject({
      code: "INVALID_ARGUMENT",
    });
    expect(await engine.retain("events", { maxAgeSeconds: 2 })).toBe(31);
    expect(await engine.retain("events", { maxBytes: 0 })).toBe(51);
    await expect(engine.retain("events", {})).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });
});

describe("a log that retention limits", () => {
  test("is let go while a merge is under way, not after it", async () => {
    const { engine, host } = await stage(manual);
    for (let part = 0; part < 4; part++) {
      for (let i = 0; i < 10; i++) await append(engine, "a", "x".repeat(300));
      await engine.seal();
    }
    const held = host.hold(["write"], /\.part$/);
    const merging = engine.merge({ dataset: "events" });
    await host.settle();
    expect(await engine.retain("events", { maxRecords: 15 })).toBe(31);
    held.release();
    await merging;
    expect(await events(engine)).toHaveLength(10);
    await engine.merge({ dataset: "events" });
    expect(engine.stats()).toMatchObject({ records_dropped: 30 });
  });

  test("is let go though there is always something to merge", async () => {
    const { engine } = await stage({ ...manual, background: true });
    let isRaised = false;
    for (let part = 0; part < 200 && !isRaised; part++) {
      await append(engine, "a", "x");
      await engine.commit((batch) => batch.put("state", `${part}`, text("x")));
      await engine.seal();
      if (part === 20) void engine.raiseFloor("events", 15).then(() => (isRaised = true));
    }
    expect(isRaised).toBe(true);
  });

  test("gets no part that holds more than a quarter of what is kept", async () => {
    const { engine, host } = await stage(manual);
    const largest = async (maxBytes: number): Promise<number> => {
      for (let part = 0; part < 40; part++) {
        for (let i = 0; i < 10; i++) await append(engine, "a", "x".repeat(3000));
        await engine.seal();
        await engine.retain("events", { maxBytes });
        await engine.runPendingMerges();
      }
      const { state } = await readManifest({ host, dir: "/store" });
      return Math.max(...[...state.parts.values()].map(({ fileBytes }) => fileBytes));
    };
    expect(await largest(10_000_000)).toBeGreaterThan(300_000);
    expect(await largest(800_000)).toBeLessThanOrEqual(200_000);
  });
});

describe("merging a map", () => {
  test("keeps the newest entry of a key, and counts what it dropped", async () => {
    const { engine, host } = await stage(manual);
    for (let round = 0; round < 4; round++) {
      for (let key = 0; key < 10; key++)
        await engine.commit((batch) => batch.put("state", `key ${key}`, text(`${round} ${key}`)));
      await engine.seal();
    }
    await engine.commit((batch) => batch.delete("state", "key 3"));
    await engine.seal();
    const before = await values(engine);
    await engine.merge({ dataset: "state" });
    expect(engine.stats()).toMatchObject({ records_superseded: 32, manifest_parts: 1 });
    expect(await values(engine)).toEqual(before);
    await engine.close();
    const again = await openOn(host, manual);
    expect(await values(again)).toEqual(before);
    await again.commit((batch) => batch.expect("state", "key 3", "none") ?? batch.put("state", "key 3", text("new")));
  });

  test("of newer parts alone leaves a delete, so that what older parts hold doesn't come back", async () => {
    const { engine } = await stage(manual);
    const put = async (key: string, value: string): Promise<unknown> =>
      engine.commit((batch) => batch.put("state", key, text(value)));
    for (let i = 0; i < 100; i++) await put(`key ${i}`, "first");
    await engine.seal();
    await engine.merge();
    await engine.commit((batch) => batch.delete("state", "key 7"));
    for (let i = 0; i < 4; i++) {
      await put("key 8", `${i}`);
      await engine.seal();
    }
    expect(await engine.runPendingMerges()).toBe(1);
    expect(engine.stats()).toMatchObject({ manifest_parts: 2, records_superseded: 3 });
    expect(await engine.map("state").get("key 7")).toBeUndefined();
    await engine.merge();
    expect(engine.stats()).toMatchObject({ manifest_parts: 1, records_superseded: 6 });
    expect(await engine.map("state").get("key 7")).toBeUndefined();
  });

  test("keeps what is above the floor", async () => {
    const { engine } = await stage({ background: false, historyRevisions: 5 });
    for (let i = 1; i <= 20; i++) await engine.commit((batch) => batch.put("state", "a", text(`${i}`)));
    await engine.seal();
    await engine.merge();
    expect(engine.stats()).toMatchObject({ records_superseded: 14 });
    await engine.scavenge();
    expect(engine.stats()).toMatchObject({ records_superseded: 19 });
    expect(await values(engine)).toEqual([["a", "20"]]);
  });
});

describe("what is being read", () => {
  test("stays on disk until the read has ended", async () => {
    const { engine, host } = await stage(manual);
    for (let i = 0; i < 600; i++) await append(engine, "a", "x".repeat(300));
    await engine.seal();
    const batches = engine.log("events").scan()[Symbol.asyncIterator]();
    const first = await batches.next();
    await engine.scavenge();
    const { pins, parts_retired: retired } = engine.stats();
    expect([pins, retired > 1]).toEqual([1, true]);
    expect(await partFiles(host)).toHaveLength(retired + 1);
    let count = (first.value as readonly unknown[]).length;
    for (let next = await batches.next(); next.done !== true; next = await batches.next()) count += next.value.length;
    expect(count).toBe(600);
    await host.settle();
    expect(engine.stats()).toMatchObject({ pins: 0, parts_retired: 0, orphans_reclaimed: retired });
    expect(await partFiles(host)).toHaveLength(1);
  });

  test("is let go when the read stands still for too long, which the read is told", async () => {
    const { engine, host } = await stage({ ...manual, pinIdleSeconds: 10 });
    for (let i = 0; i < 600; i++) await append(engine, "a", "x".repeat(300));
    await engine.seal();
    const batches = engine.log("events").scan()[Symbol.asyncIterator]();
    await batches.next();
    await engine.merge();
    await host.advance(9000);
    expect(engine.stats()).toMatchObject({ pins_expired: 0, oldest_pin_seconds: 9 });
    expect(engine.stats().parts_retired).toBeGreaterThan(1);
    await host.advance(12_000);
    expect(engine.stats()).toMatchObject({ pins: 0, pins_expired: 1, parts_retired: 0 });
    await expect(batches.next()).rejects.toMatchObject({ code: "COMPACTED" });
  });

  test("a snapshot in use stays, and one that isn't says so instead of missing files", async () => {
    const { engine, host } = await stage({ ...manual, pinIdleSeconds: 10, blockCacheBytes: 1024 * 1024 });
    const fill = async (): Promise<void> => {
      for (let i = 0; i < 3000; i++) {
        await append(engine, `key ${i % 50}`, "x".repeat(1000));
        if (i % 500 === 499) await engine.seal();
      }
    };
    const read = async (seconds: number): Promise<unknown> => {
      await fill();
      const snapshot = engine.snapshot();
      await engine.merge();
      let count = 0;
      for await (const batch of snapshot.log("events").scan()) {
        count += batch.length;
        await host.advance(seconds * 1000);
      }
      return count;
    };
    expect(await read(6)).toBe(3000);
    await expect(read(25)).rejects.toMatchObject({ code: "COMPACTED" });
  });

  test("a snapshot ends where it ended, also when a log is only in later generations", async () => {
    const { engine } = await stage(manual);
    await append(engine, "a", "before");
    await engine.seal();
    await engine.commit((batch) => batch.put("state", "a", text("x")));
    const snapshot = engine.snapshot();
    await engine.seal();
    await append(engine, "a", "after");
    expect([snapshot.log("events").last, engine.log("events").last]).toEqual([1, 2]);
    expect(await all(snapshot.log("events").scan({ direction: "backwards" }))).toHaveLength(1);
    snapshot.release();
  });

  test("a snapshot sees one moment, whatever is committed, sealed and merged", async () => {
    const { engine } = await stage(manual);
    const put = async (value: string): Promise<unknown> =>
      engine.commit((batch) => {
        batch.put("state", "a", text(value));
        batch.append("events", "a", text(value));
      });
    await put("before");
    const snapshot = engine.snapshot();
    await put("after");
    await engine.scavenge();
    await put("later");
    expect(Buffer.from((await snapshot.map("state").get("a"))?.payload ?? []).toString()).toBe("before");
    expect(await snapshot.log("events").version("a")).toBe(1);
    expect((await all(snapshot.log("events").scan())).length).toBe(1);
    expect(snapshot.log("events").last).toBe(1);
    expect(() => snapshot.log("state")).toThrow(expect.objectContaining({ code: "INVALID_ARGUMENT" }));
    snapshot.release();
    await expect(snapshot.map("state").get("a")).rejects.toMatchObject({ code: "CLOSED" });
    expect(engine.stats().pins).toBe(0);
  });
});

test("what nothing names is removed by an open, and nothing else", async () => {
  const { engine, host } = await stage(manual);
  await append(engine, "a", "x");
  await engine.close();
  const before = await partFiles(host);
  for (const name of ["000000000777.part", "notes.txt"]) {
    const file = await host.files.open(`/store/parts/${name}`, "create");
    await file.write(text("left"), 0);
    await file.close();
  }
  const again = await openOn(host, manual);
  expect(await partFiles(host)).toEqual([...before, "/store/parts/notes.txt"]);
  expect(again.stats()).toMatchObject({ orphans_reclaimed: 1, orphan_bytes: 4 });
});

test("merges that fail are tried again, less and less often", async () => {
  const { engine, host } = await stage({ ...manual, background: true });
  for (let part = 0; part < 3; part++) {
    await append(engine, "a", "x");
    await engine.seal();
  }
  for (let i = 0; i < 12; i++) host.failNext("job", "ENOSPC", /mergeParts/);
  await append(engine, "a", "x");
  await engine.seal();
  await host.settle();
  await host.advance(60_000);
  const { merge_failed: failed, merges } = engine.stats();
  expect([failed > 4, failed < 9, merges]).toEqual([true, true, 0]);
  expect(await events(engine)).toHaveLength(4);
  await host.advance(600_000);
  expect(engine.stats()).toMatchObject({ merge_failed: 12, merges: 1, manifest_parts: 1 });
});

test("what can't be removed at an open is counted, and removed later", async () => {
  const { engine, host } = await stage(manual);
  await append(engine, "a", "x");
  await engine.close();
  const file = await host.files.open("/store/parts/000000000777.part", "create");
  await file.close();
  host.failNext("remove", "EIO", /777/);
  const again = await openOn(host, manual);
  expect(again.stats()).toMatchObject({ orphans_reclaimed: 0, reclaim_failed: 1 });
  expect(await again.reclaimOrphans()).toMatchObject({ files: 1 });
});
