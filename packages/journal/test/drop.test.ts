import { describe, expect, it } from "vitest";
import { simulatedHost } from "@ehdb/host";
import type { Journal } from "@ehdb/journal";
import { bytes, codeOf, fill, KIB, MIB, openAt, range, refusal, segmentFiles, sequencesOf, stage } from "./drive.ts";
import type { Stage } from "./drive.ts";

/** 60 records of 100 KiB over several segments of 1 MiB. */
async function rolled(): Promise<Stage> {
  const made = await stage({ segmentBytes: MIB, reserveBytes: 0 });
  await fill(made.journal, 60, 100 * KIB);
  await made.host.settle();
  return made;
}

const readable = (journal: Journal): Promise<number[]> => sequencesOf(journal.scan());

describe("dropBefore", () => {
  it("makes what is below unreadable, and removes the segments that hold nothing else", async () => {
    const { host, journal } = await rolled();
    const before = { files: await segmentFiles(host), bytes: journal.stats().diskBytes };
    const report = await journal.dropBefore(35);
    expect(report.first).toBe(35);
    expect(journal.first).toBe(35);
    expect(report.segmentsRemoved).toBeGreaterThan(1);
    expect(report.bytesRemoved).toBe(before.bytes - journal.stats().diskBytes);
    const after = await segmentFiles(host);
    expect(before.files.length - after.length).toBe(report.segmentsRemoved);
    expect(report.bytesRemoved).toBeGreaterThan(report.segmentsRemoved * 900 * KIB);
    expect(journal.stats()).toMatchObject({ segmentsRemoved: report.segmentsRemoved, removeErrors: 0 });
    expect(await readable(journal)).toEqual(range(35, 60));
    expect(await codeOf(() => journal.read(34))).toBe("COMPACTED");
    await journal.close();
  });

  it("frees the bytes on the disk", async () => {
    const { host, journal } = await rolled();
    host.faults.noSpaceAfterBytes = 64 * MIB;
    const before = await host.files.freeBytes("/j");
    const { bytesRemoved } = await journal.dropBefore(35);
    await host.settle();
    expect((await host.files.freeBytes("/j")) - before).toBeGreaterThanOrEqual(bytesRemoved - 8 * KIB);
    await journal.close();
  });

  it("takes at most durable + 1, and keeps the newest segment even then", async () => {
    const { host, journal } = await rolled();
    const held = host.hold(["dataSync"]);
    journal.append(bytes(1));
    await host.settle();
    expect(await refusal(() => journal.dropBefore(62))).toMatchObject({
      code: "OUT_OF_RANGE",
      data: { sequence: 62, durable: 60 },
    });
    held.release();
    await journal.flush();
    const report = await journal.dropBefore(62);
    expect(report.first).toBe(62);
    expect([journal.first, journal.last]).toEqual([62, 61]);
    expect((await segmentFiles(host)).length).toBeGreaterThanOrEqual(1);
    expect(await readable(journal)).toEqual([]);
    expect(await journal.appendDurable(bytes(1))).toBe(62);
    expect(await readable(journal)).toEqual([62]);
    for (const wrong of [0, -1, 1.5, "5", Number.NaN])
      expect(await codeOf(() => journal.dropBefore(wrong as number))).toBe("INVALID_ARGUMENT");
    await journal.close();
  });

  it("below what is dropped already changes nothing, and writes nothing", async () => {
    const { host, journal } = await rolled();
    await journal.dropBefore(35);
    const writes = host.operations.writeAtSync;
    expect(await journal.dropBefore(20)).toEqual({ first: 35, segmentsRemoved: 0, bytesRemoved: 0 });
    expect(await journal.dropBefore(35)).toEqual({ first: 35, segmentsRemoved: 0, bytesRemoved: 0 });
    expect(host.operations.writeAtSync).toBe(writes);
    await journal.close();
  });

  it("is durable before anything is removed", async () => {
    const { host, journal } = await rolled();
    const { remove } = host.operations;
    host.hold(["remove"]);
    void journal.dropBefore(35).catch(() => undefined);
    await host.settle();
    expect(host.operations.remove).toBe(remove);
    const next = await openAt(host.crash("nothing"));
    expect(next.first).toBe(35);
    expect(await readable(next)).toEqual(range(35, 60));
    await next.close();
  });

  it.each(["close", "crash", "kill"] as const)("outlives a %s", async (how) => {
    const { host, journal } = await rolled();
    await journal.dropBefore(35);
    if (how === "close") await journal.close();
    const after = how === "close" ? host : host[how]();
    const again = await openAt(after);
    expect([again.first, again.last]).toEqual([35, 60]);
    expect(await readable(again)).toEqual(range(35, 60));
    await again.appendDurable(bytes(1));
    await again.close();
    const third = await openAt(after, { verifyOnOpen: "all" });
    expect([third.first, third.last]).toEqual([35, 61]);
    await third.close();
  });

  it("outlives it in a journal of which nothing is left", async () => {
    const host = simulatedHost({ seed: 1 });
    const journal = await openAt(host);
    await fill(journal, 5, 10);
    await journal.dropBefore(6);
    await journal.close();
    const again = await openAt(host);
    expect([again.first, again.last]).toEqual([6, 5]);
    expect(await again.appendDurable(bytes(1))).toBe(6);
    await again.close();
  });

  it("lets a scan under way finish, or tells it with COMPACTED; never gives it something else", async () => {
    for (const dropped of [10, 35, 61]) {
      const { journal } = await rolled();
      const seen: number[] = [];
      const scanning = async (): Promise<string> => {
        for await (const { sequence, data } of journal.scan()) {
          seen.push(sequence);
          expect([data.length, data[0]]).toEqual([100 * KIB, sequence]);
          if (sequence === 5) await journal.dropBefore(dropped);
        }
        return "done";
      };
      let ended: string;
      try {
        ended = await scanning();
      } catch (error) {
        ended = (error as { code: string }).code;
      }
      expect(seen).toEqual(range(1, seen.length));
      expect(ended).toBe(seen.length === 60 ? "done" : "COMPACTED");
      await journal.close();
    }
  });

  it("at the same time as reads of what goes gives the record or COMPACTED", async () => {
    const { host, journal } = await rolled();
    const reads = range(1, 60).map(async (sequence) => {
      try {
        return (await journal.read(sequence)).sequence === sequence ? "read" : "wrong";
      } catch (error) {
        return (error as { code: string }).code;
      }
    });
    await host.clock.yield();
    const drop = journal.dropBefore(40);
    const outcomes = await Promise.all(reads);
    await drop;
    expect(outcomes.filter((outcome) => outcome !== "read" && outcome !== "COMPACTED")).toEqual([]);
    expect(outcomes.slice(39).every((outcome) => outcome === "read")).toBe(true);
    await journal.close();
  });

  it("counts what it couldn't remove, and the next open removes it", async () => {
    const { host, journal } = await rolled();
    host.failNext("remove");
    const report = await journal.dropBefore(35);
    expect(journal.stats()).toMatchObject({ removeErrors: 1, segmentsRemoved: report.segmentsRemoved });
    await journal.close();
    const before = (await segmentFiles(host)).length;
    const again = await openAt(host);
    expect((await segmentFiles(host)).length).toBe(before);
    expect(await readable(again)).toEqual(range(35, 60));
    await again.close();
  });

  it("several at once come one after the other", async () => {
    const { journal } = await rolled();
    const reports = await Promise.all([20, 40, 30, 50].map((sequence) => journal.dropBefore(sequence)));
    expect(reports.map(({ first }) => first)).toEqual([20, 40, 40, 50]);
    expect(await readable(journal)).toEqual(range(50, 60));
    await journal.close();
  });
});

