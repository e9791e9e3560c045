import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MIB } from "@ehdb/contracts";
import { LogPart } from "../../src/part/log-part.ts";
import { searchId, searchKey } from "../../src/part/search-key.ts";
import {
  all,
  buildLog,
  damages,
  expected,
  hashOf,
  logPart,
  noise,
  path,
  revisionOf,
  ring,
  sampleLog,
  timeOf,
  shown,
  stage,
} from "./drive.ts";
import type { LogItem } from "./drive.ts";

const seed = Number(process.env["SEED"] ?? Date.now() % 1_000_000);
const options = { seed, numRuns: 25 };

const key = fc.oneof(
  fc.constantFrom("a", "b", "hot"),
  fc.string({ minLength: 1, maxLength: 40, unit: "grapheme" }),
  fc.string({ minLength: 1000, maxLength: 1024, unit: "binary-ascii" }),
);
const size = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: 0, max: 800 }) },
  { weight: 1, arbitrary: fc.integer({ min: 16_000, max: 17_000 }) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 100_000 }) },
);
const records = fc.array(
  fc.record({
    key,
    gap: fc.integer({ min: 1, max: 3 }),
    id: fc.option(fc.oneof(fc.constantFrom("x", "y"), fc.string({ minLength: 1, unit: "grapheme" }))),
    size,
  }),
  { minLength: 1, maxLength: 120 },
);

/** The drawn records with their positions and versions. */
function itemsOf(drawn: readonly { key: string; gap: number; id: string | null; size: number }[]): LogItem[] {
  const versions = new Map<string, number>();
  let sort = 0;
  return drawn.map(({ key, gap, id, size }, i) => {
    sort += gap;
    const version = (versions.get(key) ?? 4) + 1;
    versions.set(key, version);
    return { sort, key, version, id: id ?? undefined, payload: noise(size, i) };
  });
}

