import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bytes, codeOf, collect, fill, KIB, MIB, openAt, pour, range, refusal, sequencesOf, stage } from "./drive.ts";
import { measured } from "./measured.ts";

describe("read", () => {
  it("finds every record, in this segment and in those before", async () => {
    const { host, journal } = await stage({ segmentBytes: MIB, reserveBytes: 0, indexStride: 4 });
    await fill(journal, 50, 60 * KIB);
    expect(journal.stats().rolls).toBeGreaterThan(1);
    for (const opened of [journal, undefined]) {
      if (opened === undefined) await journal.close();
      const one = opened ?? (await openAt(host, { segmentBytes: MIB, indexStride: 4 }));
      for (const sequence of range(1, 50)) {
        const record = await one.read(sequence);
        expect([record.sequence, record.data.length, record.data[0], record.epoch]).toEqual([
          sequence,
          60 * KIB,
          sequence,
          1,
        ]);
      }
      await one.close();
    }
  });

  it("says OUT_OF_RANGE beyond the end, COMPACTED below the first, INVALID_ARGUMENT for what isn't a sequence", async () => {
    const { journal } = await stage();
    expect(await refusal(() => journal.read(1))).toMatchObject({
      code: "OUT_OF_RANGE",
      data: { sequence: 1, last: 0 },
    });
    await fill(journal, 10, 10);
    await journal.dropBefore(4);
    expect(await refusal(() => journal.read(11))).toMatchObject({
      code: "OUT_OF_RANGE",
      data: { sequence: 11, first: 4, last: 10 },
    });
    expect(await refusal(() => journal.read(3))).toMatchObject({ code: "COMPACTED", data: { sequence: 3, first: 4 } });
    expect((await journal.read(4)).sequence).toBe(4);
    for (const sequence of [0, -1, 1.5, Number.NaN, 2 ** 53, "4", null, undefined]) {
      expect(await codeOf(() => journal.read(sequence as number))).toBe("INVALID_ARGUMENT");
    }
    await journal.close();
  });

  it("the first and last of an empty journal say that there is nothing", async () => {
    const { journal } = await stage();
    expect([journal.first, journal.last]).toEqual([1, 0]);
    expect(await collect(journal.scan())).toEqual([]);
    await journal.close();
  });
});

it("reads all over many segments keep few files open", async () => {
  const { host, journal } = await stage({ segmentBytes: MIB, reserveBytes: 0, durability: "async" });
  await pour(journal, 60, 400 * KIB);
  expect(journal.stats().segments).toBeGreaterThan(25);
  await journal.close();
  const door = measured(host);
  const again = await openAt(door.host, { segmentBytes: MIB, reserveBytes: 0 });
  const before = door.open;
  for (let round = 0; round < 2; round++) {
    for (const sequence of range(1, 60)) {
      expect((await again.read(sequence)).data[0]).toBe(sequence);
      expect(door.open - before).toBeLessThanOrEqual(17);
    }
  }
  const all = await Promise.all(range(1, 60).map((sequence) => again.read(sequence)));
  expect(all.map(({ sequence }) => sequence)).toEqual(range(1, 60));
  expect(door.open - before).toBeLessThanOrEqual(17);
  await again.close();
  expect(door.open).toBe(0);
});

