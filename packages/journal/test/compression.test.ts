import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { openJournalReader } from "@ehdb/journal";
import { bytes, collect, fill, KIB, MIB, noise, openAt, range, segmentFiles, sequencesOf, stage } from "./drive.ts";

const deflate = { compression: "deflate", reserveBytes: 0 } as const;

/** Bytes of the segments that batches take, space made ahead not counted: a closed journal has none. */
async function stored(host: Awaited<ReturnType<typeof stage>>["host"]): Promise<number> {
  let total = 0;
  for (const path of await segmentFiles(host)) total += host.content(path).length;
  return total;
}

describe("deflate", () => {
  it("gives back what it was given, whatever that is", async () => {
    const record = fc.oneof(
      fc.integer({ min: 0, max: 3000 }).map((size) => bytes(size, size)),
      fc.integer({ min: 0, max: 3000 }).map((size) => noise(size, size + 1)),
    );
    const groups = fc.array(fc.array(record, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 12 });
    const property = fc.asyncProperty(groups, fc.boolean(), fc.nat(100), async (given, encrypted, seed) => {
      const encryption = encrypted ? { encryption: { current: "k", keys: { k: noise(32) } } } : {};
      const { host, journal } = await stage({ ...deflate, ...encryption }, seed);
      for (const group of given) await journal.appendAllDurable(group);
      const next = await openAt(host.crash("everything"), encryption);
      const records = await collect(next.scan());
      const written = given.flat();
      expect(records.length).toBe(written.length);
      expect(records.every(({ data }, place) => Buffer.compare(data, written[place] as Uint8Array) === 0)).toBe(true);
      await next.close();
    });
    await fc.assert(property, { numRuns: 20 });
  });

  it("makes compressible data small", async () => {
    const { host, journal } = await stage(deflate);
    await fill(journal, 20, 50 * KIB);
    await journal.close();
    expect(await stored(host)).toBeLessThan(50 * KIB);
    const again = await openAt(host);
    expect(await sequencesOf(again.scan())).toEqual(range(1, 20));
    await again.close();
  });

  it("stores incompressible data as it is, not a byte larger", async () => {
    const sizes: number[] = [];
    for (const options of [{ reserveBytes: 0 }, deflate]) {
      const { host, journal } = await stage(options);
      for (const place of range(1, 20)) await journal.appendDurable(noise(20 * KIB, place));
      await journal.close();
      sizes.push(await stored(host));
    }
    expect(sizes[1]).toBe(sizes[0]);
  });

  it("works in a worker's job, and not at all for small batches", async () => {
    const { host, journal } = await stage(deflate);
    await journal.appendDurable(bytes(100));
    expect(host.operations.job).toBe(0);
    await journal.appendDurable(bytes(10_000));
    expect(host.operations.job).toBe(1);
    await journal.close();
  });

  it("compresses one write of 16 MiB", async () => {
    const { host, journal } = await stage(deflate);
    await journal.appendDurable(bytes(16 * MIB, 9));
    await journal.close();
    expect(await stored(host)).toBeLessThan(200 * KIB);
    const again = await openAt(host);
    expect((await again.read(1)).data.length).toBe(16 * MIB);
    await again.close();
  });

  it("may be switched on and off from one open to the next, and every reader reads it", async () => {
    const { host, journal } = await stage();
    await fill(journal, 3, 5000);
    await journal.close();
    const on = await openAt(host, deflate);
    await fill(on, 3, 5000);
    await on.close();
    const off = await openAt(host);
    await fill(off, 3, 5000);
    await host.advance(60);
    const reader = await openJournalReader({ dir: "/j", host });
    for (const one of [off, reader]) {
      const records = await collect(one.scan());
      expect(records.map(({ data, sequence }) => [sequence, data.length, data[0]])).toEqual(
        range(1, 9).map((sequence) => [sequence, 5000, sequence]),
      );
    }
    await reader.close();
    await off.close();
  });

  it("keeps order and durability with many appends in flight", async () => {
    const { host, journal } = await stage(deflate);
    const sequences = await Promise.all(
      range(1, 60).map((place) =>
        journal.appendDurable(place % 3 === 0 ? noise(30 * KIB, place) : bytes(30 * KIB, place)),
      ),
    );
    expect(sequences).toEqual(range(1, 60));
    const next = await openAt(host.crash("nothing"));
    expect(await sequencesOf(next.scan())).toEqual(range(1, 60));
    await next.close();
  });
});
