import { KIB } from "@ehdb/contracts";
import { operationKinds } from "@ehdb/host";
import type { OperationKind, SimulatedHost } from "@ehdb/host";
import { openEngineReader } from "@ehdb/l0";
import type { EngineReader, EngineReaderOptions } from "@ehdb/l0";
import { describe, expect, test } from "vitest";
import { openOn, stage } from "./drive.ts";
import { all, Ledger } from "./reader-ledger.ts";

const openReader = (host: SimulatedHost, options: Partial<EngineReaderOptions> = {}): Promise<EngineReader> =>
  openEngineReader({ dir: "/store", host, ...options });

const reading: ReadonlySet<OperationKind> = new Set(["open", "read", "list", "stat", "size", "close"]);
const otherThanReading = (host: SimulatedHost): number =>
  operationKinds.filter((kind) => !reading.has(kind)).reduce((sum, kind) => sum + host.operations[kind], 0);

describe("a reader beside a live writer", () => {
  test.each([1, 2, 3])("shows the store at a revision, through many seals (seed %i)", async (seed) => {
    const { host, engine } = await stage({}, seed);
    const ledger = new Ledger();
    const reader = await openReader(host);
    expect([reader.revision, reader.log("events").last]).toEqual([0, 0]);
    for (let round = 0; round < 12; round++) {
      await ledger.fill(engine, 30 + ((seed * round) % 7), round % 2 === 0 ? 900 : 20);
      if (round % 4 === 3) await engine.seal();
      await reader.refresh();
      expect(await ledger.differences(reader)).toEqual([]);
    }
    expect(engine.heads.sealed).toBeGreaterThan(100);
    await host.advance(100);
    expect(await reader.refresh()).toBe(ledger.revision);
    expect(await ledger.differences(reader)).toEqual([]);
    await reader.close();
    await engine.close();
  });

  test.each([1, 2, 3, 4])(
    "shows one moment in each read, while commits, seals and looks go on (seed %i)",
    async (seed) => {
      const { host, engine } = await stage({}, seed);
      const ledger = new Ledger();
      const reader = await openReader(host);
      let isWriting = true;
      const write = async (): Promise<void> => {
        for (let round = 0; round < 40; round++) {
          await ledger.fill(engine, 1 + ((seed + round) % 50), 300);
          if (round % 5 === 4) await engine.seal();
        }
        isWriting = false;
      };
      const look = async (): Promise<void> => {
        while (isWriting) await reader.refresh();
      };
      const read = async (): Promise<number> => {
        let reads = 0;
        for (; isWriting; reads++) {
          const { revision } = reader;
          const { last } = reader.log("events");
          const records = all(reader.log("events").scan());
          expect([last, (await records).length]).toEqual([revision, revision]);
          expect(reader.stats().unsealedCommits).toBeGreaterThanOrEqual(0);
          await host.clock.yield();
        }
        return reads;
      };
      const [reads] = await Promise.all([read(), write(), look()]);
      expect(reads).toBeGreaterThan(5);
      await host.advance(100);
      expect(await reader.refresh()).toBe(ledger.revision);
      expect(await ledger.differences(reader)).toEqual([]);
      await reader.close();
      await engine.close();
    },
  );

  test("takes no lock and writes nothing", async () => {
    const { host, engine } = await stage();
    const ledger = new Ledger();
    await ledger.fill(engine, 200, 900);
    await engine.close();
    const before = otherThanReading(host);
    const reader = await openReader(host);
    await reader.refresh();
    expect(reader.revision).toBe(200);
    expect(await ledger.differences(reader)).toEqual([]);
    await reader.close();
    expect(otherThanReading(host)).toBe(before);
  });

  test("doesn't show what isn't durable yet", async () => {
    const { host, engine } = await stage({ durability: "async" });
    const ledger = new Ledger();
    const reader = await openReader(host);
    await ledger.fill(engine, 20);
    await host.advance(100);
    expect(await reader.refresh()).toBe(0);
    await engine.flush();
    await host.advance(100);
    expect(await reader.refresh()).toBe(20);
    await reader.close();
    await engine.close();
  });

  test("follows: news of a commit wakes it, and a close does", async () => {
    const { host, engine } = await stage();
    const ledger = new Ledger();
    const reader = await openReader(host);
    const first = reader.news(0);
    await ledger.commit(engine);
    await host.advance(200);
    await first;
    expect(reader.revision).toBe(1);
    const ended = reader.news(1);
    await reader.close();
    await ended;
    await expect(reader.news(1)).rejects.toMatchObject({ code: "CLOSED" });
    await expect(reader.refresh()).rejects.toMatchObject({ code: "CLOSED" });
    await engine.close();
  });

  test("a floor that it saw before the edit's sync, which failed, stays", async () => {
    const { host, engine } = await stage();
    const ledger = new Ledger();
    await ledger.fill(engine, 40);
    await host.advance(100);
    const reader = await openReader(host);
    const held = host.hold(["dataSync"], /manifest/);
    host.failNext("dataSync", "EIO", /manifest/);
    const raising = engine.raiseFloor("events", 20).catch((error: unknown) => error);
    await host.settle();
    await reader.refresh();
    expect(reader.log("events").first).toBe(20);
    held.release();
    expect(await raising).toMatchObject({ code: "IO_ERROR" });
    await engine.raiseFloor("events", 5);
    expect(engine.log("events").first).toBe(5);
    await reader.refresh();
    expect(reader.log("events").first).toBe(20);
    expect((await all(reader.log("events").scan()))[0]?.sort).toBe(20);
    await reader.close();
    await engine.close();
  });

  test("says which datasets changed", async () => {
    const { host, engine } = await stage();
    const reader = await openReader(host);
    await engine.commit((batch) => batch.put("state", "a", Buffer.from("1")));
    await engine.commit((batch) => batch.append("events", "b", Buffer.from("2")));
    await host.advance(100);
    await reader.refresh();
    expect([reader.lastRevision("state"), reader.lastRevision("events")]).toEqual([1, 2]);
    await engine.seal();
    await engine.commit((batch) => batch.append("events", "b", Buffer.from("3")));
    await host.advance(100);
    await reader.refresh();
    expect([reader.lastRevision("state"), reader.lastRevision("events")]).toEqual([1, 3]);
    await reader.close();
    await engine.close();
  });

  test("goes on when the writer is closed and opened again, and holds its files no longer than it reads them", async () => {
    const { host, engine } = await stage();
    const ledger = new Ledger();
    await ledger.fill(engine, 100, 900);
    const reader = await openReader(host);
    await engine.close();
    let writer = await openOn(host);
    for (let round = 0; round < 4; round++) {
      await ledger.fill(writer, 60, 900);
      await writer.close();
      await reader.refresh();
      expect(reader.revision).toBe(ledger.revision);
      expect(await ledger.differences(reader)).toEqual([]);
      expect(reader.epoch).toBe(writer.epoch);
      writer = await openOn(host);
    }
    await reader.close();
    await writer.close();
  });
});

