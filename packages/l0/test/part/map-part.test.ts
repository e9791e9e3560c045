import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { operation } from "../../src/envelope.ts";
import { searchKey } from "../../src/part/search-key.ts";
import { all, buildMap, damages, expectedEntry, inOrder, mapPart, noise, ring, shownEntry } from "./drive.ts";
import type { MapItem } from "./drive.ts";

const seed = Number(process.env["SEED"] ?? Date.now() % 1_000_000);

const key = fc.oneof(
  fc.constantFrom("a", "a\0", "aa", "b", "\u{e000}", "\u{10000}"),
  fc.string({ minLength: 1, maxLength: 30, unit: "grapheme" }),
);
const entries = fc.array(
  fc.record({
    key,
    isDelete: fc.boolean(),
    size: fc.oneof(fc.integer({ min: 0, max: 3000 }), fc.integer({ min: 0, max: 60_000 })),
  }),
  { minLength: 1, maxLength: 150 },
);

function itemsOf(drawn: readonly { key: string; isDelete: boolean; size: number }[]): MapItem[] {
  return drawn.map(({ key, isDelete, size }, i) => ({
    key,
    revision: 10 + i,
    operation: isDelete ? operation.delete : operation.put,
    payload: noise(isDelete ? 0 : size, i),
  }));
}

describe(`a part of a map (seed ${seed})`, () => {
  it("gives the newest entry at or below any revision, and every entry in order, either way, in any range of keys", async () => {
    await fc.assert(
      fc.asyncProperty(entries, key, key, fc.boolean(), async (drawn, from, before, isSealed) => {
        const items = itemsOf(drawn);
        const sorted = inOrder(items);
        const part = await mapPart(
          buildMap(
            items,
            isSealed
              ? { compression: "deflate", encryption: { keyId: "k", masterKey: ring.keys["k"] as Uint8Array } }
              : {},
          ),
          { encryption: ring },
        );
        for (const { key } of items) {
          for (const revision of [0, 10, 30, 50, 10 + items.length, Infinity]) {
            const wanted = sorted.find((item) => item.key === key && item.revision <= revision);
            const found = await part.get(searchKey(key), revision);
            expect(found && shownEntry(found)).toEqual(wanted && expectedEntry(wanted));
            const cached = part.getCached(searchKey(key), revision);
            expect(cached && shownEntry(cached)).toEqual(wanted === undefined ? null : expectedEntry(wanted));
          }
        }
        const low = Buffer.from(from);
        const high = Buffer.from(before);
        const inRange = sorted.filter(
          ({ key }) => Buffer.compare(Buffer.from(key), low) >= 0 && Buffer.compare(Buffer.from(key), high) < 0,
        );
        expect((await all(part.scan())).map(shownEntry)).toEqual(sorted.map(expectedEntry));
        expect((await all(part.scan({ direction: "backwards" }))).map(shownEntry)).toEqual(
          sorted.map(expectedEntry).reverse(),
        );
        expect((await all(part.scan({ from: low, before: high }))).map(shownEntry)).toEqual(inRange.map(expectedEntry));
        expect((await all(part.scan({ from: low, before: high, direction: "backwards" }))).map(shownEntry)).toEqual(
          inRange.map(expectedEntry).reverse(),
        );
        expect(await damages(part)).toEqual([]);
      }),
      { seed, numRuns: 25 },
    );
  });

  it("finds a key whose versions fill several blocks, at every revision", async () => {
    const items = itemsOf(
      Array.from({ length: 400 }, (_, i) => ({ key: i % 2 ? "many" : `k${i}`, isDelete: false, size: 900 })),
    );
    const part = await mapPart(buildMap(items));
    for (let revision = 10; revision < 410; revision += 7) {
      const wanted = items.findLast((item) => item.key === "many" && item.revision <= revision);
      expect((await part.get(searchKey("many"), revision))?.record.revision).toBe(wanted?.revision);
    }
  });
});
