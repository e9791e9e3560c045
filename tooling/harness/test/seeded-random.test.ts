import { describe, expect, it } from "vitest";
import { SeededRandom, seededPayloads, seededRecords } from "../src/index.ts";

/** xorshift64* as its author wrote it, in whole numbers of 64 bits. */
function* reference(seed: number): Generator<number> {
  let x = BigInt.asUintN(64, (BigInt(seed) + 1n) * 0x9e3779b97f4a7c15n);
  for (;;) {
    x ^= x >> 12n;
    x = BigInt.asUintN(64, x ^ (x << 25n));
    x ^= x >> 27n;
    yield Number(BigInt.asUintN(64, x * 0x2545f4914f6cdd1dn) >> 32n);
  }
}

describe("seeded random", () => {
  it("gives the upper halves of xorshift64*", () => {
    for (const seed of [0, 1, 42, 2 ** 40 + 7, -5]) {
      const expected = reference(seed);
      for (let skipped = 0; skipped < 4; skipped++) expected.next();
      const random = new SeededRandom(seed);
      for (let i = 0; i < 1000; i++) expect(random.next()).toBe(expected.next().value);
    }
  });

  it("has a history of its own for the one seed whose state would be 0", () => {
    const random = new SeededRandom(-1);
    expect(new Set([random.next(), random.next(), random.next()]).size).toBe(3);
  });

  it("stays within its bounds and reaches all of them", () => {
    const random = new SeededRandom(3);
    const met = new Set(Array.from({ length: 1000 }, () => random.integer(7)));
    expect([...met].sort()).toEqual([0, 1, 2, 3, 4, 5, 6]);
  });

  it("refuses a seed that isn't a whole number", () => {
    expect(() => new SeededRandom(0.5)).toThrow(/whole number, not 0.5/);
  });
});

describe("seeded payloads", () => {
  it("are the same for the same seed and differ for another", () => {
    expect(seededPayloads(7, 50)).toEqual(seededPayloads(7, 50));
    expect(seededPayloads(7, 50)).not.toEqual(seededPayloads(8, 50));
  });

  it("are JSON envelopes of about 400 bytes", () => {
    const payloads = seededPayloads(1, 2000);
    const mean = payloads.reduce((sum, each) => sum + each.length, 0) / payloads.length;
    expect(mean).toBeGreaterThan(380);
    expect(mean).toBeLessThan(420);
    const event = JSON.parse(Buffer.from(payloads[0] as Uint8Array).toString()) as Record<string, unknown>;
    expect(Object.keys(event)).toEqual(["id", "stream", "type", "version", "at", "actor", "data", "correlation"]);
  });

  it("are records of exactly the wanted size", () => {
    expect(seededRecords(1, 3, 257).map((each) => each.length)).toEqual([257, 257, 257]);
    expect(seededRecords(1, 1, 0)[0]).toHaveLength(0);
  });
});
