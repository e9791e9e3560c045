import { describe, expect, it } from "vitest";
import { simulatedHost } from "@ehdb/host";
import type { SimulatedHost } from "@ehdb/host";
import { inspectStore, salvageStore, verifyStore } from "@ehdb/l0";
import type { DurableEngine, EngineOptions, SalvageStoreReport } from "@ehdb/l0";
import {
  blocksIn,
  built,
  contents,
  dir,
  fill,
  keyOf,
  manifestFiles,
  openOn,
  partFiles,
  payloadOf,
  rewrite,
  segmentFiles,
} from "./drive.ts";

interface Salvaged {
  readonly report: SalvageStoreReport;
  readonly engine: DurableEngine;
  readonly all: string[];
}

/** Salvages the store, checks that it's whole then and that nothing was changed in the damaged one, and opens it. */
async function salvaged(host: SimulatedHost, options: Partial<EngineOptions> = {}): Promise<Salvaged> {
  const before = await bytesOf(host);
  const encryption = options.encryption && { encryption: options.encryption };
  const report = await salvageStore({ dir, to: "/saved", host, ...encryption });
  expect(await bytesOf(host)).toEqual(before);
  expect((await host.files.list("/")).toSorted()).toEqual(["saved", "store"]);
  expect((await verifyStore({ dir: "/saved", host, ...encryption })).damage).toEqual([]);
  const engine = await openOn(host, { dir: "/saved", ...options });
  return { report, engine, all: await contents(engine) };
}

async function contentsIn(host: SimulatedHost, of: string): Promise<string[]> {
  const engine = await openOn(host, { dir: of });
  const all = await contents(engine);
  await engine.close();
  return all;
}

async function bytesOf(host: SimulatedHost): Promise<string[]> {
  const files = [...(await partFiles(host)), ...(await segmentFiles(host)), ...(await manifestFiles(host))];
  return files.map(
    (file) => `${file} ${Buffer.from(host.content(file)).toString("base64").length} ${checksum(host, file)}`,
  );
}

const checksum = (host: SimulatedHost, file: string): number =>
  Buffer.from(host.content(file)).reduce((sum, byte) => (sum * 31 + byte) >>> 0, 0);

const isEvent = (text: string): boolean => / id-\d+ /.test(text);
const sortOf = (text: string): number => Number(/^\d+/.exec(text)?.[0]);

/** Garbage over a block, but for its first byte: no single bit explains it. */
async function spoil(host: SimulatedHost, file: string, offset: number, bytes = 64): Promise<void> {
  await rewrite(host, file, (before) => before.fill(0xa5, offset, Math.min(before.length, offset + bytes)));
}

