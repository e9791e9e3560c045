import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { simulatedHost } from "@ehdb/host";
import type { Journal, SequenceRange } from "@ehdb/journal";
import { bytes, codeOf, collect, KIB, MIB, noise, openAt, range, refusal, sequencesOf, stage } from "./drive.ts";

const sizesAtEdges = [
  0,
  1,
  127,
  128,
  129,
  16_383,
  16_384,
  16_385,
  256 * KIB - 4,
  256 * KIB - 3,
  256 * KIB - 2,
  256 * KIB - 1,
  256 * KIB,
  256 * KIB + 1,
  2 ** 21 - 1,
  2 ** 21,
  2 ** 21 + 1,
];

/** Fails unless the journal holds exactly these records. */
async function readBack(journal: Journal, written: readonly Uint8Array[]): Promise<void> {
  const records = await collect(journal.scan());
  expect(records.map((record) => record.sequence)).toEqual(range(1, written.length));
  const wrong = records.findIndex((record, place) => Buffer.compare(record.data, written[place] as Uint8Array) !== 0);
  expect(wrong).toBe(-1);
}

describe("sequences", () => {
  it("are dense from 1 over every way of appending, and go on after a reopening", async () => {
    const { host, journal } = await stage();
    expect(journal.cursors).toEqual({ appended: 0, written: 0, durable: 0 });
    await journal.ready();
    expect(journal.append(bytes(5))).toBe(1);
    expect(journal.appendAll([bytes(1), bytes(2)])).toEqual({ first: 2, last: 3 });
    expect(await journal.appendDurable(bytes(3))).toBe(4);
    expect(await journal.appendAllDurable([bytes(1), bytes(2), bytes(3)])).toEqual({ first: 5, last: 7 });
    await journal.close();
    const again = await openAt(host);
    expect(again.cursors).toEqual({ appended: 7, written: 7, durable: 7 });
    expect(await again.appendDurable(bytes(1))).toBe(8);
    expect(await sequencesOf(again.scan())).toEqual(range(1, 8));
    await again.close();
  });

  it("are those of the callers' order, whoever waits for what", async () => {
    const one = fc.oneof(
      fc.record({ how: fc.constant("append"), sizes: fc.tuple(fc.integer({ min: 0, max: 3000 })) }),
      fc.record({ how: fc.constant("appendDurable"), sizes: fc.tuple(fc.integer({ min: 0, max: 3000 })) }),
      fc.record({
        how: fc.constantFrom("appendAll", "appendAllDurable"),
        sizes: fc.array(fc.integer({ min: 0, max: 900 }), { minLength: 1, maxLength: 5 }),
      }),
    );
    const property = fc.asyncProperty(
      fc.array(one, { minLength: 1, maxLength: 40 }),
      fc.nat(1000),
      async (calls, seed) => {
        const { journal } = await stage({ reserveBytes: 0 }, seed);
        const written: Uint8Array[] = [];
        const waits: Promise<SequenceRange>[] = [];
        const ranges: SequenceRange[] = [];
        for (const { how, sizes } of calls) {
          const records = sizes.map((size, place) => noise(size, written.length + place + 1));
          const first = written.length + 1;
          written.push(...records);
          const expected = { first, last: written.length };
          await journal.ready();
          if (how === "append") expect(journal.append(records[0] as Uint8Array)).toBe(first);
          else if (how === "appendAll") expect(journal.appendAll(records)).toEqual(expected);
          else if (how === "appendDurable") {
            waits.push(
              journal.appendDurable(records[0] as Uint8Array).then((sequence) => ({ first: sequence, last: sequence })),
            );
            ranges.push(expected);
          } else {
            waits.push(journal.appendAllDurable(records));
            ranges.push(expected);
          }
        }
        expect(await Promise.all(waits)).toEqual(ranges);
        await journal.flush();
        await readBack(journal, written);
        await journal.close();
      },
    );
    await fc.assert(property, { numRuns: 25 });
  });
});

