import { describe, expect, it } from "vitest";
import { operation } from "../../src/envelope.ts";
import { metaOfBuilt } from "../../src/part/built-part.ts";
import { searchId, searchKey } from "../../src/part/search-key.ts";
import {
  all,
  appendOp,
  buildLog,
  builder,
  buildMap,
  damages,
  logPart,
  mapOp,
  mapPart,
  noise,
  revisionOf,
  sampleLog,
  timeOf,
} from "./drive.ts";

describe("a part builder", () => {
  it("says what the manifest needs to know, and the file says the same", () => {
    const items = sampleLog(100, 5, 40);
    const { meta, bytes } = buildLog(items, { level: 2 });
    const first = items[0]?.sort as number;
    const last = items.at(-1)?.sort as number;
    expect(meta).toEqual({
      id: 7,
      dataset: 3,
      level: 2,
      records: 100,
      fileBytes: bytes.length,
      firstSort: first,
      lastSort: last,
      firstRevision: revisionOf(first),
      lastRevision: revisionOf(last),
      firstTime: timeOf(revisionOf(first)),
      lastTime: timeOf(revisionOf(last)),
      ids: 34,
      erasures: 0,
    });
    expect(metaOfBuilt(bytes)).toEqual(meta);
    expect(metaOfBuilt(bytes.subarray(1))).toBeUndefined();
    expect(metaOfBuilt(bytes.subarray(0, 100))).toBeUndefined();
  });

  it("builds the same bytes from the same input", () => {
    const items = sampleLog(100, 5, 40);
    expect(buildLog(items).bytes.equals(buildLog(items).bytes)).toBe(true);
  });

  it("hands out data as it comes: what waits is less than two blocks", () => {
    let out = 0;
    let taken = 0;
    const { builder: part } = builder({ sink: (bytes) => (out += bytes.length) });
    for (const item of sampleLog(5000, 5, 400)) {
      const op = appendOp(item);
      part.add(op, 0, 1, 1);
      taken += op.length;
      expect(taken - out).toBeLessThan(33_000);
    }
  });

  it("refuses a log out of order, a version out of turn, another dataset's op, and a map's", () => {
    const none = Buffer.alloc(0);
    const cases = [
      [{ sort: 1, key: "a", version: 2 }, 3],
      [{ sort: 2, key: "a", version: 2 }, 3],
      [{ sort: 3, key: "a", version: 3 }, 3],
      [{ sort: 3, key: "a", version: 1 }, 3],
      [{ sort: 3, key: "a", version: 2 }, 4],
    ] as const;
    for (const [item, dataset] of cases) {
      const { builder: part } = builder();
      part.add(appendOp({ sort: 2, key: "a", version: 1, payload: none }), 0, 1, 1);
      const op = appendOp({ ...item, payload: none }, dataset);
      expect(() => part.add(op, 0, 2, 2)).toThrow(expect.objectContaining({ code: "UNEXPECTED" }));
    }
    const put = mapOp({ key: "a", revision: 1, operation: operation.put, payload: none });
    expect(() => builder().builder.add(put, 0, 1, 1)).toThrow(expect.objectContaining({ code: "UNEXPECTED" }));
    const torn = appendOp({ sort: 1, key: "a", version: 1, payload: noise(9, 1) }).subarray(0, 20);
    expect(() => builder().builder.add(torn, 0, 1, 1)).toThrow(expect.objectContaining({ code: "UNEXPECTED" }));
  });

  it("refuses a map out of order, and to build nothing", () => {
    const put = (key: string, revision: number): Buffer =>
      mapOp({ key, revision, operation: operation.put, payload: Buffer.alloc(0) });
    for (const [key, revision] of [
      ["a", 9],
      ["b", 5],
      ["b", 6],
    ] as const) {
      const { builder: part } = builder({ order: "by-key" });
      part.add(put("b", 5), 0, 5, 1);
      expect(() => part.add(put(key, revision), 0, revision, 1)).toThrow(
        expect.objectContaining({ code: "UNEXPECTED" }),
      );
    }
    expect(() => builder().finish()).toThrow(expect.objectContaining({ code: "UNEXPECTED" }));
  });

  it("keeps everything findable when keys and ids need several levels of index", async () => {
    const long = "x".repeat(950);
    const items = Array.from({ length: 4000 }, (_, i) => {
      const name = `${long}${String((i * 2357) % 4000).padStart(5, "0")}`;
      return { sort: i + 1, key: name, version: 1, id: name, payload: Buffer.alloc(0) };
    });
    const part = await logPart(buildLog(items));
    for (const { key, id, sort } of items) {
      expect(await part.versions(searchKey(key))).toEqual({ first: 1, last: 1 });
      expect((await part.findId(searchId(searchKey(key), id)))?.sort).toBe(sort);
    }
    expect(await damages(part)).toEqual([]);
    const map = await mapPart(
      buildMap(
        items.map(({ key, sort }) => ({ key, revision: sort, operation: operation.put, payload: Buffer.alloc(9) })),
      ),
    );
    const sorted = items.map(({ key }) => key).sort();
    expect((await all(map.scan())).map(({ record }) => record.key)).toEqual(sorted);
    expect((await all(map.scan({ direction: "backwards" }))).map(({ record }) => record.key)).toEqual(sorted.reverse());
    expect(await damages(map)).toEqual([]);
  });
});
