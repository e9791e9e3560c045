import { isEhdbError, KIB } from "@ehdb/contracts";
import type { ImportedRecord, LogRecord } from "@ehdb/contracts";
import { inspectStore, openEngineReader, restoreStore, salvageStore, verifyStore } from "@ehdb/l0";
import type { SimulatedHost } from "@ehdb/host";
import type { DurableEngine } from "@ehdb/l0";
import { describe, expect, test } from "vitest";
import { openOn, stage } from "./drive.ts";

/** Many small records of few keys, with gaps in their positions. */
function records(count: number, from = 1): ImportedRecord[] {
  return Array.from({ length: count }, (_, i) => {
    const number = from + i;
    return {
      sort: number * 3,
      key: `k${number % 5}`,
      version: Math.floor(number / 5) + 1,
      time: 1000 + number,
      id: `id-${number}`,
      payload: Buffer.alloc(50, number),
    };
  });
}

const small = { sealMaxBytes: 64 * KIB, sealMaxCommits: 10, background: false } as const;

async function all(engine: Pick<DurableEngine, "log">): Promise<LogRecord[]> {
  const found: LogRecord[] = [];
  for await (const batch of engine.log("events").scan()) found.push(...batch);
  return found;
}

const shown = (all: readonly (ImportedRecord | LogRecord)[]): unknown[] =>
  all.map(({ sort, key, version, time, id, payload }) => [
    sort,
    key,
    version,
    time,
    id,
    Buffer.from(payload).toString("hex"),
  ]);

/** Goes on until the edit that makes the import visible waits for its write, or its sync. */
async function atItsEdit(
  host: SimulatedHost,
  engine: DurableEngine,
  kind: "write" | "dataSync" = "dataSync",
): Promise<{ release(): void }> {
  const ofSeal = host.hold(["dataSync"], /manifest/);
  await host.settle();
  const sealing = engine.seal();
  ofSeal.release();
  await sealing;
  const ofImport = host.hold([kind], /manifest/);
  await host.settle();
  return ofImport;
}

describe("an import into many parts", () => {
  test("reads the same after a reopen, a merge of some parts, of all, and beside the writer", async () => {
    const { host, engine } = await stage(small);
    const given = records(100);
    const { storeId } = engine;
    await engine.import("events", [given.slice(0, 33), given.slice(33)]);
    expect(engine.stats()).toMatchObject({ manifest_parts: 10, appends: 100 });
    const reader = await openEngineReader({ dir: "/store", host });
    const same = async (one: Pick<DurableEngine, "log">): Promise<void> => {
      expect(shown(await all(one))).toEqual(shown(given));
      for (let key = 0; key < 5; key++) {
        const ofKey: LogRecord[] = [];
        for await (const batch of one.log("events").read(`k${key}`)) ofKey.push(...batch);
        expect(shown(ofKey)).toEqual(shown(given.filter((record) => record.key === `k${key}`)));
      }
    };
    await same(engine);
    await same(reader);
    await engine.close();
    const next = await openOn(host, small);
    expect(next.storeId).toBe(storeId);
    await same(next);
    expect(await next.runPendingMerges()).toBeGreaterThan(0);
    await same(next);
    await next.close();
    const third = await openOn(host, small);
    await same(third);
    await third.merge();
    await same(third);
    expect((await third.verify()).damage).toEqual([]);
    expect((await third.commit((batch) => batch.append("events", "k1", Buffer.from("x")))).appended).toEqual([
      { sort: 301, version: 21 },
    ]);
    await third.close();
    await reader.close();
  });

  test("is seen by a reader that was open before, with what is committed behind it", async () => {
    const { host, engine } = await stage(small);
    const reader = await openEngineReader({ dir: "/store", host });
    expect(await all(reader)).toEqual([]);
    const news = reader.news(reader.revision);
    await engine.import("events", [records(25)]);
    await engine.commit((batch) => batch.append("events", "k1", Buffer.from("behind")));
    await host.advance(1000);
    await news;
    await host.advance(1000);
    await reader.refresh();
    expect((await all(reader)).map(({ sort }) => sort)).toEqual([...records(25).map(({ sort }) => sort), 76]);
    await reader.close();
    await engine.close();
  });

  test("is seen by a reader that looked right before it became visible", async () => {
    const { host, engine } = await stage(small);
    const reader = await openEngineReader({ dir: "/store", host });
    const importing = engine.import("events", [records(5)]);
    const edit = await atItsEdit(host, engine, "write");
    await reader.refresh();
    expect(await all(reader)).toEqual([]);
    edit.release();
    await importing;
    await engine.commit((batch) => batch.append("events", "k1", Buffer.from("behind")));
    await host.advance(1000);
    await reader.refresh();
    expect((await all(reader)).map(({ sort }) => sort)).toEqual([3, 6, 9, 12, 15, 16]);
    expect(reader.log("events").last).toBe(16);
    await reader.close();
    await engine.close();
  });

  test("is in a backup, and in a salvage of a store whose manifests are lost", async () => {
    const { host, engine } = await stage(small);
    const given = records(35);
    await engine.import("events", [given]);
    await engine.backup("/backup");
    await engine.close();
    await restoreStore({ from: "/backup", to: "/restored", host });
    const restored = await openOn(host, { ...small, dir: "/restored" });
    expect(shown(await all(restored))).toEqual(shown(given));
    await restored.close();
    await host.files.remove("/store/CURRENT");
    await salvageStore({ dir: "/store", to: "/salvaged", host });
    const datasets = [{ name: "events", order: "by-sort" } as const];
    const { datasets: named } = await inspectStore({ dir: "/salvaged", host });
    expect(named.map(({ name }) => name)).toContain("events");
    const salvaged = await openOn(host, { ...small, dir: "/salvaged", datasets });
    expect(shown(await all(salvaged))).toEqual(shown(given));
    await salvaged.close();
    expect((await verifyStore({ dir: "/salvaged", host })).ok).toBe(true);
  });

  test("works on encrypted and compressed parts", async () => {
    const encryption = { current: "k", keys: { k: new Uint8Array(32).fill(7) } };
    const { host, engine } = await stage({ ...small, encryption, compression: "deflate" });
    await engine.import("events", [records(25)]);
    await engine.close();
    const next = await openOn(host, { ...small, encryption });
    expect(shown(await all(next))).toEqual(shown(records(25)));
    await next.close();
  });

  test("asks for a batch only when parts are made of those before it", async () => {
    const { host, engine } = await stage(small);
    let most = 0;
    const source = async function* (): AsyncGenerator<ImportedRecord[]> {
      for (let i = 0; i < 100; i++) {
        const inParts = (await host.files.list("/store/parts")).length * small.sealMaxCommits;
        most = Math.max(most, i * 4 - inParts);
        yield records(4, 1 + i * 4);
      }
    };
    await engine.import("events", source());
    expect(most).toBeLessThan(small.sealMaxCommits);
    expect((await all(engine)).length).toBe(400);
    await engine.close();
  });
});

