/** What broke in systems of this kind, as small inputs with the right answer. */
import { describe, expect, it } from "vitest";
import { openJournal, openJournalReader, salvage } from "@ehdb/journal";
import type { Damage, JournalRecord } from "@ehdb/journal";
import { bytesOf, cutFile, fillDisk, firstBatch, overwrite, placeOf, segmentIds, segmentPath } from "./disk.ts";
import {
  codeOf,
  everything,
  fill,
  fillSegments,
  machine,
  numbers,
  openSmall,
  range,
  record,
  refusal,
} from "./drive.ts";

const keeps = ["nothing", "everything", "sectors", "prefix"] as const;

describe("a data sync fails once, and the next one succeeds", () => {
  it("poisons, rejects all that is pending, and a reopen tells the truth", async () => {
    for (const durability of ["sync", "batch", "async"] as const) {
      for (const keep of keeps) {
        let host = machine();
        const journal = await openSmall(host, { durability, batchRecords: 1 });
        await fill(journal, 3);
        host.failNext("dataSync");
        const pending = [4, 5, 6].map(async (n) => await codeOf(journal.appendDurable(record(n))));
        expect(await Promise.all(pending)).toEqual(["OUTCOME_UNKNOWN", "OUTCOME_UNKNOWN", "OUTCOME_UNKNOWN"]);
        expect(await codeOf(() => journal.append(record(7)))).toBe("POISONED");
        expect(await everything(journal)).toEqual([1, 2, 3]);
        const { last } = await journal.reopen();
        expect(last).toBeGreaterThanOrEqual(3);
        await fill(journal, 2);
        host = host.crash(keep);
        expect(await everything(await openSmall(host))).toEqual(range(1, last + 2));
      }
    }
  });
});

describe("the disk fills", () => {
  it("says NO_SPACE, reads on, and writes again when there is room, without a restart", async () => {
    for (let room = 0; room < 3_000_000; room += 333_333) {
      const host = machine(room + 1);
      const journal = await openSmall(host);
      await fill(journal, 3);
      await fillDisk(host, room);
      expect(
        await codeOf(async () => {
          for (;;) await fill(journal, 1, 120_000);
        }),
      ).toBe("NO_SPACE");
      const full = journal.last;
      expect(journal.cursors).toEqual({ appended: full, written: full, durable: full });
      expect(await everything(journal)).toEqual(range(1, full));
      expect(await codeOf(() => journal.append(record(full + 1, 120_000)))).toBe("NO_SPACE");
      host.faults.noSpaceAfterBytes = Infinity;
      await host.advance(1000);
      expect(journal.state).toBe("open");
      await fill(journal, 3, 120_000);
      expect(await everything(journal)).toEqual(range(1, full + 3));
      await journal.close();
      expect(await everything(await openSmall(host))).toEqual(range(1, full + 3));
    }
  });
});

describe("a kill in mid-write", () => {
  it("takes only the incomplete end, and the journal opens", async () => {
    for (let cut = 1; cut <= 300; cut += 7) {
      let host = machine(cut);
      const journal = await openSmall(host);
      await fill(journal, 3);
      journal.append(record(4, 200));
      await host.settle();
      const start = placeOf(host, segmentPath(1), record(4, 200)) - 66;
      host = host.kill();
      await overwrite(host, segmentPath(1), start + cut, Buffer.alloc(Math.max(0, 270 - cut)));
      const again = await openSmall(host);
      const found = await everything(again);
      expect(found).toEqual(range(1, found.length));
      expect(found.length).toBeGreaterThanOrEqual(3);
      expect(again.recovery.tornBytes > 0).toBe(found.length === 3);
    }
  });
});

describe("records of an unsynced batch are torn in any order", () => {
  it("is a torn tail and not corruption, and a crash during the recovery is safe", async () => {
    let torn = 0;
    for (let seed = 1; seed <= 60; seed++) {
      let host = machine(seed);
      const journal = await openSmall(host, { durability: "async" });
      await fill(journal, 2);
      for (let i = 3; i <= 14; i++) {
        journal.append(record(i, 3_000));
        if (i % 4 === 0) await host.settle();
      }
      await host.settle();
      host = host.crash("sectors");
      torn += host.statistics.tornWrites;
      host.crashAfter(1 + (seed % 25));
      await Promise.race([openSmall(host), host.whenFrozen()]);
      host = host.crash();
      const found = await everything(await openSmall(host));
      expect(found).toEqual(range(1, found.length));
      expect(found.length).toBeGreaterThanOrEqual(2);
    }
    expect(torn).toBeGreaterThan(0);
  });
});

