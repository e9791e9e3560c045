import { describe, expect, it } from "vitest";
import type { SimulatedHost } from "@ehdb/host";
import type { Journal } from "@ehdb/journal";
import { openJournalReader, salvage } from "@ehdb/journal";
import {
  bytes,
  codeOf,
  collect,
  fill,
  KIB,
  MIB,
  openAt,
  range,
  refusal,
  segmentFiles,
  sequencesOf,
  stage,
} from "./drive.ts";
import { batchesIn } from "./layout.ts";

const lowWaterFlag = 16;

/** Where the newest segment's low-water mark begins, and its bytes. */
async function markIn(host: SimulatedHost): Promise<{ file: string; offset: number; bytes: number }> {
  const file = (await segmentFiles(host)).at(-1) as string;
  const data = Buffer.from(host.content(file));
  const mark = batchesIn(host, file).find(({ offset }) => (data.readUInt32LE(offset + 48) & lowWaterFlag) !== 0);
  if (mark === undefined) throw new Error(`${file} holds no low-water mark`);
  return mark;
}

describe("one flipped bit in a low-water mark brings nothing back", () => {
  const endings: Record<string, (host: SimulatedHost, journal: Journal) => Promise<SimulatedHost>> = {
    "after a clean close": async (host, journal) => {
      await journal.close();
      return host;
    },
    "after a clean close of a busy journal": async (host, journal) => {
      await fill(journal, 2, 10);
      await journal.close();
      return host;
    },
    "after 50 idle milliseconds and a kill": async (host) => {
      await host.advance(100);
      return host.crash("everything");
    },
    "after one more append and a kill": async (host, journal) => {
      await journal.appendDurable(bytes(10));
      return host.crash("everything");
    },
    "after one more append that isn't synced, and a kill": async (host, journal) => {
      journal.setDurability("async");
      journal.append(bytes(10));
      await host.settle();
      return host.crash("everything");
    },
  };

  it.each(Object.entries(endings))("%s", async (_, end) => {
    const begin = await stage({ reserveBytes: 0 });
    await fill(begin.journal, 6, 100);
    await begin.journal.dropBefore(5);
    const host = await end(begin.host, begin.journal);
    const mark = await markIn(host);
    for (let bit = 0; bit < mark.bytes * 8; bit += 5) {
      host.flipBit(mark.file, mark.offset + (bit >> 3), bit & 7);
      const error = await refusal(() => openAt(host, { reserveBytes: 0 }));
      expect(error, `bit ${bit}`).toMatchObject({ code: "CORRUPT", data: { file: mark.file, offset: mark.offset } });
      expect(await codeOf(() => openJournalReader({ dir: "/j", host }))).toBe("CORRUPT");
      host.flipBit(mark.file, mark.offset + (bit >> 3), bit & 7);
    }
    const journal = await openAt(host, { reserveBytes: 0 });
    expect(journal.first).toBe(5);
    await journal.close();
  });

  it("in a segment of which nothing else is left but its first batch, which rots", async () => {
    const { host, journal } = await stage({ reserveBytes: 0 });
    await fill(journal, 6, 100);
    await journal.close();
    const again = await openAt(host, { reserveBytes: 0 });
    await again.dropBefore(5);
    await again.close();
    const file = (await segmentFiles(host)).at(-1) as string;
    host.flipBit(file, 4096 + 70, 0);
    expect(await refusal(() => openAt(host))).toMatchObject({ code: "CORRUPT", data: { file, offset: 4096 } });
  });

  it("a clean close of an idle journal costs one sync more, of a busy one none", async () => {
    const { host, journal } = await stage({ reserveBytes: 0 });
    await journal.appendDurable(bytes(1));
    const busy = journal.stats().syncs;
    await journal.close();
    expect(journal.stats().syncs - busy).toBe(1);
    const again = await openAt(host, { reserveBytes: 0 });
    await again.appendDurable(bytes(1));
    await host.advance(100);
    const idle = again.stats().syncs;
    await again.close();
    expect(again.stats().syncs - idle).toBe(2);
  });
});

/** A journal in which a crash took record 10 of epoch 1, and epoch 2 gave the sequence again. */
async function mintedAgain(): Promise<{ host: SimulatedHost; journal: Journal }> {
  const { host, journal } = await stage({ durability: "async", segmentBytes: MIB, reserveBytes: 0 });
  await fill(journal, 9, 10);
  journal.append(bytes(10));
  await host.settle();
  expect((await journal.read(10)).epoch).toBe(1);
  const crashed = host.crash("nothing");
  const again = await openAt(crashed, { segmentBytes: MIB, reserveBytes: 0 });
  await fill(again, 3, 10);
  expect((await again.read(10)).epoch).toBe(2);
  return { host: crashed, journal: again };
}

