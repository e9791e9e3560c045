import { describe, expect, it } from "vitest";
import { openJournalReader } from "@ehdb/journal";
import type { JournalStats } from "@ehdb/journal";
import { bytes, codeOf, collect, fill, KIB, MIB, openAt, segmentFiles, stage } from "./drive.ts";
import { batchesIn } from "./layout.ts";

const small = { segmentBytes: MIB, reserveBytes: 0 };
const zeros: JournalStats = {
  appends: 0,
  appendedBytes: 0,
  batches: 0,
  syncs: 0,
  marks: 0,
  rolls: 0,
  reads: 0,
  segments: 0,
  diskBytes: 0,
  inFlightBytes: 0,
  preallocatedBytes: 0,
  segmentsRemoved: 0,
  removeErrors: 0,
  queueFull: 0,
  noSpace: 0,
  writeErrors: 0,
  readErrors: 0,
  corruptions: 0,
  reopens: 0,
};

it("a journal just opened has counted nothing, and holds one segment", async () => {
  const { journal } = await stage(small);
  const { segments, diskBytes, ...counters } = journal.stats();
  expect(segments).toBe(1);
  expect(diskBytes).toBeGreaterThan(900 * KIB);
  expect({ ...counters, segments: 0, diskBytes: 0 }).toEqual(zeros);
  await journal.close();
});

it("stats is a copy, of plain numbers", async () => {
  const { journal } = await stage(small);
  const before = journal.stats();
  await fill(journal, 3, 10);
  expect(before.appends).toBe(0);
  expect(Object.keys(before).sort()).toEqual(Object.keys(zeros).sort());
  expect(Object.values(before).every((value) => Number.isSafeInteger(value))).toBe(true);
  expect(JSON.parse(JSON.stringify(before))).toEqual(before);
  await journal.close();
});