describe(`a part of a log (seed ${seed})`, () => {
  it("gives back every record by position, by key and by id, compressed and encrypted or not", async () => {
    await fc.assert(
      fc.asyncProperty(records, fc.boolean(), fc.boolean(), async (drawn, isCompressed, isEncrypted) => {
        const items = itemsOf(drawn);
        const built = buildLog(items, {
          compression: isCompressed ? "deflate" : "none",
          encryption: isEncrypted ? { keyId: "k", masterKey: ring.keys["k"] as Uint8Array } : undefined,
        });
        const part = await logPart(built, { encryption: isEncrypted ? ring : undefined });
        expect((await all(part.scan())).map(shown)).toEqual(items.map(expected));
        expect((await all(part.scan({ direction: "backwards" }))).map(shown)).toEqual(items.map(expected).reverse());
        for (const key of new Set(items.map((item) => item.key))) {
          const own = items.filter((item) => item.key === key);
          expect(await part.versions(searchKey(key))).toEqual({ first: 5, last: 4 + own.length });
          expect((await all(part.read(searchKey(key)))).map(shown)).toEqual(own.map(expected));
        }
        for (const { key, id } of items) {
          if (id === undefined) continue;
          const last = items.findLast((item) => item.key === key && item.id === id) as LogItem;
          const { sort, version } = last;
          const found = await part.findId(searchId(searchKey(key), id));
          const revision = revisionOf(sort);
          expect(found).toEqual({ sort, version, revision, time: timeOf(revision), hash: hashOf(id) });
        }
        expect(await damages(part)).toEqual([]);
      }),
      options,
    );
  });

  it("gives any range of positions, either way", async () => {
    const items = sampleLog(600, 20, 300);
    const part = await logPart(buildLog(items));
    const bound = fc.integer({ min: 0, max: 700 });
    await fc.assert(
      fc.asyncProperty(bound, bound, fc.boolean(), async (from, to, isBackwards) => {
        const wanted = items.filter(({ sort }) => sort >= from && sort <= to).map(({ sort }) => sort);
        const direction = isBackwards ? "backwards" : "forwards";
        const found = (await all(part.scan({ from, to, direction }))).map(({ sort }) => sort);
        expect(found).toEqual(isBackwards ? wanted.reverse() : wanted);
      }),
      { seed, numRuns: 150 },
    );
  });

  it("gives the record at a position, and none in a gap or beyond", async () => {
    const items = sampleLog(600, 20, 300);
    const part = await logPart(buildLog(items));
    const bySort = new Map(items.map((item) => [item.sort, item]));
    for (let sort = 0; sort < 660; sort++) {
      const item = bySort.get(sort);
      const found = await part.recordAt(sort);
      expect(found && shown(found)).toEqual(item && expected(item));
    }
  });

  it("reads any range of versions of a key with 5 000, either way, and none of them fills a giant block", async () => {
    const items = Array.from({ length: 10_000 }, (_, i) => ({
      sort: i + 1,
      key: i % 2 === 0 ? "hot" : `cold-${i}`,
      version: i % 2 === 0 ? 1 + i / 2 : 1,
      payload: noise(20, i),
    }));
    const part = await logPart(buildLog(items));
    expect(await part.versions(searchKey("hot"))).toEqual({ first: 1, last: 5000 });
    const edge = fc.constantFrom(1, 1024, 1025, 2048, 2049, 4096, 4097, 5000);
    const bound = fc.oneof(edge, fc.integer({ min: 1, max: 5100 }));
    await fc.assert(
      fc.asyncProperty(bound, bound, fc.boolean(), async (from, to, isBackwards) => {
        const direction = isBackwards ? "backwards" : "forwards";
        const found = (await all(part.read(searchKey("hot"), { from, to, direction }))).map(({ version }) => version);
        const wanted = Array.from({ length: Math.max(0, Math.min(to, 5000) - from + 1) }, (_, i) => from + i);
        expect(found).toEqual(isBackwards ? wanted.reverse() : wanted);
      }),
      {
        seed,
        numRuns: 60,
        examples: [
          [1000, 1025, false],
          [1024, 2000, true],
        ],
      },
    );
    expect(await damages(part)).toEqual([]);
  });

  it("holds a record of 5 MiB in a block of its own", async () => {
    const items = sampleLog(30, 3, 100).map((item, i) => (i === 17 ? { ...item, payload: noise(5 * MIB, 1) } : item));
    for (const compression of ["none", "deflate"] as const) {
      const part = await logPart(buildLog(items, { compression }), { cacheBytes: 8 * MIB });
      const batches: number[] = [];
      for await (const batch of part.scan()) batches.push(batch.length);
      expect(batches).toEqual([17, 1, 12]);
      expect((await all(part.scan())).map(shown)).toEqual(items.map(expected));
      expect((await all(part.read(searchKey(items[17]?.key ?? "")))).length).toBe(10);
    }
  });

  it("answers at once and without reading once the blocks are in memory, and says when they aren't", async () => {
    const items = sampleLog(300, 10, 200);
    const built = buildLog(items);
    const part = await logPart(built);
    const key = searchKey("key-3");
    const item = items.find(({ key, id }) => key === "key-3" && id !== undefined) as LogItem;
    const id = searchId(key, item.id ?? "");
    expect(part.lastVersionCached(key)).toBeUndefined();
    expect(part.findIdCached(id)).toBeUndefined();
    await part.versions(key);
    expect(part.lastVersionCached(key)).toBe(30);
    expect(part.findIdCached(id)).toBeUndefined();
    await part.findId(id);
    expect(part.findIdCached(id)?.sort).toBe(item.sort);
  });

  it("finds nothing under an absent key or id, and under an id of another key", async () => {
    const items = sampleLog(300, 10, 200);
    const part = await logPart(buildLog(items));
    for (const absent of ["", "key", "key-", "key-10", "key-33", "zzz", "\u{10ffff}"]) {
      expect(await part.versions(searchKey(absent))).toBeUndefined();
      expect(await all(part.read(searchKey(absent)))).toEqual([]);
      expect(await part.findId(searchId(searchKey("key-1"), absent))).toBeUndefined();
      expect(part.lastVersionCached(searchKey(absent)) ?? 0).toBe(0);
    }
    const { key, id = "" } = items.find((item) => item.id !== undefined) as LogItem;
    expect(await part.findId(searchId(searchKey(key), id))).toBeDefined();
    expect(await part.findId(searchId(searchKey(`${key}0`), id))).toBeUndefined();
  });

  it("reads nothing until it's asked, and each block once; a scan reads many at once, and keeps what others keep", async () => {
    const items = sampleLog(1000, 10, 200);
    const built = buildLog(items);
    const { host, ...context } = await stage(built.bytes);
    const before = host.operations.read;
    const part = new LogPart(context, path, built.meta);
    expect(host.operations.read).toBe(before);
    await all(part.scan());
    const scanned = host.operations.read - before;
    const blocks = context.cache.stats.blocks;
    expect(built.bytes.length).toBeGreaterThan(12 * 16_384);
    expect(scanned).toBeLessThan(10);
    expect(blocks).toBeLessThan(4);
    const keys = [...new Set(items.map(({ key }) => key))];
    for (const key of keys) await all(part.read(searchKey(key)));
    const reads = host.operations.read;
    for (const key of keys) await all(part.read(searchKey(key)));
    await all(part.scan());
    await all(part.scan({ direction: "backwards" }));
    expect(host.operations.read).toBe(reads);
  });
});
