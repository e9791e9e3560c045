import { describe, expect, it } from "vitest";
import { copyJournal, openJournalReader } from "@ehdb/journal";
import type { Journal, JournalRecord } from "@ehdb/journal";
import { codeOf, collect, fill, openAt, range, sequencesOf, stage } from "./drive.ts";
import { built } from "./layout.ts";

const small = { segmentBytes: 1024 * 1024, reserveBytes: 0 };

const plain = ({ sequence, time, epoch, data }: JournalRecord): unknown[] => [
  sequence,
  time,
  epoch,
  Buffer.from(data).toString("base64"),
];
const recordsOf = async (journal: Journal, from: number, to: number): Promise<unknown[][]> =>
  (await collect(journal.scan({ from, to }))).map(plain);

describe("copyJournal", () => {
  it.each([
    ["all", 1, 72],
    ["from the middle of a batch on", 18, 72],
    ["some", 20, 41],
  ])("copies %s with sequences, times and epochs, and the copy goes on behind", async (_, first, last) => {
    const { host } = await built();
    const journal = await openAt(host, small);
    const report = await copyJournal({ from: journal, to: "/copy", host, first, last, leastEpoch: journal.epoch + 1 });
    expect(report.records).toBe(last - first + 1);
    const copy = await openAt(host, { ...small, dir: "/copy", verifyOnOpen: "all" });
    expect(copy).toMatchObject({ first, last });
    expect(await recordsOf(copy, first, last)).toEqual(await recordsOf(journal, first, last));
    expect(copy.epoch).toBeGreaterThan(journal.epoch);
    expect(await copy.appendDurable(Buffer.from("more"))).toBe(last + 1);
    if (first > 1) expect(await codeOf(() => copy.read(first - 1))).toBe("COMPACTED");
    await copy.close();
    await journal.close();
  });

  it("makes an empty journal that goes on at any sequence and epoch", async () => {
    const { host } = await stage(small);
    await copyJournal({ to: "/copy", host, first: 1001, last: 1000, leastEpoch: 77 });
    const copy = await openAt(host, { ...small, dir: "/copy" });
    expect(copy).toMatchObject({ first: 1001, last: 1000, epoch: 78 });
    expect(await copy.appendDurable(Buffer.from("first"))).toBe(1001);
    await copy.close();
    const again = await openAt(host, { ...small, dir: "/copy", leastEpoch: 5000 });
    expect(again.epoch).toBe(5000);
    await again.close();
  });

  it("copies what is held while the journal goes on, and drops", async () => {
    const { host, journal } = await stage(small);
    await fill(journal, 100);
    const release = journal.hold(40);
    const copying = copyJournal({ from: journal, to: "/copy", host, first: 40, last: 100 });
    for (let i = 0; i < 40; i++) await journal.appendDurable(Buffer.alloc(60_000));
    expect(await journal.dropBefore(120)).toMatchObject({ first: 40 });
    expect(await copying).toMatchObject({ records: 61 });
    const copy = await openJournalReader({ dir: "/copy", host });
    expect(await sequencesOf(copy.scan())).toEqual(range(40, 100));
    await copy.close();
    release();
    expect(await journal.dropBefore(120)).toMatchObject({ first: 120 });
    expect(await codeOf(copyJournal({ from: journal, to: "/other", host, first: 40, last: 100 }))).toBe("COMPACTED");
    await journal.close();
  });

  it("leaves nothing behind that passes for a journal when it's crashed anywhere, or refused", async () => {
    for (let crash = 1; ; crash++) {
      const { host } = await built();
      const journal = await openAt(host, small);
      host.crashAfter(crash);
      const copied = copyJournal({ from: journal, to: "/copy", host, first: 30, last: 60 }).then(() => "done");
      if ((await Promise.race([copied, host.whenFrozen()])) === "done") {
        expect(crash).toBeGreaterThan(20);
        break;
      }
      const left = host.crash();
      if ((await left.files.stat("/copy")) === undefined) continue;
      const reader = await openJournalReader({ dir: "/copy", host: left });
      expect(await sequencesOf(reader.scan()), `crash ${crash}`).toEqual(range(30, 60));
      await reader.close();
    }
    const { host } = await built();
    const journal = await openAt(host, small);
    expect(await codeOf(copyJournal({ from: journal, to: "/j", host, first: 1, last: 5 }))).toBe("ALREADY_EXISTS");
    for (const kind of ["write", "dataSync"] as const) {
      host.failNext(kind, "EIO", /copy\.unfinished.*segment/);
      expect(await codeOf(copyJournal({ from: journal, to: "/copy", host, first: 1, last: 5 })), kind).toBe("IO_ERROR");
      expect((await host.files.list("/")).filter((name) => name.startsWith("copy"))).toEqual([]);
    }
    await journal.close();
  });
});
