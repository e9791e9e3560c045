import type { SimulatedHost } from "@ehdb/host";
import { openEngineReader } from "@ehdb/l0";
import type { DurableEngine, EngineReader } from "@ehdb/l0";
import { describe, expect, test } from "vitest";
import { stage } from "./drive.ts";
import { all, Ledger } from "./reader-ledger.ts";

/** More than a reader keeps open. */
const parts = 70;
const keys = Array.from({ length: 20 }, (_, n) => `key ${String(n).padStart(2, "0")}`);
const value = (text: string): Buffer => Buffer.from(text.padEnd(3000, "."));
const textOf = ({ payload }: { readonly payload: Uint8Array }): string =>
  Buffer.from(payload).toString().split(".")[0] ?? "";

interface Beside {
  readonly host: SimulatedHost;
  readonly engine: DurableEngine;
  readonly reader: EngineReader;
}

/** Many parts, each with something of every key. */
async function beside(historyRevisions: number): Promise<Beside> {
  const { host, engine } = await stage({ background: false, historyRevisions, sealMaxBytes: 1024 * 1024 });
  for (let round = 1; round <= parts; round++) {
    await engine.commit((batch) => {
      for (const key of keys) {
        batch.put("state", key, value(`${round}`));
        batch.append("events", key, value(`${round} ${key}`));
      }
    });
    await engine.seal();
  }
  return { host, engine, reader: await openEngineReader({ dir: "/store", host }) };
}

/** Commits newer values, and leaves one part of all, or of what isn't below a log's floor. */
async function overtake({ host, engine }: Beside, floor = 0): Promise<void> {
  if (floor > 0) await engine.raiseFloor("events", floor);
  const before = await host.files.list("/store/parts");
  await engine.commit((batch) => {
    for (const key of keys) {
      batch.put("state", key, value("newer"));
      batch.append("events", key, value(`newer ${key}`));
    }
  });
  await engine.seal();
  await engine.merge();
  await host.settle();
  const after = await host.files.list("/store/parts");
  expect(after.filter((name) => before.includes(name))).toEqual([]);
}

async function interrupted<T>(batches: AsyncIterable<readonly T[]>, meanwhile: () => Promise<void>): Promise<T[]> {
  const found: T[] = [];
  let isFirst = true;
  for await (const batch of batches) {
    found.push(...batch);
    if (isFirst) await meanwhile();
    isFirst = false;
  }
  return found;
}

/** More than a scan has read ahead when it gives its first batch. */
const wide = Array.from({ length: 1500 }, (_, n) => `key ${String(n).padStart(4, "0")}`);

/** A scan of a map of which everything is written anew and merged after the first batch. */
async function mapInterrupted(historyRevisions: number): Promise<[string, string][]> {
  const { host, engine } = await stage({ background: false, historyRevisions, sealMaxBytes: 4 * 1024 * 1024 });
  const write = async (text: string, keysOfIt: readonly string[]): Promise<void> => {
    await engine.commit((batch) => {
      for (const key of keysOfIt) batch.put("state", key, Buffer.from(text.padEnd(1200, ".")));
    });
    await engine.seal();
  };
  for (let round = 1; round <= 3; round++) await write("older", wide);
  for (let round = 4; round <= parts; round++) await write("older", wide.slice(0, 60));
  const reader = await openEngineReader({ dir: "/store", host });
  const found = await interrupted(reader.map("state").scan(), async () => {
    // Another scan takes the places of the files that this one has open.
    await all(reader.map("state").scan({ limit: 1 }));
    await write("newer", wide);
    await engine.merge();
    await host.settle();
  });
  return found.map((record) => [record.key, textOf(record)]);
}

