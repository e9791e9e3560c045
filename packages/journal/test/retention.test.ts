import { describe, expect, it } from "vitest";
import { bytes, fill, KIB, MIB, openAt, range, segmentFiles, sequencesOf, stage } from "./drive.ts";

const small = { segmentBytes: MIB, reserveBytes: 0 };

describe("retention", () => {
  it("by records drops whole segments until no more than that are left", async () => {
    const { host, journal } = await stage({ ...small, retention: { maxRecords: 25 } });
    await fill(journal, 60, 100 * KIB);
    await host.settle();
    const kept = journal.last - journal.first + 1;
    // Applied when a segment is full: what the newest one takes afterwards comes on top.
    expect(kept).toBeLessThanOrEqual(25 + 10);
    expect(kept).toBeGreaterThan(14);
    await journal.applyRetention();
    expect(journal.last - journal.first + 1).toBeLessThanOrEqual(25);
    expect(await sequencesOf(journal.scan())).toEqual(range(journal.first, 60));
    expect(journal.stats().segmentsRemoved).toBeGreaterThan(2);
    await journal.close();
  });

  it("by bytes does so, space made ahead not counted", async () => {
    const { host, journal } = await stage({ ...small, retention: { maxBytes: 3 * MIB } });
    await fill(journal, 60, 100 * KIB);
    await host.settle();
    await journal.applyRetention();
    const kept = journal.last - journal.first + 1;
    expect(kept * 100 * KIB).toBeLessThanOrEqual(3 * MIB);
    expect(kept * 100 * KIB).toBeGreaterThan(1.5 * MIB);
    await journal.close();
  });

  it("by age drops a segment when its last record is older than that, on call and at the next roll", async () => {
    const { host, journal } = await stage({ ...small, retention: { maxAgeSeconds: 60 } });
    await fill(journal, 30, 100 * KIB);
    await host.advance(59_000);
    expect(await journal.applyRetention()).toMatchObject({ first: 1, segmentsRemoved: 0 });
    await host.advance(2_000);
    const report = await journal.applyRetention();
    expect(report.segmentsRemoved).toBeGreaterThan(1);
    expect(report.first).toBe(journal.first);
    const { first } = journal;
    await host.advance(61_000);
    await fill(journal, 25, 100 * KIB);
    await host.settle();
    expect(journal.first).toBeGreaterThan(first);
    expect(await sequencesOf(journal.scan())).toEqual(range(journal.first, 55));
    await journal.close();
  });

  it("every limit that is given holds", async () => {
    for (const retention of [
      { maxBytes: 2 * MIB, maxRecords: 1_000_000 },
      { maxBytes: 100 * MIB, maxRecords: 20 },
      { maxRecords: 20, maxAgeSeconds: 1e9 },
    ]) {
      const { host, journal } = await stage({ ...small, retention });
      await fill(journal, 50, 100 * KIB);
      await host.settle();
      await journal.applyRetention();
      expect(journal.last - journal.first + 1).toBeLessThanOrEqual(20);
      await journal.close();
    }
  });

  it("never drops the newest segment, however small the limits", async () => {
    const { host, journal } = await stage({
      ...small,
      retention: { maxBytes: 1, maxRecords: 1, maxAgeSeconds: 0.001 },
    });
    await fill(journal, 3, 100 * KIB);
    await host.advance(10_000);
    await journal.applyRetention();
    expect(await sequencesOf(journal.scan())).toEqual([1, 2, 3]);
    await fill(journal, 30, 100 * KIB);
    await host.advance(10_000);
    await journal.applyRetention();
    expect(journal.last).toBe(33);
    expect(journal.first).toBeLessThanOrEqual(33);
    const kept = await sequencesOf(journal.scan());
    expect(kept).toEqual(range(journal.first, 33));
    expect(kept.length).toBeGreaterThan(0);
    await journal.close();
  });

  it("without limits drops nothing, ever", async () => {
    const { host, journal } = await stage(small);
    await fill(journal, 30, 100 * KIB);
    await host.advance(1e9);
    expect(await journal.applyRetention()).toEqual({ first: 1, segmentsRemoved: 0, bytesRemoved: 0 });
    await journal.close();
  });

  it("keeps what isn't durable, and says so before it removes", async () => {
    const { host, journal } = await stage({ ...small, durability: "async", retention: { maxRecords: 1 } });
    for (let i = 0; i < 45; i++) {
      await journal.ready(100 * KIB);
      journal.append(bytes(100 * KIB, i + 1));
      await host.settle();
      expect(journal.first).toBeLessThanOrEqual(journal.cursors.durable + 1);
    }
    const next = await openAt(host.crash("nothing"));
    expect(next.first).toBeGreaterThan(1);
    expect(next.last).toBeGreaterThanOrEqual(next.first - 1);
    expect(await sequencesOf(next.scan())).toEqual(range(next.first, next.last));
    await next.close();
  });

  it("a failure while it is applied at a roll harms no append, and the next roll makes up for it", async () => {
    const { host, journal } = await stage({ ...small, retention: { maxRecords: 10 } });
    host.failNext("remove");
    await fill(journal, 40, 100 * KIB);
    await host.settle();
    expect(journal.state).toBe("open");
    expect(journal.stats().removeErrors).toBe(1);
    await journal.close();
    const again = await openAt(host, { ...small, retention: { maxRecords: 10 } });
    await again.applyRetention();
    expect(again.last - again.first + 1).toBeLessThanOrEqual(10);
    expect((await segmentFiles(host)).length).toBeLessThanOrEqual(3);
    await again.close();
  });
});
