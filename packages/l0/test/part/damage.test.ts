import { describe, expect, it } from "vitest";
import { isEhdbError } from "@ehdb/contracts";
import { LogPart } from "../../src/part/log-part.ts";
import { MapPart } from "../../src/part/map-part.ts";
import { operation } from "../../src/envelope.ts";
import { PART_FOOTER_BYTES } from "../../src/part/part-format.ts";
import { searchId, searchKey } from "../../src/part/search-key.ts";
import {
  all,
  buildLog,
  buildMap,
  codeOf,
  damages,
  expected,
  expectedEntry,
  inOrder,
  logPart,
  mapPart,
  masterKey,
  noise,
  path,
  place,
  ring,
  sampleLog,
  shown,
  shownEntry,
  stage,
} from "./drive.ts";
import type { Built, LogItem, MapItem } from "./drive.ts";

const seed = Number(process.env["SEED"] ?? Date.now() % 1_000_000);
const encryption = { keyId: "k", masterKey };
const items = sampleLog(250, 12, 150);
const wanted = items.map(expected);
const mapItems: MapItem[] = Array.from({ length: 300 }, (_, i) => ({
  key: `k${i % 90}`,
  revision: i + 1,
  operation: operation.put,
  payload: noise(100, i),
}));

function draw(count: number, bound: number): number[] {
  const bytes = noise(count * 4, seed);
  return Array.from({ length: count }, (_, i) => bytes.readUInt32LE(i * 4) % bound);
}

function flipped(built: Built, bit: number): Built {
  const bytes = Buffer.from(built.bytes);
  bytes[bit >>> 3] = (bytes[bit >>> 3] as number) ^ (1 << (bit & 7));
  return { meta: built.meta, bytes };
}

/** Every read there is. Wrong data fails the test; errors are counted. */
async function readAll(part: LogPart, context: string): Promise<Set<string>> {
  const codes = new Set<string>();
  const attempt = async (read: () => Promise<void>): Promise<void> => {
    try {
      await read();
    } catch (error) {
      if (!isEhdbError(error)) throw error;
      expect(error.data["file"], context).toBe(path);
      expect(typeof error.data["offset"], context).toBe("number");
      codes.add(error.code);
    }
  };
  for (const direction of ["forwards", "backwards"] as const) {
    await attempt(async () => {
      const found = (await all(part.scan({ direction }))).map(shown);
      expect(direction === "forwards" ? found : found.reverse(), context).toEqual(wanted);
    });
  }
  for (const key of new Set(items.map((item) => item.key))) {
    await attempt(async () => {
      const own = items.filter((item) => item.key === key);
      expect(await part.versions(searchKey(key)), context).toEqual({ first: 1, last: own.length });
      expect((await all(part.read(searchKey(key)))).map(shown), context).toEqual(own.map(expected));
    });
  }
  for (const item of items.filter(({ id }) => id !== undefined)) {
    await attempt(async () => {
      const found = await part.findId(searchId(searchKey(item.key), item.id ?? ""));
      expect(found?.sort, context).toBe(item.sort);
      expect((await part.recordAt(item.sort))?.version, context).toBe(item.version);
    });
  }
  return codes;
}