describe("a read whose parts are merged away", () => {
  test.each(["forwards", "backwards"] as const)("gives the same records of a log, %s", async (direction) => {
    const stores = await beside(0);
    const wanted = (await all(stores.engine.log("events").scan({ direction }))).map(({ sort }) => sort);
    const scan = stores.reader.log("events").scan({ direction });
    const records = await interrupted(scan, () => overtake(stores));
    expect(records.map(({ sort }) => sort)).toEqual(wanted);
  });

  test.each(["forwards", "backwards"] as const)("gives as many of a key as were asked for, %s", async (direction) => {
    const stores = await beside(0);
    const options = { direction, limit: parts - 5 };
    const wanted = (await all(stores.engine.log("events").read("key 07", options))).map(textOf);
    const read = stores.reader.log("events").read("key 07", options);
    expect((await interrupted(read, () => overtake(stores))).map(textOf)).toEqual(wanted);
  });

  test("gives the values of its moment, as long as merges keep them", async () => {
    const values = await mapInterrupted(1000);
    expect(values).toEqual(wide.map((key) => [key, "older"]));
  });

  test("ends with COMPACTED when the values of its moment are gone, and never shows two moments", async () => {
    await expect(mapInterrupted(0)).rejects.toMatchObject({ code: "COMPACTED", data: { dataset: "state" } });
  });

  describe("and the log's floor rises meanwhile", () => {
    const last = parts * keys.length;

    test("goes on when all that it hasn't given stays", async () => {
      const stores = await beside(0);
      const from = last - 300;
      const scan = stores.reader.log("events").scan({ from });
      const records = await interrupted(scan, () => overtake(stores, from));
      expect(records.map(({ sort }) => sort)).toEqual(Array.from({ length: 301 }, (_, n) => from + n));
    });

    test("goes on backwards when it wants no more than what stays", async () => {
      const stores = await beside(0);
      const scan = stores.reader.log("events").scan({ direction: "backwards", limit: 300 });
      const records = await interrupted(scan, () => overtake(stores, last - 350));
      expect(records.map(({ sort }) => sort)).toEqual(Array.from({ length: 300 }, (_, n) => last - n));
    });

    test.each(["forwards", "backwards"] as const)("ends with COMPACTED and not in silence, %s", async (direction) => {
      const stores = await beside(0);
      const scan = stores.reader.log("events").scan({ direction });
      await expect(interrupted(scan, () => overtake(stores, last - 100))).rejects.toMatchObject({
        code: "COMPACTED",
        data: { first: last - 100 },
      });
    });

    test.each(["forwards", "backwards"] as const)("ends a read of a key with COMPACTED, %s", async (direction) => {
      const stores = await beside(0);
      const read = stores.reader.log("events").read("key 07", { direction });
      await expect(interrupted(read, () => overtake(stores, last - 100))).rejects.toMatchObject({
        code: "COMPACTED",
        data: { key: "key 07", first: last - 100 },
      });
    });

    test("ends with COMPACTED also before the first record", async () => {
      const stores = await beside(0);
      await overtake(stores, last - 100);
      // The reader hasn't looked since.
      await expect(all(stores.reader.log("events").scan())).rejects.toMatchObject({ code: "COMPACTED" });
      expect(stores.reader.log("events").first).toBe(last - 100);
    });

    test.each(["forwards", "backwards"] as const)(
      "ends a read of a key of which nothing was given and nothing is left with COMPACTED, %s",
      async (direction) => {
        const stores = await beside(0);
        const { engine, host, reader } = stores;
        await overtake(stores, last + 1);
        await engine.raiseFloor("events", engine.log("events").last + 1);
        await engine.merge();
        await host.settle();
        const later = await openEngineReader({ dir: "/store", host });
        expect(await all(later.log("events").read("key 07", { direction }))).toEqual([]);
        // It hasn't looked since.
        await expect(all(reader.log("events").read("key 07", { direction }))).rejects.toMatchObject({
          code: "COMPACTED",
        });
      },
    );
  });

  test("ends a read of a key with COMPACTED when what comes next was erased meanwhile", async () => {
    const stores = await beside(0);
    const read = stores.reader.log("events").read("key 07");
    const ended = interrupted(read, async () => {
      await stores.engine.commit((batch) => batch.erase("events", "key 07", parts));
      await overtake(stores);
    });
    await expect(ended).rejects.toMatchObject({ code: "COMPACTED", data: { key: "key 07" } });
  });

  test.each([{}, { limit: 30 }])("keeps its moment backwards too, before anything was given: %o", async (options) => {
    const stores = await beside(0);
    const backwards = { direction: "backwards", ...options } as const;
    const wanted = [
      await all(stores.engine.log("events").scan(backwards)),
      await all(stores.engine.log("events").read("key 07", backwards)),
    ].map((records) => records.map(textOf));
    const readers = [stores.reader, await openEngineReader({ dir: "/store", host: stores.host })] as const;
    await overtake(stores);
    // Neither has looked since.
    const [scanning, reading] = readers;
    expect((await all(scanning.log("events").scan(backwards))).map(textOf)).toEqual(wanted[0]);
    expect((await all(reading.log("events").read("key 07", backwards))).map(textOf)).toEqual(wanted[1]);
  });

  test("asks again: a lookup", async () => {
    const stores = await beside(0);
    await overtake(stores);
    expect(await stores.reader.log("events").version("key 03")).toBe(parts + 1);
    expect(textOf((await stores.reader.map("state").get("key 03")) ?? { payload: value("none") })).toBe("newer");
  });
});

test("a reader goes on beside a writer that merges by itself", async () => {
  const { host, engine } = await stage();
  const ledger = new Ledger();
  const reader = await openEngineReader({ dir: "/store", host });
  for (let round = 0; round < 30; round++) {
    await ledger.fill(engine, 20, 900);
    await engine.seal();
    await host.advance(500);
    await reader.refresh();
    expect(await ledger.differences(reader)).toEqual([]);
  }
  expect(engine.stats().merges).toBeGreaterThan(2);
  expect(reader.stats().parts).toBeLessThan(30);
  await reader.close();
  await engine.close();
});

test("what lies below a log's floor can't be read beside the writer either", async () => {
  const { host, engine } = await stage();
  const ledger = new Ledger();
  await ledger.fill(engine, 50, 900);
  const reader = await openEngineReader({ dir: "/store", host });
  await engine.raiseFloor("events", 20);
  await reader.refresh();
  const log = reader.log("events");
  expect([log.first, (await all(log.scan()))[0]?.sort]).toEqual([20, 20]);
  await expect(all(log.scan({ from: 19 }))).rejects.toMatchObject({ code: "COMPACTED" });
  await reader.close();
  await engine.close();
});
