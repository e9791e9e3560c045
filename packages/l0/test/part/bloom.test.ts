import { describe, expect, it } from "vitest";
import { BLOCK_HEADER_BYTES } from "../../src/part/block.ts";
import { bloomHolds, bloomShape, buildBloom, idHash, keyHash, partitionOf } from "../../src/part/bloom.ts";

function filter(hashes: Uint32Array): (hash: number) => boolean {
  const shape = bloomShape(hashes.length);
  const parts = buildBloom(hashes, shape).map((room) =>
    room.subarray(BLOCK_HEADER_BYTES, BLOCK_HEADER_BYTES + shape.bytes),
  );
  return (hash) => bloomHolds(parts[partitionOf(hash, shape.partitions)] as Buffer, hash);
}

describe("a bloom filter", () => {
  it("holds all that was put in, and about 1% of what wasn't, whatever its size", () => {
    for (const count of [1, 7, 100, 3000, 13_000, 60_000]) {
      const holds = filter(Uint32Array.from({ length: count }, (_, i) => keyHash(Buffer.from(`order-${i}`))));
      for (let i = 0; i < count; i++) expect(holds(keyHash(Buffer.from(`order-${i}`)))).toBe(true);
      let wrong = 0;
      const asked = 50_000;
      for (let i = 0; i < asked; i++) if (holds(keyHash(Buffer.from(`customer-${i}`)))) wrong++;
      expect(wrong / asked, `${count} keys`).toBeLessThan(0.015);
    }
  });

  it("tells ids of one key from those of another", () => {
    const id = (i: number, key: string): number => idHash(Buffer.from(`id-${i}`), Buffer.from(key));
    const holds = filter(Uint32Array.from({ length: 20_000 }, (_, i) => id(i, `key-${i % 10}`)));
    let wrong = 0;
    for (let i = 0; i < 20_000; i++) {
      expect(holds(id(i, `key-${i % 10}`))).toBe(true);
      if (holds(id(i, `key-${(i + 1) % 10}`))) wrong++;
    }
    expect(wrong / 20_000).toBeLessThan(0.015);
  });

  it("never makes a lookup load more than 16 KiB", () => {
    for (const count of [1, 1000, 13_107, 13_108, 1_000_000])
      expect(bloomShape(count).bytes).toBeLessThanOrEqual(16_384);
  });
});