describe("counted are", () => {
  it("appends, their bytes, batches and syncs", async () => {
    const { journal } = await stage(small);
    await journal.appendDurable(bytes(100));
    journal.append(bytes(20));
    journal.appendAll([bytes(1), bytes(2), bytes(0)]);
    await journal.flush();
    await journal.appendAllDurable([bytes(7)]);
    expect(journal.stats()).toMatchObject({ appends: 6, appendedBytes: 130, batches: 3, syncs: 3 });
    await journal.close();
  });

  it("marks, of idle times and of drops' kind as batches", async () => {
    const { host, journal } = await stage(small);
    await fill(journal, 1, 10);
    await host.advance(60);
    expect(journal.stats()).toMatchObject({ marks: 1, batches: 2 });
    await journal.dropBefore(2);
    expect(journal.stats().batches).toBe(3);
    await journal.close();
  });

  it("rolls, and with them segments and their bytes", async () => {
    const { host, journal } = await stage(small);
    await fill(journal, 35, 100 * KIB);
    const { rolls, segments, diskBytes } = journal.stats();
    expect(rolls).toBe(3);
    expect(segments).toBe(4);
    let onDisk = 0;
    for (const path of (await segmentFiles(host)).slice(0, 4)) onDisk += host.content(path).length;
    expect(diskBytes).toBe(onDisk);
    await journal.dropBefore(30);
    expect(journal.stats()).toMatchObject({ segments: 2, segmentsRemoved: 2 });
    expect(journal.stats().diskBytes).toBeLessThan(diskBytes);
    await journal.close();
  });

  it("bytes written as zeros ahead of use", async () => {
    const { host, journal } = await stage({ reserveBytes: 0 });
    await fill(journal, 30, 100 * KIB);
    await host.settle();
    const { preallocatedBytes, diskBytes } = journal.stats();
    expect(preallocatedBytes).toBeGreaterThan(2 * MIB);
    expect(preallocatedBytes).toBeLessThanOrEqual(diskBytes);
    await journal.close();
  });

  it("bytes in flight, while they are", async () => {
    const { host, journal } = await stage(small);
    await host.settle();
    journal.append(bytes(1000));
    expect(journal.stats().inFlightBytes).toBeGreaterThanOrEqual(1000);
    expect(journal.stats().inFlightBytes).toBeLessThan(1200);
    await journal.flush();
    expect(journal.stats().inFlightBytes).toBe(0);
    await journal.close();
  });

  it("reads: one a record that is asked for, one a batch that a stream delivers", async () => {
    const { journal } = await stage(small);
    await journal.appendAllDurable([bytes(1), bytes(2)]);
    await journal.appendDurable(bytes(3));
    await journal.read(1);
    await journal.read(2);
    expect(journal.stats().reads).toBe(2);
    await collect(journal.scan());
    expect(journal.stats().reads).toBe(4);
    await journal.close();
  });

  it("refusals for want of room and of space", async () => {
    const { host, journal } = await stage({ maxInFlightBytes: MIB, reserveBytes: 0 });
    const held = host.hold(["dataSync"]);
    journal.append(bytes(1));
    await host.settle();
    let refused = 0;
    while (refused < 3) {
      try {
        journal.append(bytes(50 * KIB));
      } catch {
        refused++;
      }
    }
    expect(journal.stats().queueFull).toBe(3);
    held.release();
    await journal.flush();
    host.faults.noSpaceAfterBytes = 0;
    let code = "";
    while (code !== "NO_SPACE") code = await codeOf(() => fill(journal, 100, 50 * KIB));
    const { noSpace } = journal.stats();
    expect(await codeOf(() => journal.append(bytes(50 * KIB)))).toBe("NO_SPACE");
    expect(journal.stats().noSpace).toBe(noSpace + 1);
    await journal.close();
  });

  it("failed writes and syncs, and reopens; counters go on over a reopen", async () => {
    const { host, journal } = await stage(small);
    await fill(journal, 2, 10);
    host.failNext("writeAtSync");
    expect(await codeOf(() => journal.appendDurable(bytes(1)))).toBe("OUTCOME_UNKNOWN");
    expect(journal.stats()).toMatchObject({ writeErrors: 1, reopens: 0 });
    await journal.reopen();
    host.failNext("dataSync");
    expect(await codeOf(() => journal.appendDurable(bytes(1)))).toBe("OUTCOME_UNKNOWN");
    await journal.reopen();
    await fill(journal, 1, 10);
    expect(journal.stats()).toMatchObject({ writeErrors: 2, reopens: 2, appends: 5 });
    await journal.reopen();
    expect(journal.stats().reopens).toBe(2);
    await journal.close();
    expect(journal.stats()).toMatchObject({ writeErrors: 2, reopens: 2, appends: 5 });
  });

  it("failed reads and damage that was met", async () => {
    const { host, journal } = await stage(small);
    await fill(journal, 3, 1000);
    host.failNext("read");
    expect(await codeOf(() => journal.read(1))).toBe("IO_ERROR");
    host.failNext("open");
    expect(await codeOf(() => collect(journal.scan()))).toBe("IO_ERROR");
    expect(journal.stats()).toMatchObject({ readErrors: 2, corruptions: 0 });
    expect((await journal.read(1)).sequence).toBe(1);
    const path = (await segmentFiles(host))[0] as string;
    const hit = batchesIn(host, path).find(({ first, records }) => records > 0 && first === 2);
    host.flipBit(path, (hit?.offset ?? 0) + 500, 1);
    expect(await codeOf(() => journal.read(2))).toBe("CORRUPT");
    expect(await codeOf(() => collect(journal.scan()))).toBe("CORRUPT");
    expect((await journal.verify()).ok).toBe(false);
    expect(journal.stats()).toMatchObject({ readErrors: 2, corruptions: 3 });
    await journal.close();
  });

  it("files that couldn't be removed", async () => {
    const { host, journal } = await stage(small);
    await fill(journal, 35, 100 * KIB);
    host.failNext("remove");
    await journal.dropBefore(30);
    expect(journal.stats()).toMatchObject({ removeErrors: 1, segmentsRemoved: 2 });
    await journal.close();
  });
});

it("a reader counts its reads, errors, segments and bytes, and nothing of a writer", async () => {
  const { host, journal } = await stage(small);
  await fill(journal, 25, 100 * KIB);
  await host.advance(60);
  const reader = await openJournalReader({ dir: "/j", host });
  await reader.read(1);
  host.failNext("read");
  expect(await codeOf(() => reader.read(20))).toBe("IO_ERROR");
  const path = (await segmentFiles(host))[0] as string;
  host.flipBit(path, 4096 + 120 + 500, 1);
  expect(await codeOf(() => reader.read(1))).toBe("CORRUPT");
  expect((await reader.verify()).ok).toBe(false);
  const { segments, diskBytes, reads, readErrors, corruptions, ...rest } = reader.stats();
  expect({ segments, reads, readErrors, corruptions }).toEqual({
    segments: 3,
    reads: 3,
    readErrors: 1,
    corruptions: 2,
  });
  expect(diskBytes).toBeGreaterThan(2 * MIB);
  expect(Object.values(rest).every((value) => value === 0)).toBe(true);
  await reader.close();
  await journal.close();
});

it("at a clean close the disk holds what was written, and little more", async () => {
  const { host, journal } = await stage({ reserveBytes: 0 });
  await fill(journal, 10, 10 * KIB);
  await journal.close();
  const again = await openAt(host, { reserveBytes: 0 });
  const [first] = await segmentFiles(host);
  expect(host.content(first as string).length).toBeLessThan(112 * KIB);
  expect(again.stats().segments).toBe(2);
  await again.close();
});