describe("roll", () => {
  it("starts a segment, so that what was dropped of the one before can be erased", async () => {
    const { host, journal } = await stage({ reserveBytes: 0 });
    await fill(journal, 10, KIB);
    await journal.dropBefore(11);
    expect((await segmentFiles(host)).length).toBe(1);
    await journal.roll();
    expect(journal.stats().rolls).toBe(1);
    expect((await journal.dropBefore(11)).segmentsRemoved).toBe(1);
    expect(await journal.appendDurable(bytes(100))).toBe(11);
    await journal.roll();
    expect(await readable(journal)).toEqual([11]);
    await journal.close();
    const again = await openAt(host.crash());
    expect([again.first, again.last]).toEqual([11, 11]);
    await again.close();
  });

  it("comes between two appends, whichever mode, and waits for neither", async () => {
    for (const durability of ["sync", "batch", "async"] as const) {
      const { host, journal } = await stage({ durability });
      journal.append(bytes(100));
      const rolling = journal.roll();
      journal.append(bytes(100));
      await rolling;
      expect(journal.cursors.durable).toBeGreaterThanOrEqual(1);
      await journal.close();
      const again = await openAt(host.kill());
      expect(await readable(again)).toEqual([1, 2]);
      await again.close();
    }
  });

  it("is refused by a journal that is closed", async () => {
    const { journal } = await stage();
    await journal.close();
    expect(await codeOf(() => journal.roll())).toBe("CLOSED");
  });
});