describe("a sealed segment is cut exactly between two batches", () => {
  it("is seen, by count and chain", async () => {
    const host = machine();
    const journal = await openSmall(host);
    await fillSegments(journal, 3);
    const borders = range(1, 4).map((n) => placeOf(host, segmentPath(1), record(n, 200_000)) - 67);
    await journal.close();
    const whole = bytesOf(host, segmentPath(1));
    for (const border of borders) {
      await cutFile(host, segmentPath(1), border - (border % 8));
      expect(await codeOf(openSmall(host))).toBe("CORRUPT");
      await overwrite(host, segmentPath(1), 0, whole);
      await (await openSmall(host)).close();
    }
  });

  it("is seen, too, when zeros take the place of the batches", async () => {
    const host = machine();
    const journal = await openSmall(host);
    await fillSegments(journal, 3);
    const border = placeOf(host, segmentPath(1), record(3, 200_000)) - 67;
    await journal.close();
    const { length } = host.content(segmentPath(1));
    await overwrite(host, segmentPath(1), border - (border % 8), Buffer.alloc(length - border));
    expect(await codeOf(openSmall(host, { verifyOnOpen: "all" }))).toBe("CORRUPT");
    expect(await codeOf(everything(await openSmall(host)))).toBe("CORRUPT");
  });
});

describe("zeros where a log could be", () => {
  it("takes a tail of zeros, a segment of only zeros and an empty file for an end, and never writes over what is there", async () => {
    for (const tail of ["zeros behind the last batch", "a segment of zeros", "an empty segment"]) {
      const host = machine();
      const journal = await openSmall(host);
      await fill(journal, 3);
      await journal.close();
      const before = bytesOf(host, segmentPath(1));
      if (tail === "zeros behind the last batch")
        await overwrite(host, segmentPath(1), before.length, Buffer.alloc(100_000));
      else {
        const file = await host.files.open(segmentPath(2), "create");
        if (tail === "a segment of zeros") await file.write(Buffer.alloc(100_000), 0);
        await file.close();
      }
      const again = await openSmall(host);
      expect(await everything(again), tail).toEqual([1, 2, 3]);
      await fill(again, 2);
      expect(await everything(again), tail).toEqual(range(1, 5));
      expect(bytesOf(host, segmentPath(1)).subarray(0, before.length).equals(before)).toBe(true);
      await again.close();
    }
  });
});

describe("a length that can't be", () => {
  it("is refused by comparing it with the file, not by trying to allocate, and the checksum covers it", async () => {
    for (const length of [0xffff_ffff, 0x7fff_ffff, 64 * 1024 * 1024, 100_000]) {
      for (const place of ["in the last batch", "in the middle"]) {
        let host = machine();
        const journal = await openSmall(host);
        await fill(journal, 4);
        host = host.crash("nothing");
        const at = placeOf(host, segmentPath(1), record(place === "in the middle" ? 2 : 4)) - 65 + 8;
        const bytes = Buffer.alloc(4);
        bytes.writeUInt32LE(length);
        await overwrite(host, segmentPath(1), at, bytes);
        if (place === "in the middle") expect(await codeOf(openSmall(host))).toBe("CORRUPT");
        else expect(await everything(await openSmall(host))).toEqual([1, 2, 3]);
      }
    }
  });
});

describe("one flipped bit in the middle of acknowledged data", () => {
  it("names file, offset and sequences; nothing after it is dropped in silence; salvage gets the rest", async () => {
    for (let offset = 0; offset < 400; offset += 23) {
      const host = machine(offset);
      const journal = await openSmall(host);
      await fill(journal, 12);
      await journal.close();
      const size = host.content(segmentPath(1)).length;
      host.flipBit(segmentPath(1), firstBatch + offset, offset % 8);
      const error = await codeOf(openSmall(host)).catch((missed: Error) => missed.message);
      if (error !== "CORRUPT") {
        // Padding between two batches means nothing.
        expect(await everything(await openSmall(host))).toEqual(range(1, 12));
        continue;
      }
      const { data } = (await refusal(openSmall(host))) as unknown as { data: Damage };
      expect(data.file).toBe(segmentPath(1));
      expect(data.offset).toBeLessThanOrEqual(firstBatch + offset);
      expect(data.offset).toBeGreaterThanOrEqual(firstBatch);
      expect(data.offset).toBeLessThan(size);
      const report = await salvage({ dir: "/j", to: "/salvaged", host });
      expect(report.lost.map(({ first, last }) => [first, last])).toEqual([[data.first, data.first]]);
      const saved = await openJournal({ dir: "/salvaged", host });
      expect(await everything(saved)).toEqual(range(1, 12).filter((n) => n !== data.first));
    }
  });
});