describe("a checkpoint at the last record that was dropped", () => {
  const lost = { sequence: 10, epoch: 1 };
  const kept = { sequence: 10, epoch: 2 };

  it("is TRUNCATED when a crash took it and its sequence was given again", async () => {
    const { host, journal } = await mintedAgain();
    await journal.dropBefore(11);
    const check = async (one: Pick<Journal, "scan" | "tail">): Promise<void> => {
      expect(await codeOf(() => collect(one.scan({ after: lost })))).toBe("TRUNCATED");
      expect(await codeOf(() => collect(one.tail({ after: lost })))).toBe("TRUNCATED");
      expect((await sequencesOf(one.scan({ after: kept })))[0]).toBe(11);
      expect(await codeOf(() => collect(one.scan({ after: { sequence: 9, epoch: 1 } })))).toBe("COMPACTED");
    };
    await check(journal);
    const beside = await openJournalReader({ dir: "/j", host });
    await check(beside);
    await beside.close();
    // Now a preamble says it.
    await fill(journal, 12, 100 * KIB);
    expect(journal.stats().rolls).toBe(1);
    await check(journal);
    await journal.close();
    const again = await openAt(host, { segmentBytes: MIB, reserveBytes: 0 });
    await check(again);
    await again.close();
    await salvage({ dir: "/j", to: "/k", host });
    const salvaged = await openAt(host, { dir: "/k" });
    await check(salvaged);
    await salvaged.close();
  });

  it("is the same when retention dropped it", async () => {
    const { host, journal } = await mintedAgain();
    await journal.close();
    const again = await openAt(host, { segmentBytes: MIB, reserveBytes: 0, retention: { maxRecords: 1 } });
    await again.appendDurable(bytes(10));
    await again.applyRetention();
    expect(again.first).toBe(13);
    expect(await codeOf(() => collect(again.scan({ after: { sequence: 12, epoch: 1 } })))).toBe("TRUNCATED");
    expect(await sequencesOf(again.scan({ after: { sequence: 12, epoch: 2 } }))).toEqual([13]);
    await again.close();
  });

  it("goes on when the epoch of what was dropped can't be told", async () => {
    const { host, journal } = await stage({ reserveBytes: 0, indexStride: 1 });
    await fill(journal, 4, 100);
    const held = batchesIn(host, (await segmentFiles(host))[0] as string).find(
      ({ first, records }) => first === 3 && records > 0,
    );
    host.flipBit((await segmentFiles(host))[0] as string, (held?.offset ?? 0) + 80, 1);
    expect(await journal.dropBefore(4)).toMatchObject({ first: 4 });
    expect(await sequencesOf(journal.scan({ after: { sequence: 3, epoch: 1 } }))).toEqual([4]);
    await journal.close();
  });
});

describe("a checkpoint beyond what is stated durable", () => {
  it("is never called TRUNCATED while its record is there, wherever a recovery was cut off", async () => {
    let unstated = 0;
    for (let point = 1; point < 60; point++) {
      const begin = await stage({ reserveBytes: 0 }, point);
      await fill(begin.journal, 5, 100);
      let host = begin.host.crash("everything");
      host.crashAfter(point);
      await Promise.race([openAt(host, { reserveBytes: 0 }).catch(() => undefined), host.whenFrozen()]);
      host = host.crash("everything");
      const reader = await openJournalReader({ dir: "/j", host });
      if (reader.last < 5) unstated++;
      expect(await sequencesOf(reader.scan({ after: { sequence: 5, epoch: 1 } })), `point ${point}`).toEqual([]);
      await reader.close();
      host.faults.noSpaceAfterBytes = 1;
      const full = await openAt(host, { reserveBytes: 0 });
      expect(full.state).toBe("read-only");
      expect(await sequencesOf(full.scan({ after: { sequence: 5, epoch: 1 } })), `point ${point}`).toEqual([]);
      await full.close();
    }
    expect(unstated).toBeGreaterThan(0);
  });

  it("of an epoch that a reader hasn't seen makes it look again", async () => {
    const { host, journal } = await stage({ durability: "async", reserveBytes: 0 });
    await fill(journal, 3, 10);
    await journal.close();
    const reader = await openJournalReader({ dir: "/j", host });
    const again = await openAt(host, { reserveBytes: 0 });
    await fill(again, 2, 10);
    await host.advance(100);
    // An earlier record, as a consumer may name it that counts by the writer's epoch.
    expect(await sequencesOf(reader.scan({ after: { sequence: 3, epoch: again.epoch } }))).toEqual(range(4, 5));
    await reader.close();
    await again.close();
  });
});