describe("an import whose disk fails", () => {
  test("in a part's sync leaves nothing, and can be repeated", async () => {
    const { host, engine } = await stage(small);
    host.failNext("dataSync", "EIO", /\.part$/);
    await expect(engine.import("events", [records(25)])).rejects.toMatchObject({ code: "IO_ERROR" });
    expect(await all(engine)).toEqual([]);
    expect((await host.files.list("/store/parts")).length).toBe(0);
    await engine.import("events", [records(25)]);
    expect(shown(await all(engine))).toEqual(shown(records(25)));
    await engine.close();
  });

  test("in the edit of the manifest isn't there, also not after a crash, and can be repeated", async () => {
    const { host, engine } = await stage(small);
    const importing = engine.import("events", [records(5)]).catch((error: unknown) => error);
    const edit = await atItsEdit(host, engine);
    host.failNext("dataSync", "EIO", /manifest/);
    edit.release();
    expect(await importing).toMatchObject({ code: "IO_ERROR" });
    expect([await all(engine), await host.files.list("/store/parts")]).toEqual([[], []]);
    await engine.commit((batch) => batch.append("events", "other", Buffer.from("x")));
    const next = await openOn(host.crash("everything"), small);
    expect((await all(next)).map(({ key }) => key)).toEqual(["other"]);
    await next.close();
  });

  test("in the edit of the manifest keeps the log locked until it's sure, and a close meanwhile doesn't know", async () => {
    for (const keep of ["nothing", "everything"] as const) {
      const { host, engine } = await stage(small);
      const importing = engine.import("events", [records(5)]).catch((error: unknown) => error);
      const edit = await atItsEdit(host, engine);
      const failNext = (): void => host.failNext("dataSync", "EIO", /manifest/);
      failNext();
      failNext();
      edit.release();
      for (let tries = 0; tries < 5; tries++) {
        failNext();
        await host.advance(250);
      }
      failNext();
      await expect(engine.commit((batch) => batch.append("events", "other", Buffer.from("x")))).rejects.toMatchObject({
        code: "LOCKED",
      });
      const closing = engine.close();
      await host.advance(2000);
      expect(await importing).toMatchObject({ code: "OUTCOME_UNKNOWN", data: { dataset: "events" } });
      await closing;
      const next = await openOn(host.crash(keep), small);
      const there = await all(next);
      expect([0, 5]).toContain(there.length);
      if (there.length > 0) expect(shown(there)).toEqual(shown(records(5)));
      await next.commit((batch) => batch.append("events", "other", Buffer.from("x")));
      expect((await all(next)).at(-1)?.sort).toBe(there.length === 0 ? 1 : 16);
      expect((await next.verify()).damage).toEqual([]);
      await next.close();
    }
  });

  test("for want of room says so, and can be repeated", async () => {
    const { host, engine } = await stage(small);
    await engine.commit((batch) => batch.put("state", "a", Buffer.from("x")));
    const free = await host.files.freeBytes("/");
    host.faults.noSpaceAfterBytes = 0;
    expect(free).toBeGreaterThan(0);
    await expect(engine.import("events", [records(500)])).rejects.toMatchObject({ code: "NO_SPACE" });
    host.faults.noSpaceAfterBytes = Infinity;
    await host.advance(2000);
    await engine.import("events", [records(500)]);
    expect((await all(engine)).length).toBe(500);
    await engine.close();
  });

  test("for good is POISONED, and a reopen starts with an empty log", async () => {
    const { host, engine } = await stage(small);
    await engine.commit((batch) => batch.put("state", "a", Buffer.from("x")));
    host.failNext("dataSync", "EIO", /journal/);
    const error = await engine.import("events", [records(25)]).catch((thrown: unknown) => thrown);
    expect(isEhdbError(error, "POISONED")).toBe(true);
    await expect(engine.import("events", [records(25)])).rejects.toMatchObject({ code: "POISONED" });
    await engine.reopen();
    expect(await all(engine)).toEqual([]);
    await engine.import("events", [records(25)]);
    expect((await all(engine)).length).toBe(25);
    await engine.close();
  });
});