describe("salvageStore", () => {
  it.each([
    ["plain", {}],
    ["compressed", { compression: "deflate" }],
    ["encrypted", { encryption: { current: "a", keys: { a: new Uint8Array(32).fill(7) } } }],
  ] as [string, Partial<EngineOptions>][])("of a whole store, %s, is the same store", async (_, options) => {
    const { host, all } = await built(options);
    const { report, engine, all: saved } = await salvaged(host, options);
    expect(report).toMatchObject({ damage: [], lost: [], partsCopied: 6, partsRebuilt: 0 });
    expect(report.commits).toBeGreaterThanOrEqual(100);
    expect(saved).toEqual(all);
    expect(engine.revision).toBe(1300);
    await fill(engine, 1400);
    expect(engine.log("events").last).toBe(1400);
    expect(await engine.log("events").version(keyOf(1400))).toBe(200);
    await engine.seal();
    await engine.merge();
    expect((await engine.verify()).ok).toBe(true);
    await engine.close();
  });

  it("of a log loses a damaged data block's records, says their positions, and has all others", async () => {
    const { host, all } = await built();
    for (const [part, block] of [
      [0, 1],
      [2, 0],
      [4, -1],
    ] as const) {
      const file = (await partFiles(host))[part] as string;
      const place = (await blocksIn(host, file)).filter(({ kind }) => kind === "data").at(block);
      if (place === undefined) throw new Error("there is no such block");
      await spoil(host, file, place.offset + 100);
    }
    const { report, engine, all: saved } = await salvaged(host);
    expect(report).toMatchObject({ partsCopied: 3, partsRebuilt: 3 });
    expect(report.damage).toHaveLength(3);
    expect(report.lost).toHaveLength(3);
    const lost = new Set<number>();
    for (const { kind, dataset, firstPosition = 0, lastPosition = 0 } of report.lost) {
      expect({ kind, dataset }).toEqual({ kind: "part", dataset: "events" });
      expect(lastPosition).toBeGreaterThan(firstPosition);
      for (let sort = firstPosition; sort <= lastPosition; sort++) lost.add(sort);
    }
    expect(saved).toEqual(all.filter((text) => !isEvent(text) || !lost.has(sortOf(text))));
    // Versions go on where they were, also of keys whose last records are lost.
    for (let number = 1301; number <= 1307; number++) await fill(engine, number);
    expect((await engine.log("events").scan({ from: 1301 })[Symbol.asyncIterator]().next()).value).toMatchObject(
      [1301, 1302, 1303, 1304, 1305, 1306, 1307].map((number) => ({
        sort: number,
        key: keyOf(number),
        version: Math.ceil(number / 7),
      })),
    );
    const versions: number[] = [];
    for await (const records of engine.log("events").read("k1"))
      versions.push(...records.map(({ version }) => version));
    expect(versions).toEqual(
      Array.from({ length: 187 }, (_, i) => i + 1).filter((version) => !lost.has((version - 1) * 7 + 1)),
    );
    await engine.seal();
    await engine.merge();
    expect((await engine.verify()).damage).toEqual([]);
    expect((await contents(engine)).filter(isEvent)).toHaveLength(saved.filter(isEvent).length + 7);
    await engine.close();
  });

  it("of a map loses a damaged data block's entries and says between which keys", async () => {
    const { host, all } = await built();
    const file = (await partFiles(host))[1] as string;
    const data = (await blocksIn(host, file)).filter(({ kind }) => kind === "data");
    expect(data.length).toBeGreaterThan(0);
    await spoil(host, file, (data[0]?.offset ?? 0) + 100);
    const { report, engine, all: saved } = await salvaged(host);
    expect(report.lost).toMatchObject([{ kind: "part", dataset: "state", file }]);
    // Newer parts have all keys.
    expect(saved).toEqual(all);
    await engine.close();
  });

  it("of a map shows an older value where the newer one is lost, and nothing where there is none", async () => {
    const host = simulatedHost({ seed: 1 });
    const engine = await openOn(host);
    const names = Array.from({ length: 300 }, (_, i) => `key-${String(i).padStart(3, "0")}`);
    const write = async (from: number, value: number): Promise<void> => {
      await Promise.all(
        names.slice(from).map((name) => engine.commit((batch) => batch.put("state", name, payloadOf(value)))),
      );
      await engine.seal();
    };
    await write(150, 1);
    await write(0, 2);
    const all = await contents(engine);
    await engine.close();
    const file = (await partFiles(host)).at(-1) as string;
    const data = (await blocksIn(host, file)).filter(({ kind }) => kind === "data");
    for (const place of [data[1], data.at(-2)]) await spoil(host, file, (place?.offset ?? 0) + 100);
    const { report, engine: saved, all: shown } = await salvaged(host);
    expect(report.lost).toHaveLength(2);
    const isLost = (name: string): boolean =>
      report.lost.some(({ firstKey = "", lastKey = "~" }) => firstKey < name && name < lastKey);
    const lost = names.filter(isLost);
    expect(lost.length).toBeGreaterThan(40);
    expect(shown.filter((text) => !isLost(text.slice(0, 7)))).toEqual(all.filter((text) => !isLost(text.slice(0, 7))));
    for (const name of lost) {
      const value = await saved.map("state").get(name);
      const older = names.indexOf(name) >= 150 ? payloadOf(1) : undefined;
      expect(value && Buffer.from(value.payload), name).toEqual(older);
    }
    await saved.close();
  });

  it.each(["postings", "ids", "index", "keyBloom", "idBloom", "header", "footer"])(
    "loses nothing when it's the %s of a part that is damaged",
    async (kind) => {
      const { host, all } = await built();
      for (const file of await partFiles(host)) {
        const { length } = host.content(file);
        if (kind === "header") host.flipBit(file, 30, 2);
        else if (kind === "footer") await spoil(host, file, length - 300, 100);
        else {
          for (const place of (await blocksIn(host, file)).filter((one) => one.kind === kind))
            await spoil(host, file, place.offset + 20, 10);
        }
      }
      const { report, engine, all: saved } = await salvaged(host);
      expect(report.lost).toEqual([]);
      expect(report.damage.length).toBeGreaterThan(0);
      expect(saved).toEqual(all);
      await engine.close();
    },
  );

  it("has the front of a part that was cut, and says what one that is missing held", async () => {
    const { host, all } = await built();
    const [one = "", , other = ""] = await partFiles(host);
    await rewrite(host, one, (bytes) => bytes.subarray(0, 60_000));
    const facts = await inspectStore({ dir, host });
    await host.files.remove(other);
    const { report, engine, all: saved } = await salvaged(host);
    expect(facts.datasets[0]?.parts).toBe(3);
    expect(report.lost).toHaveLength(2);
    const [cut, missing] = report.lost.toSorted((a, b) => (a.firstPosition ?? 0) - (b.firstPosition ?? 0));
    expect(cut).toMatchObject({ file: one, dataset: "events", lastPosition: 600 });
    expect(missing).toMatchObject({
      file: other,
      firstPosition: 601,
      lastPosition: 900,
      reason: "the file is missing",
    });
    const kept = all.filter((text) => !isEvent(text) || sortOf(text) < (cut?.firstPosition ?? 0) || sortOf(text) > 900);
    expect(saved).toEqual(kept);
    expect(cut?.firstPosition).toBeGreaterThan(50);
    await engine.close();
  });

  it.each([
    ["CURRENT", async (host: SimulatedHost) => spoil(host, `${dir}/CURRENT`, 0, 10)],
    [
      "the manifest in force",
      async (host: SimulatedHost) => spoil(host, (await manifestFiles(host)).at(-1) ?? "", 140),
    ],
    [
      "an edit of it",
      async (host: SimulatedHost) => {
        const file = (await manifestFiles(host)).at(-1) ?? "";
        const at = Buffer.from(host.content(file)).indexOf('"edit":');
        expect(at).toBeGreaterThan(0);
        await spoil(host, file, at, 8);
      },
    ],
    [
      "one bit of each manifest",
      async (host: SimulatedHost) => {
        for (const file of await manifestFiles(host)) host.flipBit(file, 200, 3);
      },
    ],
  ])("loses nothing when it's %s that is damaged", async (_, damage) => {
    const { host, all } = await built();
    await damage(host);
    const { report, engine, all: saved } = await salvaged(host);
    expect(report.damage.length).toBeGreaterThan(0);
    expect(report.lost).toEqual([]);
    expect(saved).toEqual(all);
    await engine.close();
  });

  it("finds the records when no manifest can be read, but not the names of their datasets", async () => {
    const { host, all } = await built();
    for (const file of await manifestFiles(host)) await spoil(host, file, 20, 300);
    await salvageStore({ dir, to: "/saved", host });
    const datasets = [
      { name: "dataset-1", order: "by-sort" },
      { name: "dataset-2", order: "by-key" },
    ] as const;
    const engine = await openOn(host, { dir: "/saved", datasets });
    expect(await contents(engine, "dataset-1", "dataset-2")).toEqual(all);
    await engine.close();
  });

  it("doesn't bring back what a merge has dropped, when the manifest that says so is damaged", async () => {
    const host = simulatedHost({ seed: 1 });
    const engine = await openOn(host, { historyRevisions: 0 });
    await fill(engine, 100);
    await engine.seal();
    const parts = new Map((await partFiles(host)).map((file) => [file, Buffer.from(host.content(file))]));
    await engine.commit((batch) => batch.erase("events", "k1", 10));
    await engine.seal();
    await engine.merge();
    const all = await contents(engine);
    expect(all.some((text) => text.includes("k1@9 "))).toBe(false);
    await engine.close();
    // As if a crash had come before they were removed.
    for (const [path, bytes] of parts) {
      const file = await host.files.open(path, "create");
      await file.write(bytes, 0);
      await file.close();
    }
    await spoil(host, `${dir}/CURRENT`, 0, 10);
    for (const file of (await manifestFiles(host)).slice(1)) await spoil(host, file, 20, 200);
    const { report, engine: saved } = await salvaged(host);
    expect(report.lost).toEqual([]);
    expect(await contents(saved)).toEqual(all);
    await saved.close();
  });

  it("remembers the ids and the last versions of erased records, when their part is made anew", async () => {
    const host = simulatedHost({ seed: 1 });
    const engine = await openOn(host);
    await engine.commit((batch) => {
      for (const id of ["one", "two", "three"]) batch.append("events", "gone", payloadOf(1), id);
    });
    await fill(engine, 100);
    await engine.commit((batch) => batch.erase("events", "gone", 4));
    await engine.seal();
    await engine.merge();
    const all = await contents(engine);
    await engine.close();
    const [file = ""] = await partFiles(host);
    for (const place of (await blocksIn(host, file)).filter(({ kind }) => kind === "index"))
      await spoil(host, file, place.offset + 20, 10);
    const { report, engine: saved } = await salvaged(host);
    expect(report).toMatchObject({ lost: [], partsRebuilt: 1 });
    expect(await contents(saved)).toEqual(all);
    const again = await saved.commit((batch) => batch.append("events", "gone", payloadOf(1), "two"));
    expect(again).toMatchObject({ isDuplicate: true, appended: [{ version: 2 }] });
    const next = await saved.commit((batch) => batch.append("events", "gone", payloadOf(1), "four"));
    expect(next.appended).toMatchObject([{ version: 4 }]);
    await saved.close();
  });

  it("has what the journal gives, and says which commits it lacks", async () => {
    const { host, all } = await built();
    const file = (await segmentFiles(host)).at(-1) as string;
    const bytes = Buffer.from(host.content(file));
    const at = bytes.indexOf("id-1250");
    expect(at).toBeGreaterThan(0);
    host.flipBit(file, at, 1);
    const { report, engine, all: saved } = await salvaged(host);
    expect(report.lost).toMatchObject([{ kind: "journal" }]);
    const { firstRevision = 0, lastRevision = 0 } = report.lost[0] ?? {};
    expect(firstRevision).toBeGreaterThan(1220);
    expect(lastRevision).toBeLessThan(1300);
    const events = all.filter(isEvent);
    expect(saved.filter(isEvent)).toEqual(
      events.filter((text) => sortOf(text) < firstRevision || sortOf(text) > lastRevision),
    );
    await engine.close();
  });

  it("says that the end is missing of a journal that ends before what was sealed", async () => {
    const { host, all } = await built();
    const newest = (await segmentFiles(host)).at(-1) as string;
    const first = Buffer.from(host.content(newest)).indexOf("EHDB", 4096);
    await rewrite(host, newest, (bytes) => bytes.subarray(0, first));
    const length = first;
    const { damage } = await verifyStore({ dir, host });
    expect(damage).toMatchObject([{ kind: "journal", file: newest, offset: length }]);
    const { report, all: saved } = await salvaged(host);
    expect(report.lost).toMatchObject([{ kind: "journal", file: newest, offset: length, firstRevision: 1201 }]);
    expect(saved.filter(isEvent)).toEqual(all.filter((text) => isEvent(text) && sortOf(text) <= 1200));
  });

  it("has the parts when the journal is gone", async () => {
    const { host, all } = await built();
    for (const file of await segmentFiles(host)) await host.files.remove(file);
    await host.files.remove(`${dir}/journal/LOCK`);
    await host.files.removeDirectory(`${dir}/journal`);
    const report = await salvageStore({ dir, to: "/saved", host });
    expect(report.lost).toMatchObject([{ kind: "journal", firstRevision: 1201 }]);
    const engine = await openOn(host, { dir: "/saved" });
    const events = (await contents(engine)).filter(isEvent);
    expect(events).toEqual(all.filter(isEvent).slice(0, 1200));
    await engine.close();
  });

  it("makes another incarnation, in which checkpoints of what is lost are refused", async () => {
    const { host } = await built();
    const { epoch, incarnation, storeId } = await inspectStore({ dir, host });
    for (const file of await segmentFiles(host)) await spoil(host, file, 4096, 2 ** 30);
    const { engine } = await salvaged(host);
    expect(() => engine.log("events").assertContinues(1250, epoch)).toThrow(/took it back/);
    expect(engine.storeId).toBe(storeId);
    await engine.close();
    expect((await inspectStore({ dir: "/saved", host })).incarnation).not.toBe(incarnation);
  });

  it("of what a crash leaves, at any step of seals and merges, is what an open shows", async () => {
    let isDone = false;
    for (let crash = 1; !isDone; crash += 3) {
      const host = simulatedHost({ seed: crash });
      const engine = await openOn(host);
      await fill(engine, 20);
      await engine.seal();
      await fill(engine, 40);
      host.crashAfter(crash);
      const work = (async () => {
        await engine.seal();
        await fill(engine, 50);
        await engine.merge();
        return "done";
      })();
      isDone = (await Promise.race([work, host.whenFrozen()])) === "done";
      const left = host.crash();
      // With the manifest, and without knowing which one is in force.
      await salvageStore({ dir, to: "/saved", host: left });
      const before = await contentsIn(left, "/saved");
      const current = Buffer.from(left.content(`${dir}/CURRENT`));
      await spoil(left, `${dir}/CURRENT`, 0, 10);
      const { lost } = await salvageStore({ dir, to: "/guessed", host: left });
      expect(lost).toEqual([]);
      await rewrite(left, `${dir}/CURRENT`, () => current);
      const all = await contentsIn(left, dir);
      expect(before, `crash ${crash}`).toEqual(all);
      expect(await contentsIn(left, "/guessed"), `crash ${crash}`).toEqual(all);
    }
  });

  it("beside a writer that seals and merges is refused, or gives all: what went meanwhile isn't told as lost", async () => {
    const codes = new Set<string>();
    for (let seed = 1; seed <= 12; seed++) {
      const { host } = await built({}, seed);
      const engine = await openOn(host);
      const write = async (): Promise<void> => {
        for (let steps = 0; steps < 13 * seed; steps++) await host.clock.yield();
        await fill(engine, 1350);
        await engine.seal();
        await engine.merge();
      };
      const salvaging = salvageStore({ dir, to: "/saved", host }).then(
        ({ lost, damage }) => {
          expect([seed, lost, damage]).toEqual([seed, [], []]);
          return "made";
        },
        (error: { code: string }) => error.code,
      );
      const [code] = await Promise.all([salvaging, write()]);
      codes.add(code);
      await engine.close();
      expect(await host.files.list("/")).toEqual(code === "made" ? ["saved", "store"] : ["store"]);
    }
    expect([...codes].filter((code) => code !== "made")).toEqual(["LOCKED"]);
  });

  it("is refused where it makes no sense, and stops by its signal, leaving nothing", async () => {
    const { host } = await built();
    await expect(salvageStore({ dir, to: dir, host })).rejects.toMatchObject({ code: "INVALID_OPTION" });
    await expect(salvageStore({ dir: "/none", to: "/saved", host })).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(salvageStore({ dir, to: `${dir}/parts`, host })).rejects.toMatchObject({ code: "INVALID_OPTION" });
    await expect(salvageStore({ dir, to: `${dir}/new/one`, host })).rejects.toMatchObject({ code: "INVALID_OPTION" });
    const stop = new AbortController();
    const stopped = salvageStore({ dir, to: "/saved", host, signal: stop.signal, onProgress: () => stop.abort() });
    await expect(stopped).rejects.toMatchObject({ code: "ABORTED" });
    expect(await host.files.list("/")).toEqual(["store"]);
  });
});