describe(`a damaged part (seed ${seed})`, () => {
  it("any flipped bit is found by verify and by the reads that meet it, and never becomes data", async () => {
    for (const options of [{}, { compression: "deflate" as const, encryption }]) {
      const built = buildLog(items, options);
      for (const bit of draw(150, built.bytes.length * 8)) {
        const context = `bit ${bit} of ${built.bytes.length * 8}`;
        const part = await logPart(flipped(built, bit), { encryption: ring });
        const found = await damages(part);
        expect(found.length, context).toBeGreaterThan(0);
        expect(found[0]?.file).toBe(path);
        expect(await readAll(part, context), context).toEqual(new Set(["CORRUPT"]));
      }
    }
  });

  it("the same of a map", async () => {
    const built = buildMap(mapItems);
    const expectedAll = inOrder(mapItems).map(expectedEntry);
    for (const bit of draw(60, built.bytes.length * 8)) {
      const part = await mapPart(flipped(built, bit));
      expect((await damages(part)).length).toBeGreaterThan(0);
      let met = 0;
      await all(part.scan()).then(
        (entries) => expect(entries.map(shownEntry)).toEqual(expectedAll),
        (error: unknown) => void (met += Number(isEhdbError(error, "CORRUPT"))),
      );
      for (const { key, revision } of mapItems) {
        await part.get(searchKey(key), revision).then(
          (entry) => expect(entry?.record.revision).toBe(revision),
          (error: unknown) => void (met += Number(isEhdbError(error, "CORRUPT"))),
        );
      }
      expect(met, `bit ${bit}`).toBeGreaterThan(0);
    }
  });

  it("a damaged block says where it is, and the others are still read", async () => {
    const built = buildLog(items);
    const part = await logPart(flipped(built, (4096 + 20_000) * 8));
    const [damage, ...others] = await damages(part);
    expect(others).toEqual([]);
    expect(damage?.offset).toBeGreaterThan(4096);
    expect(damage?.offset).toBeLessThan(4096 + 20_000);
    expect((await part.recordAt(items[0]?.sort as number))?.key).toBe(items[0]?.key);
    expect((await part.recordAt(items.at(-1)?.sort as number))?.key).toBe(items.at(-1)?.key);
    await expect(all(part.scan())).rejects.toMatchObject({
      code: "CORRUPT",
      data: { file: path, offset: damage?.offset },
    });
  });

  it("is CORRUPT when it was cut short or written on, wherever", async () => {
    const { meta, bytes } = buildLog(items);
    const cuts = [
      0,
      1,
      4095,
      4096,
      4097,
      bytes.length - PART_FOOTER_BYTES,
      bytes.length - 1,
      ...draw(20, bytes.length),
    ];
    for (const cut of cuts) {
      const part = await logPart({ meta, bytes: bytes.subarray(0, cut) });
      expect(await codeOf(part.recordAt(10)), `cut to ${cut}`).toBe("CORRUPT");
      expect((await damages(part)).length, `cut to ${cut}`).toBe(1);
    }
    const longer = await logPart({ meta, bytes: Buffer.concat([bytes, Buffer.alloc(1)]) });
    expect(await codeOf(longer.recordAt(10))).toBe("CORRUPT");
  });

  it("is CORRUPT when the file is missing, or is another part's", async () => {
    const built = buildLog(items);
    const context = await stage(built.bytes);
    const missing = new LogPart(context, "/store/parts/000000000008.part", { ...built.meta, id: 8 });
    expect(await codeOf(missing.recordAt(10))).toBe("CORRUPT");
    const other = buildLog(items, { id: 9, salt: noise(32, 6) });
    expect(await codeOf((await logPart({ meta: built.meta, bytes: other.bytes })).recordAt(10))).toBe("CORRUPT");
    const otherLevel = buildLog(items, { level: 1 });
    expect(await codeOf((await logPart({ meta: built.meta, bytes: otherLevel.bytes })).recordAt(10))).toBe("CORRUPT");
  });

  it("a block of another part, or of another place in this one, isn't taken for the block that belongs there", async () => {
    const one = buildLog(items);
    const other = buildLog(items, { salt: noise(32, 6) });
    const from = Buffer.from(one.bytes);
    other.bytes.copy(from, 4096, 4096, 4096 + 16_000);
    expect(await codeOf(all((await logPart({ meta: one.meta, bytes: from })).scan()))).toBe("CORRUPT");
    const same = sampleLog(400, 1, 150).map((item) => ({ ...item, id: undefined, payload: Buffer.alloc(150) }));
    const built = buildLog(same);
    const size = 16 + built.bytes.readUInt32LE(4096 + 4);
    const moved = Buffer.from(built.bytes);
    built.bytes.copy(moved, 4096 + size, 4096, 4096 + size);
    expect(await codeOf(all((await logPart({ meta: built.meta, bytes: moved })).scan()))).toBe("CORRUPT");
  });
});