describe("segment n isn't synced before n+1 exists", () => {
  it("can't lose n and keep n+1, whatever the disk keeps of both", async () => {
    for (let seed = 1; seed <= 40; seed++) {
      let host = machine(seed);
      const journal = await openSmall(host, { durability: "async" });
      host.crashAfter(20 + seed);
      const work = async (): Promise<void> => {
        for (;;) {
          await journal.ready(150_000);
          journal.append(record(journal.cursors.appended + 1, 150_000));
        }
      };
      await Promise.race([work(), host.whenFrozen()]);
      host = host.crash();
      const found = await everything(await openSmall(host));
      expect(found).toEqual(range(1, found.length));
    }
  });
});

describe("every sealed segment is verified, also the last but one", () => {
  it("finds a flipped bit in each of them, by verify(), by a scan, and at an open that verifies all", async () => {
    const host = machine();
    const journal = await openSmall(host);
    await fillSegments(journal, 4);
    await journal.close();
    for (const id of (await segmentIds(host)).slice(0, -1)) {
      host.flipBit(segmentPath(id), firstBatch + 300, 5);
      expect(await codeOf(openSmall(host, { verifyOnOpen: "all" }))).toBe("CORRUPT");
      const open = await openSmall(host);
      expect(await codeOf(everything(open))).toBe("CORRUPT");
      const { ok, damage } = await open.verify();
      expect([ok, damage.length, damage[0]?.file]).toEqual([false, 1, segmentPath(id)]);
      await open.close();
      host.flipBit(segmentPath(id), firstBatch + 300, 5);
    }
    expect((await (await openSmall(host)).verify()).ok).toBe(true);
  });
});

describe("a reader of a live log meets a crash of the writer and its restart", () => {
  it("neither hangs nor skips", async () => {
    for (let seed = 1; seed <= 12; seed++) {
      const host = machine(seed);
      const journal = await openSmall(host);
      await fill(journal, 3);
      const reader = await openJournalReader({ dir: "/j", host, pollMillis: 10 });
      const seen: number[] = [];
      const stop = new AbortController();
      const tail = (async () => {
        for await (const { sequence } of reader.tail({ signal: stop.signal })) seen.push(sequence);
      })().catch((error: { code?: string }) => error.code);
      for (let round = 0; round < 3; round++) {
        host.failNext(seed % 2 === 0 ? "dataSync" : "writeAtSync");
        await codeOf(journal.appendDurable(record(journal.last + 1)));
        await host.advance(30);
        await journal.reopen();
        await fill(journal, 4);
        await host.advance(120);
      }
      expect(seen).toEqual(range(1, journal.last));
      stop.abort();
      expect(await tail).toBe("ABORTED");
      await reader.close();
    }
  });

  it("goes on where it was after the machine has lost its power", async () => {
    for (let seed = 1; seed <= 12; seed++) {
      let host = machine(seed);
      const journal = await openSmall(host);
      await fill(journal, 6);
      await host.advance(100);
      const reader = await openJournalReader({ dir: "/j", host });
      let last: JournalRecord | undefined;
      for await (const one of reader.scan()) last = one;
      for (let i = 0; i < 5; i++) journal.append(record(7 + i));
      await host.settle();
      host = host.crash();
      const again = await openSmall(host);
      await fill(again, 2);
      await host.advance(100);
      const next = await openJournalReader({ dir: "/j", host });
      expect(await numbers(next.scan({ after: last as JournalRecord }))).toEqual(
        range((last as JournalRecord).sequence + 1, again.last),
      );
      await next.close();
    }
  });
});

describe("a log larger than memory, and a consumer slower than the disk", () => {
  it("reads ahead by no more than a chunk or two", async () => {
    const host = machine();
    const journal = await openSmall(host);
    await fillSegments(journal, 5);
    let consumed = 0;
    let before = host.history.entries.length;
    for await (const batch of journal.scan().batches()) {
      for (const { data } of batch) consumed += data.length;
      await host.advance(1000);
      const read = host.history.entries.slice(before).filter(({ operation }) => operation === "read");
      expect(read.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThan(800_000);
      before = host.history.entries.length;
    }
    expect(consumed).toBeGreaterThan(4_000_000);
  });
});