describe("sizes", () => {
  it("a record may be empty, alone and among others", async () => {
    const { host, journal } = await stage();
    const written = [bytes(0), bytes(0), bytes(3), bytes(0)];
    await journal.appendDurable(written[0] as Uint8Array);
    await journal.appendAllDurable(written.slice(1));
    await readBack(journal, written);
    expect((await journal.read(1)).data.length).toBe(0);
    await journal.close();
    const again = await openAt(host);
    await readBack(again, written);
    await again.close();
  });

  it("at the edges of length, group and half a slice come back as they went in", async () => {
    const { host, journal } = await stage({ maxInFlightBytes: 64 * MIB });
    const written = sizesAtEdges.map((size, place) => bytes(size, place + 1));
    for (const data of written) await journal.appendDurable(data);
    expect(journal.last).toBe(sizesAtEdges.length);
    await readBack(journal, written);
    await journal.close();
    const again = await openAt(host, { verifyOnOpen: "all" });
    await readBack(again, written);
    await again.close();
  });

  it("16 MiB is the most, alone and together; it gets a segment as large as it needs", async () => {
    const { host, journal } = await stage({ segmentBytes: MIB });
    await journal.appendDurable(bytes(10));
    const whole = bytes(16 * MIB, 3);
    expect(await journal.appendDurable(whole)).toBe(2);
    expect(await journal.appendAllDurable([bytes(8 * MIB, 4), bytes(8 * MIB, 5)])).toEqual({ first: 3, last: 4 });
    expect(await journal.appendDurable(bytes(1))).toBe(5);
    for (const refused of [
      () => journal.append(bytes(16 * MIB + 1)),
      () => journal.appendDurable(bytes(16 * MIB + 1)),
    ]) {
      expect(await refusal(refused)).toMatchObject({
        code: "TOO_LARGE",
        data: { bytes: 16 * MIB + 1, maxBytes: 16 * MIB },
      });
    }
    expect(await codeOf(() => journal.appendAll([bytes(8 * MIB), bytes(8 * MIB + 1)]))).toBe("TOO_LARGE");
    expect(await codeOf(() => journal.appendAllDurable([bytes(16 * MIB), bytes(1)]))).toBe("TOO_LARGE");
    expect(await codeOf(() => journal.ready(16 * MIB + 1))).toBe("TOO_LARGE");
    expect(journal.cursors.appended).toBe(5);
    await journal.close();
    const again = await openAt(host, { segmentBytes: MIB });
    expect(Buffer.compare((await again.read(2)).data, whole)).toBe(0);
    expect((await again.verify()).ok).toBe(true);
    await again.close();
  });

  it.each([
    ["plain", {}],
    ["encrypted", { encryption: { current: "a", keys: { a: noise(32, 1) } } }],
    ["compressed", { compression: "deflate" as const }],
  ])(
    "the largest write, longer by its records' lengths, is copied by the recovery after a kill: %s",
    async (_, options) => {
      const whole = noise(16 * MIB);
      const { host, journal } = await stage({ segmentBytes: MIB, ...options });
      const records = Array.from({ length: 2 ** 17 }, (_, place) => whole.subarray(place * 128, (place + 1) * 128));
      expect(await journal.appendAllDurable(records)).toEqual({ first: 1, last: records.length });
      const again = await openAt(host.kill(), { segmentBytes: MIB, ...options });
      expect(again.recovery).toMatchObject({ stated: 0, recordsCopied: records.length });
      let same = 0;
      for await (const batch of again.scan().batches())
        for (const { sequence, data } of batch)
          if (Buffer.compare(data, records[sequence - 1] ?? bytes(0)) === 0) same++;
      expect(same).toBe(records.length);
      await again.close();
    },
  );

  it("records that fill segments to their borders lose nothing there", async () => {
    const sizes = [100 * KIB, 256 * KIB, MIB - 4096 - 4096 - 120 - 64 - 16 - 8, MIB - 8192, MIB];
    for (const size of sizes) {
      const { host, journal } = await stage({ segmentBytes: MIB, reserveBytes: 0 });
      const written = range(1, Math.ceil((2.5 * MIB) / size)).map((place) => bytes(size, place));
      for (const data of written) await journal.appendDurable(data);
      expect(journal.stats().rolls).toBeGreaterThan(0);
      await readBack(journal, written);
      const next = await openAt(host.crash());
      await readBack(next, written);
      await next.close();
    }
  });
});

describe("atomic appends", () => {
  it("are one batch, alone in it or not", async () => {
    const { journal } = await stage();
    const size = 60 * KIB;
    const groups = [3, 1, 4, 2].map((count) => range(1, count).map((place) => bytes(size, place)));
    const ranges = await Promise.all(groups.map((records) => journal.appendAllDurable(records)));
    const borders: number[] = [];
    for await (const batch of journal.scan().batches()) borders.push(batch.at(-1)?.sequence ?? 0);
    for (const { first, last } of ranges) {
      expect(borders.filter((border) => border >= first && border < last)).toEqual([]);
    }
    await journal.close();
  });

  it("larger than a group are one batch, too", async () => {
    const { journal } = await stage();
    await journal.appendAllDurable(range(1, 30).map((place) => bytes(50 * KIB, place)));
    const batches: number[] = [];
    for await (const batch of journal.scan().batches()) batches.push(batch.length);
    expect(batches).toEqual([30]);
    await journal.close();
  });

  it("survive a power loss whole or not at all", async () => {
    const property = fc.asyncProperty(fc.nat(10_000), fc.integer({ min: 1, max: 60 }), async (seed, operations) => {
      const { host, journal } = await stage({ reserveBytes: 0 }, seed);
      host.crashAfter(operations);
      const group = (): Uint8Array[] => [bytes(700, 1), bytes(3000, 2), bytes(20, 3)];
      let promised = 0;
      for (let i = 0; i < 8; i++) {
        const done = journal.appendAllDurable(group()).then(({ last }) => (promised = Math.max(promised, last)));
        // What the dying process thinks of it, nobody hears.
        void done.catch(() => undefined);
        if (i % 3 === 0) await Promise.race([host.clock.yield(), host.whenFrozen()]);
      }
      await Promise.race([host.settle(), host.whenFrozen()]);
      const next = await openAt(host.crash());
      expect(next.last % 3).toBe(0);
      expect(next.last).toBeGreaterThanOrEqual(promised);
      await next.close();
    });
    await fc.assert(property, { numRuns: 30 });
  });
});