describe("after the writer was", () => {
  test.each(["killed", "cut off"])(
    "%s a reader shows all that was stated, alone and beside the next writer",
    async (how) => {
      for (let seed = 1; seed <= 8; seed++) {
        const { host: before, engine } = await stage({}, seed);
        const ledger = new Ledger();
        for (let batch = 0; batch < 3; batch++) await ledger.fill(engine, 40, 900);
        const sealing = engine.seal().catch(() => undefined);
        before.crashAfter(seed * 5);
        await before.whenFrozen();
        void sealing;
        const host = how === "killed" ? before.kill() : before.crash();
        const reader = await openReader(host);
        const alone = reader.revision;
        expect(alone).toBeGreaterThan(0);
        expect(await ledger.differences(reader)).toEqual([]);
        const writer = await openOn(host);
        await ledger.fill(writer, 80, 900);
        await writer.seal();
        await host.advance(100);
        expect(await reader.refresh()).toBe(ledger.revision);
        expect(await ledger.differences(reader)).toEqual([]);
        await reader.close();
        await writer.close();
      }
    },
  );
});

describe("a reader refuses", () => {
  test("a directory without a store, a dataset that isn't there, and one of the other order", async () => {
    const { host, engine } = await stage();
    await expect(openReader(host, { dir: "/nowhere" })).rejects.toMatchObject({ code: "NOT_FOUND" });
    const datasets = [{ name: "missing", order: "by-sort" }] as const;
    await expect(openReader(host, { datasets })).rejects.toMatchObject({ code: "INVALID_OPTION" });
    await expect(openReader(host, { pollMillis: 0 })).rejects.toMatchObject({ code: "INVALID_OPTION" });
    const reader = await openReader(host);
    expect(reader.datasets.map(({ name }) => name)).toContain("events");
    expect(() => reader.map("events")).toThrow(expect.objectContaining({ code: "INVALID_ARGUMENT" }));
    await reader.close();
    expect(() => reader.log("events")).toThrow(expect.objectContaining({ code: "CLOSED" }));
    await engine.close();
  });

  test("a part that is missing for good: CORRUPT", async () => {
    const { host, engine } = await stage();
    await new Ledger().fill(engine, 100, 900);
    await engine.seal();
    await engine.close();
    const [part] = await host.files.list("/store/parts");
    await host.files.remove(`/store/parts/${part}`);
    const reader = await openReader(host);
    await expect(all(reader.log("events").scan())).rejects.toMatchObject({ code: "CORRUPT" });
    await reader.close();
  });

  test("a store that has lost its journal: CORRUPT", async () => {
    const { host, engine } = await stage();
    await engine.close();
    await host.files.rename("/store/journal", "/elsewhere");
    await expect(openReader(host)).rejects.toMatchObject({ code: "CORRUPT", data: { file: "/store/journal" } });
  });

  test("a store whose key it wasn't given", async () => {
    const keys = { k1: new Uint8Array(32).fill(7) };
    const { host, engine } = await stage({ encryption: { current: "k1", keys } });
    const ledger = new Ledger();
    await ledger.fill(engine, 100, 900);
    await engine.close();
    await expect(openReader(host)).rejects.toMatchObject({ code: "KEY_MISSING" });
    const reader = await openReader(host, { encryption: { keys } });
    expect(await ledger.differences(reader)).toEqual([]);
    await reader.close();
  });
});

test("what a reader holds in memory doesn't grow with what was sealed", async () => {
  const { host, engine } = await stage();
  const ledger = new Ledger();
  const reader = await openReader(host, { blockCacheBytes: 1024 * KIB });
  for (let round = 0; round < 10; round++) {
    await ledger.fill(engine, 50, 4000);
    await engine.seal();
    await host.advance(100);
    const { revision } = reader;
    await reader.refresh();
    expect(reader.revision).toBeGreaterThan(revision);
  }
  expect(reader.stats().unsealedBytes).toBeLessThan(300 * KIB);
  await reader.close();
  await engine.close();
});