describe("scan", () => {
  it("gives exactly what is asked for, in order, by record and by batch", async () => {
    const { journal } = await stage({ segmentBytes: MIB, reserveBytes: 0 });
    let last = 0;
    for (const group of [1, 5, 2, 40, 3]) {
      for (const size of [10, 30 * KIB]) {
        await journal.appendAllDurable(range(1, group).map((place) => bytes(size, last + place)));
        last += group;
      }
    }
    expect(journal.stats().rolls).toBeGreaterThan(1);
    await journal.dropBefore(4);
    const bound = fc.option(fc.integer({ min: 4, max: last + 5 }), { nil: undefined });
    const property = fc.asyncProperty(bound, bound, fc.boolean(), async (from, to, byBatch) => {
      const options = { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
      const stream = journal.scan(options);
      let records = [];
      if (byBatch) for await (const batch of stream.batches()) records.push(...batch);
      else records = await collect(stream);
      expect(records.map(({ sequence }) => sequence)).toEqual(range(from ?? 4, Math.min(to ?? last, last)));
      expect(records.every(({ data, sequence }) => data[0] === sequence)).toBe(true);
    });
    await fc.assert(property, { numRuns: 60 });
    expect(await sequencesOf(journal.scan({ to: 0 }))).toEqual([]);
    await journal.close();
  });

  it("ends where the log ended when it started", async () => {
    const { journal } = await stage();
    await fill(journal, 5, 10);
    const seen: number[] = [];
    for await (const { sequence } of journal.scan()) {
      seen.push(sequence);
      if (sequence <= 5) await journal.appendDurable(bytes(1));
    }
    expect(seen).toEqual(range(1, 5));
    await journal.close();
  });

  it("goes on after a checkpoint", async () => {
    const { host, journal } = await stage();
    await fill(journal, 10, 10);
    const { sequence, epoch } = await journal.read(7);
    expect(await sequencesOf(journal.scan({ after: { sequence, epoch } }))).toEqual([8, 9, 10]);
    expect(await sequencesOf(journal.scan({ after: { sequence: 0, epoch: 0 }, to: 2 }))).toEqual([1, 2]);
    expect(await sequencesOf(journal.scan({ after: { sequence: 10, epoch } }))).toEqual([]);
    await journal.close();
    const again = await openAt(host);
    await fill(again, 2, 10);
    expect(await sequencesOf(again.scan({ after: { sequence, epoch } }))).toEqual(range(8, 12));
    await again.dropBefore(8);
    expect(await sequencesOf(again.scan({ after: { sequence, epoch } }))).toEqual(range(8, 12));
    await again.dropBefore(9);
    expect(await refusal(() => collect(again.scan({ after: { sequence, epoch } })))).toMatchObject({
      code: "COMPACTED",
      data: { sequence: 8, first: 9 },
    });
    expect(await codeOf(() => collect(again.scan({ from: 8 })))).toBe("COMPACTED");
    expect(await codeOf(() => collect(again.tail({ from: 8 })))).toBe("COMPACTED");
    await again.close();
  });

  it("a checkpoint that a crash took back is TRUNCATED, also when its sequence was given out again", async () => {
    const { host, journal } = await stage({ durability: "async" });
    await journal.flush();
    await fill(journal, 3, 10);
    for (let i = 0; i < 4; i++) journal.append(bytes(10));
    await host.settle();
    const seen = (await collect(journal.scan())).at(-1);
    expect(seen).toMatchObject({ sequence: 7, epoch: 1 });
    const after = { sequence: 7, epoch: 1 };
    const next = await openAt(host.crash("nothing"));
    expect(next.last).toBe(3);
    expect(await refusal(() => collect(next.scan({ after })))).toMatchObject({
      code: "TRUNCATED",
      data: { sequence: 7, epoch: 1, last: 3 },
    });
    await fill(next, 6, 10);
    expect(await codeOf(() => collect(next.scan({ after })))).toBe("TRUNCATED");
    expect(await codeOf(() => collect(next.tail({ after })))).toBe("TRUNCATED");
    expect(await sequencesOf(next.scan({ after: { sequence: 3, epoch: 1 } }))).toEqual(range(4, 9));
    await next.close();
  });

  it.each([[{ from: 0 }], [{ from: 1.5 }], [{ from: "1" }], [{ to: -1 }], [{ to: Number.NaN }]])(
    "refuses the range %j when it's called",
    async (options) => {
      const { journal } = await stage();
      expect(await codeOf(() => journal.scan(options as object))).toBe("INVALID_ARGUMENT");
      await journal.close();
    },
  );

  it("refuses what isn't a checkpoint, and one beside from", async () => {
    const { journal } = await stage();
    await fill(journal, 3, 10);
    for (const after of [{ sequence: -1, epoch: 1 }, { sequence: 1, epoch: 0.5 }, { sequence: 1 }, "1"]) {
      expect(await codeOf(() => collect(journal.scan({ after: after as never })))).toBe("INVALID_ARGUMENT");
    }
    expect(await codeOf(() => collect(journal.scan({ from: 1, after: { sequence: 1, epoch: 1 } })))).toBe(
      "INVALID_ARGUMENT",
    );
    await journal.close();
  });

  it("may be iterated once, either way", async () => {
    const { journal } = await stage();
    await fill(journal, 3, 10);
    const stream = journal.scan();
    expect(await sequencesOf(stream)).toEqual([1, 2, 3]);
    expect(await codeOf(() => collect(stream))).toBe("INVALID_ARGUMENT");
    expect(await codeOf(() => stream.batches())).toBe("INVALID_ARGUMENT");
    await journal.close();
  });

  it("stops by its signal with ABORTED", async () => {
    const { journal } = await stage();
    await fill(journal, 10, 10);
    const abort = new AbortController();
    const seen: number[] = [];
    const scanning = async (): Promise<void> => {
      for await (const { sequence } of journal.scan({ signal: abort.signal })) {
        seen.push(sequence);
        if (sequence === 4) abort.abort("seen enough");
      }
    };
    expect(await refusal(scanning)).toMatchObject({ code: "ABORTED", cause: "seen enough" });
    expect(seen).toEqual([1, 2, 3, 4]);
    expect(await codeOf(() => collect(journal.scan({ signal: abort.signal })))).toBe("ABORTED");
    await journal.close();
  });

  it("ends with CLOSED when the journal is closed meanwhile", async () => {
    const { journal } = await stage();
    await fill(journal, 10, 10);
    const scanning = async (): Promise<void> => {
      for await (const { sequence } of journal.scan()) if (sequence === 4) await journal.close();
    };
    expect(await codeOf(scanning)).toBe("CLOSED");
  });

  it("lets go of its files however it ends", async () => {
    const { host, journal } = await stage({ segmentBytes: MIB });
    await fill(journal, 40, 60 * KIB);
    await journal.close();
    const door = measured(host);
    const again = await openAt(door.host);
    const before = door.open;
    for await (const { sequence } of again.scan()) if (sequence === 20) break;
    await collect(again.scan());
    await collect(again.scan({ signal: AbortSignal.abort() })).catch(() => undefined);
    expect(door.open).toBe(before);
    await again.read(1);
    await again.close();
    expect(door.open).toBe(0);
  });
});

describe("the sparse index", () => {
  it.each([64, 1024])(
    "makes a read in a big segment a few reads of its file, at a stride of %i",
    async (indexStride) => {
      const { host, journal } = await stage({ durability: "async", indexStride });
      const count = 9_000;
      for (let i = 0; i < count; i++) {
        await journal.ready(400);
        journal.append(bytes(400, i + 1));
        // A batch each.
        if (i % 3 === 0) await host.clock.yield();
      }
      await journal.flush();
      await journal.read(count);
      for (const sequence of [1, 2, 63, 64, 65, 1023, 1024, 1025, 2048, 4567, 8191, 8999, count]) {
        const before = host.operations.read;
        expect((await journal.read(sequence)).data[0]).toBe(sequence % 256);
        expect(host.operations.read - before).toBeLessThanOrEqual(5);
      }
      await journal.close();
    },
  );

  it("of an older segment is built once, by whoever comes first", async () => {
    const { host, journal } = await stage({ segmentBytes: 2 * MIB, durability: "async" });
    await pour(journal, 5_000, 900);
    await journal.close();
    const again = await openAt(host);
    const oldest = [1, 20, 300, 1_000, 1_500, 1_900];
    const start = host.operations.read;
    expect((await Promise.all(oldest.map((sequence) => again.read(sequence)))).map(({ sequence }) => sequence)).toEqual(
      oldest,
    );
    const building = host.operations.read - start;
    // Once through 2 MiB in steps of 256 KiB at most, batches cut some shorter; then a few each.
    expect(building).toBeGreaterThanOrEqual(8);
    expect(building).toBeLessThanOrEqual(20 + oldest.length * 5);
    const before = host.operations.read;
    await Promise.all(oldest.map((sequence) => again.read(sequence)));
    expect(host.operations.read - before).toBeLessThanOrEqual(oldest.length * 5);
    await again.close();
  });
});