describe("what isn't a record", () => {
  const nothings: [string, unknown][] = [
    ["null", null],
    ["a string", "text"],
    ["an array", [1, 2]],
    ["an ArrayBuffer", new ArrayBuffer(4)],
    ["undefined", undefined],
  ];

  it.each(nothings)("%s is refused, and no sequence given out", async (_, value) => {
    const { journal } = await stage();
    const data = value as Uint8Array;
    await journal.ready();
    expect(await codeOf(() => journal.append(data))).toBe("INVALID_ARGUMENT");
    expect(await codeOf(() => journal.appendDurable(data))).toBe("INVALID_ARGUMENT");
    expect(await codeOf(() => journal.appendAll([bytes(3), data]))).toBe("INVALID_ARGUMENT");
    expect(await codeOf(() => journal.appendAllDurable([bytes(3), data]))).toBe("INVALID_ARGUMENT");
    expect(journal.cursors.appended).toBe(0);
    expect(journal.stats()).toMatchObject({ appends: 0, appendedBytes: 0 });
    expect(await journal.appendDurable(bytes(1))).toBe(1);
    expect(await sequencesOf(journal.scan())).toEqual([1]);
    await journal.close();
  });

  it("an empty array, and what isn't an array, are refused", async () => {
    const { journal } = await stage();
    for (const records of [[], null, undefined, "ab", bytes(4), { length: 1, 0: bytes(1) }]) {
      expect(await codeOf(() => journal.appendAll(records as Uint8Array[]))).toBe("INVALID_ARGUMENT");
      expect(await codeOf(() => journal.appendAllDurable(records as Uint8Array[]))).toBe("INVALID_ARGUMENT");
    }
    expect(journal.cursors.appended).toBe(0);
    await journal.close();
  });

  it("ready() takes a whole number of bytes", async () => {
    const { journal } = await stage();
    for (const count of [-1, 0.5, Number.NaN, "5", null]) {
      expect(await codeOf(() => journal.ready(count as number))).toBe("INVALID_ARGUMENT");
    }
    await journal.ready(0);
    await journal.close();
  });
});

it("a view appends what it shows, not the buffer behind it", async () => {
  const { journal } = await stage();
  const whole = Uint8Array.from(range(0, 99));
  await journal.appendAllDurable([whole.subarray(10, 20), Buffer.from(whole.buffer, 50, 3), Buffer.alloc(0)]);
  expect((await collect(journal.scan())).map(({ data }) => [...data])).toEqual([range(10, 19), [50, 51, 52], []]);
  await journal.close();
});

it("the caller may use its buffer again as soon as append returns", async () => {
  const { journal } = await stage();
  const reused = Buffer.alloc(500);
  const waits: Promise<unknown>[] = [];
  for (let i = 1; i <= 40; i++) {
    await journal.ready();
    reused.fill(i);
    if (i % 2 === 0) journal.append(reused);
    else waits.push(journal.appendDurable(reused));
    reused.fill(0xff);
  }
  await Promise.all(waits);
  await journal.flush();
  for await (const record of journal.scan()) expect(record.data[499]).toBe(record.sequence);
  await journal.close();
});

it("a reader's data isn't touched by what is written later", async () => {
  const { journal } = await stage();
  await journal.appendDurable(bytes(5000, 1));
  const { data } = await journal.read(1);
  for (let i = 0; i < 50; i++) await journal.appendDurable(bytes(5000, 2));
  expect(data.every((byte) => byte === 1)).toBe(true);
  await journal.close();
});

it("a record has the time its batch was opened and the writer's epoch; time never falls, whatever the wall clock does", async () => {
  const start = 1_700_000_000_000;
  const host = simulatedHost({ seed: 1, startMillis: start });
  const journal = await openAt(host);
  await journal.appendDurable(bytes(1));
  await host.advance(1000);
  await journal.appendDurable(bytes(1));
  host.jump(-3_600_000);
  await journal.appendDurable(bytes(1));
  await host.advance(500);
  await journal.appendDurable(bytes(1));
  await journal.close();
  const again = await openAt(host);
  await again.appendDurable(bytes(1));
  host.jump(7_200_000);
  await again.appendDurable(bytes(1));
  const records = await collect(again.scan());
  expect(records.map(({ time, epoch }) => [time - start, epoch])).toEqual([
    [0, 1],
    [1000, 1],
    [1000, 1],
    [1500, 1],
    [1500, 2],
    [3_601_500, 2],
  ]);
  await again.close();
});
