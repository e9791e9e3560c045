import { describe, expect, it } from "vitest";
import { KIB, MIB } from "@ehdb/contracts";
import { BlockCache } from "../src/block-cache.ts";

const block = (bytes: number): Promise<Buffer> => Promise.resolve(Buffer.alloc(bytes));

describe("the block cache", () => {
  it("reads a block once, however many ask for it at the same time", async () => {
    const cache = new BlockCache(MIB);
    let reads = 0;
    const load = (): Promise<Buffer> => cache.load(1, 4096, () => (reads++, block(10)));
    const [one, other] = await Promise.all([load(), load()]);
    expect(one).toBe(other);
    expect(await load()).toBe(one);
    expect(reads).toBe(1);
    expect(cache.stats).toMatchObject({ hits: 2, misses: 1, evictions: 0, blocks: 1 });
  });

  it("keeps what was used last, within its bytes", async () => {
    const cache = new BlockCache(MIB);
    for (let i = 0; i < 100; i++) {
      await cache.load(1, i * 20_000, () => block(16 * KIB));
      await cache.load(1, 0, () => block(16 * KIB));
    }
    expect(cache.stats.bytes).toBeLessThanOrEqual(MIB);
    expect(cache.stats.evictions).toBe(100 - cache.stats.blocks);
    expect(cache.peek(1, 0)).toBeDefined();
    expect(cache.peek(1, 20_000)).toBeUndefined();
    expect(cache.peek(1, 99 * 20_000)).toBeDefined();
  });

  it("doesn't let one large block push out all others", async () => {
    const cache = new BlockCache(MIB);
    await cache.load(1, 0, () => block(16 * KIB));
    expect((await cache.load(1, 20_000, () => block(MIB))).length).toBe(MIB);
    expect(cache.peek(1, 20_000)).toBeUndefined();
    expect(cache.peek(1, 0)).toBeDefined();
  });

  it("a read that failed is tried again by the next who asks", async () => {
    const cache = new BlockCache(MIB);
    await expect(cache.load(1, 0, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
    expect((await cache.load(1, 0, () => block(5))).length).toBe(5);
  });

  it("forgets a part, also what is being read of it, and no other part", async () => {
    const cache = new BlockCache(MIB);
    await cache.load(1, 0, () => block(1));
    await cache.load(2, 0, () => block(2));
    let finish: (bytes: Buffer) => void = () => undefined;
    const loading = cache.load(1, 4096, () => new Promise((resolve) => (finish = resolve)));
    cache.forget(1);
    await cache.load(3, 0, () => block(3));
    finish(Buffer.alloc(9));
    expect((await loading).length).toBe(9);
    expect([cache.peek(1, 0), cache.peek(1, 4096), cache.peek(3, 4096)]).toEqual([undefined, undefined, undefined]);
    expect(cache.peek(2, 0)?.length).toBe(2);
    expect(cache.peek(3, 0)?.length).toBe(3);
  });

  it("keeps blocks of parts with large numbers, and at large offsets, apart", async () => {
    const cache = new BlockCache(MIB);
    const places = [
      [1, 2 ** 36 - 1],
      [2, 0],
      [2 ** 40, 0],
      [2 ** 52, 2 ** 35],
    ] as const;
    for (const [i, [part, offset]] of places.entries()) await cache.load(part, offset, () => block(i + 1));
    expect(places.map(([part, offset]) => cache.peek(part, offset)?.length)).toEqual([1, 2, 3, 4]);
  });

  it("refuses a size that could hold no lookup", () => {
    for (const bytes of [0, -1, MIB - 1, Number.NaN, 1.5 * MIB + 0.5]) {
      expect(() => new BlockCache(bytes)).toThrow(expect.objectContaining({ code: "INVALID_OPTION" }));
    }
  });
});