describe("what isn't damage", () => {
  it("a missing key and a wrong key are told apart from rot, and from each other", async () => {
    const built = buildLog(items, { encryption });
    const of = async (keys: Record<string, Uint8Array>): Promise<string> =>
      codeOf((await logPart(built, { encryption: { current: "k", keys } })).recordAt(10));
    expect(await of({ k: masterKey })).toBe("none");
    expect(await of({ k: noise(32, 1) })).toBe("WRONG_KEY");
    expect(await of({ other: masterKey })).toBe("KEY_MISSING");
    expect(await codeOf((await logPart(built)).recordAt(10))).toBe("KEY_MISSING");
    expect(await codeOf(damages(await logPart(built)))).toBe("KEY_MISSING");
    expect((await damages(await logPart(flipped(built, 8 * 4000), { encryption: ring })))[0]?.offset).toBe(0);
  });

  it("nothing that was encrypted can be seen in the file", () => {
    const secret = items.map((item, i) => ({
      ...item,
      key: `secret-key-${i % 9}`,
      version: 1 + Math.floor(i / 9),
      payload: Buffer.from("plain words ".repeat(9)),
    }));
    const { bytes } = buildLog(secret, { encryption });
    expect(bytes.includes("secret-key")).toBe(false);
    expect(bytes.includes("plain words")).toBe(false);
    expect(buildLog(secret).bytes.includes("plain words")).toBe(true);
  });

  it("another format version is UNSUPPORTED_VERSION", async () => {
    const { crc32 } = await import("node:zlib");
    const { meta, bytes } = buildLog(items);
    bytes.writeUInt32LE(3, 8);
    expect(await codeOf((await logPart({ meta, bytes })).recordAt(10))).toBe("CORRUPT");
    bytes.writeUInt32LE(crc32(bytes.subarray(0, 4092)), 4092);
    expect(await codeOf((await logPart({ meta, bytes })).recordAt(10))).toBe("UNSUPPORTED_VERSION");
  });

  it("an error of the disk is IO_ERROR, and the next call reads again", async () => {
    const built = buildLog(items);
    const context = await stage(built.bytes);
    const part = new LogPart(context, path, built.meta);
    const { key, id = "", sort } = items[0] as LogItem;
    context.host.faults.readError = 0.5;
    let failures = 0;
    for (let i = 0; i < 20; i++) {
      context.cache.forget(7);
      let found: { readonly sort: number } | undefined;
      while (found === undefined) {
        found = await part.findId(searchId(searchKey(key), id)).catch((error: unknown) => {
          expect(isEhdbError(error, "IO_ERROR")).toBe(true);
          failures++;
          return undefined;
        });
      }
      expect(found.sort).toBe(sort);
    }
    expect(failures).toBeGreaterThan(5);
    context.host.faults.readError = 1;
    context.cache.forget(7);
    expect(await codeOf(all(part.scan()))).toBe("IO_ERROR");
    expect(await codeOf(damages(part))).toBe("IO_ERROR");
    context.host.faults.readError = 0;
    expect((await all(part.scan())).length).toBe(items.length);
  });

  it("few files stay open, however many parts are read, and all are closed in the end", async () => {
    const parts: { part: LogPart; items: LogItem[] }[] = [];
    const context = await stage(Buffer.alloc(0), { maxHandles: 3 });
    for (let id = 10; id < 30; id++) {
      const own = sampleLog(50, 3, id);
      const built = buildLog(own, { id, salt: noise(32, id) });
      const at = `/store/parts/0000000000${id}.part`;
      await place(context.host, at, built.bytes);
      parts.push({ part: new LogPart(context, at, built.meta), items: own });
    }
    const { open: openedBefore, close: closedBefore } = { ...context.host.operations };
    await Promise.all(parts.map(async ({ part, items }) => expect((await all(part.scan())).length).toBe(items.length)));
    await context.host.settle();
    const { open, close } = context.host.operations;
    expect(open - openedBefore - (close - closedBefore)).toBeLessThanOrEqual(3);
    await context.handles.close();
    expect(context.host.operations.open - openedBefore).toBe(context.host.operations.close - closedBefore);
  });

  it("a map isn't read as a log, nor a log as a map", async () => {
    const map = buildMap(mapItems);
    const context = await stage(map.bytes);
    expect(await codeOf(new LogPart(context, path, map.meta).recordAt(1))).toBe("UNEXPECTED");
    const log = buildLog(items);
    expect(await codeOf(new MapPart(await stage(log.bytes), path, log.meta).get(searchKey("a"), 1))).toBe("UNEXPECTED");
  });
});
