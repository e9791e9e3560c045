import { describe, expect, it } from "vitest";
import { openJournalReader } from "@ehdb/journal";
import { codeOf, contents, fill, openAt, refusal, sequencesOf, stage, range } from "./drive.ts";
import { batchesIn, built, layout } from "./layout.ts";
import type { PlacedBatch } from "./layout.ts";

const small = { segmentBytes: 1024 * 1024, reserveBytes: 0 };

/** A batch with records somewhere in the middle of a segment. */
function middle(batches: readonly PlacedBatch[]): PlacedBatch {
  const carriers = batches.filter((batch) => batch.records > 1);
  return carriers[carriers.length >> 1] as PlacedBatch;
}

describe("verify", () => {
  it("of a whole journal counts what is there, and says how far it is", async () => {
    const { host, files, last } = await built();
    const all = await layout(host);
    const journal = await openAt(host, small);
    const steps: [number, number][] = [];
    const report = await journal.verify({ onProgress: (done, total) => steps.push([done, total]) });
    expect(report).toMatchObject({ ok: true, segments: files.length + 1, records: last, damage: [] });
    expect(report.batches).toBe(all.filter(({ records }) => records > 0).length);
    expect(report.bytes).toBeGreaterThan(last * 50 * 1024);
    const totals = new Set(steps.map(([, total]) => total));
    expect(totals.size).toBe(1);
    expect(steps.map(([done]) => done)).toEqual(steps.map(([done]) => done).sort((a, b) => a - b));
    expect(steps.at(-1)?.[0]).toBe(steps.at(-1)?.[1]);
    await journal.close();
  });

  it("stops by its signal with ABORTED", async () => {
    const { host } = await built();
    const journal = await openAt(host, small);
    expect(await codeOf(() => journal.verify({ signal: AbortSignal.abort() }))).toBe("ABORTED");
    const abort = new AbortController();
    const stopping = journal.verify({ signal: abort.signal, onProgress: () => abort.abort() });
    expect(await codeOf(() => stopping)).toBe("ABORTED");
    await journal.close();
  });

  it.each([
    ["a body", 64 + 5000],
    ["a checksum", 5],
    ["the magic", 1],
    ["a length", 9],
    ["a sequence", 17],
    ["the header's checksum", 57],
    ["the header's last bytes", 62],
  ])(
    "finds one bit in %s, and names file, offset and sequences; what is before and in other segments is served",
    async (_, at) => {
      const { host, files, last } = await built();
      const hit = middle(batchesIn(host, files[1] as string));
      const later = batchesIn(host, files[2] as string).find(({ records }) => records > 0)?.first as number;
      const journal = await openAt(host, small);
      const reader = await openJournalReader({ dir: "/j", host });
      host.flipBit(hit.file, hit.offset + at, 2);
      for (const one of [journal, reader]) {
        const report = await one.verify();
        expect(report.ok).toBe(false);
        expect(report.damage).toMatchObject([{ file: hit.file, offset: hit.offset, first: hit.first, last: hit.last }]);
        expect(report.records).toBe(last - hit.records);
        for (const sequence of [1, hit.first - 1, later]) expect((await one.read(sequence)).data[0]).toBe(sequence);
        expect(await codeOf(() => one.read(hit.first))).toBe("CORRUPT");
        const seen: number[] = [];
        const scanning = async (): Promise<void> => {
          for await (const { sequence } of one.scan()) seen.push(sequence);
        };
        expect(await refusal(scanning)).toMatchObject({
          code: "CORRUPT",
          data: { file: hit.file, offset: hit.offset },
        });
        expect(seen).toEqual(range(1, hit.first - 1));
        expect(one.stats().corruptions).toBeGreaterThanOrEqual(2);
      }
      await reader.close();
      await journal.close();
    },
  );

  it("finds padding harmless", async () => {
    const { host, files } = await built();
    const padded = batchesIn(host, files[0] as string).find((batch) => batch.bytes % 8 !== 0) as PlacedBatch;
    host.flipBit(padded.file, padded.offset + padded.bytes, 0);
    const journal = await openAt(host, small);
    expect((await journal.verify()).ok).toBe(true);
    await journal.close();
  });

  it.each(["a header", "a first batch", "a missing file", "a cut file"])("finds %s", async (what) => {
    const { host, files } = await built();
    const journal = await openAt(host, small);
    const file = files[1] as string;
    const inside = batchesIn(host, file).filter(({ records }) => records > 0);
    const [first, last] = [inside[0]?.first, inside.at(-1)?.last];
    if (what === "a header") host.flipBit(file, 30, 1);
    else if (what === "a first batch") host.flipBit(file, 4096 + 70, 1);
    else if (what === "a missing file") await host.files.remove(file);
    else {
      const open = await host.files.open(file, "write");
      await open.truncate((inside[3] as PlacedBatch).offset + 10);
      await open.close();
    }
    const report = await journal.verify();
    expect(report.ok).toBe(false);
    expect(report.damage.length).toBe(1);
    const [damage] = report.damage;
    expect(damage).toMatchObject({ file, last });
    if (what === "a cut file") expect(damage).toMatchObject({ offset: inside[3]?.offset, first: inside[3]?.first });
    else expect(damage?.first).toBe(first);
    await journal.close();
  });
});

describe("opening a damaged journal", () => {
  it.each([
    ["the newest segment's body", -1, 64 + 100],
    ["the newest segment's batch header", -1, 20],
  ])("a bit in %s that was stated durable is CORRUPT, and changes nothing", async (_, place, at) => {
    const { host, files } = await built();
    const file = files.at(place) as string;
    const hit = middle(batchesIn(host, file));
    host.flipBit(file, hit.offset + at, 2);
    const before = await contents(host);
    for (let i = 0; i < 2; i++) {
      const error = await refusal(() => openAt(host, small));
      expect(error).toMatchObject({
        code: "CORRUPT",
        kind: "repair-data",
        data: { file, offset: hit.offset, first: hit.first },
      });
      expect(await contents(host)).toEqual(before);
    }
  });

  it.each([
    ["the header of the oldest segment", 0, 33],
    ["the header of the newest segment", -1, 33],
    ["the first batch of the oldest segment", 0, 4096 + 80],
    ["the first batch of the newest segment", -1, 4096 + 80],
    ["the first batch's header in a middle segment", 1, 4096 + 20],
    ["the id in a header", 1, 16],
    ["the magic of a header", 1, 0],
  ])("a bit in %s is CORRUPT, and changes nothing", async (_, place, at) => {
    const { host, files } = await built();
    const file = files.at(place) as string;
    host.flipBit(file, at, 4);
    const before = await contents(host);
    expect(await refusal(() => openAt(host, small))).toMatchObject({ code: "CORRUPT", data: { file } });
    expect(await contents(host)).toEqual(before);
    expect(await codeOf(() => openJournalReader({ dir: "/j", host }))).toBe("CORRUPT");
  });

  it("a missing and a cut middle segment are CORRUPT", async () => {
    for (const how of ["missing", "cut"]) {
      const { host, files } = await built();
      const file = files[1] as string;
      const open = await host.files.open(file, "write");
      if (how === "cut") await open.truncate((await open.size()) - 60_000);
      await open.close();
      if (how === "missing") await host.files.remove(file);
      expect(await refusal(() => openAt(host, small))).toMatchObject({ code: "CORRUPT", data: { file } });
    }
  });

  it("a cut middle segment is CORRUPT from the first sequence that is missing, wherever it was cut", async () => {
    const { files } = await built();
    const file = files[1] as string;
    const whole = batchesIn((await built()).host, file).filter((batch) => batch.records > 0);
    for (const lost of [whole[0], middle(whole), whole.at(-1)] as PlacedBatch[]) {
      for (const kept of [0, 1, 63, 64, lost.bytes - 1]) {
        const { host } = await built();
        const open = await host.files.open(file, "write");
        await open.truncate(lost.offset + kept);
        await open.close();
        const { data } = await refusal(() => openAt(host, small));
        expect(data).toMatchObject({ file, offset: lost.offset, first: lost.first, last: whole.at(-1)?.last });
      }
    }
  });

  it("a bit in an older segment's body is met by whoever reads it, or at once with verifyOnOpen: all", async () => {
    const { host, files, last } = await built();
    const hit = middle(batchesIn(host, files[0] as string));
    host.flipBit(hit.file, hit.offset + 64 + 10, 7);
    const before = await contents(host);
    const error = await refusal(() => openAt(host, { ...small, verifyOnOpen: "all" }));
    expect(error).toMatchObject({
      code: "CORRUPT",
      data: { file: hit.file, offset: hit.offset, first: hit.first, last: hit.last },
    });
    expect(await contents(host)).toEqual(before);
    const journal = await openAt(host, small);
    expect(await codeOf(() => journal.read(hit.first))).toBe("CORRUPT");
    const later = batchesIn(host, files[1] as string).find(({ records }) => records > 0)?.first as number;
    expect(await sequencesOf(journal.scan({ from: later }))).toEqual(range(later, last));
    expect(await journal.appendDurable(new Uint8Array(1))).toBe(journal.last);
    await journal.close();
  });

  it("a header of another version is UNSUPPORTED_VERSION, not damage", async () => {
    const { host, journal } = await stage(small);
    await fill(journal, 3, 10);
    await journal.close();
    const file = "/j/0000000000000001.segment";
    const page = Buffer.from(host.content(file).slice(0, 128));
    page.writeUInt32LE(2, 8);
    const { crc32 } = await import("node:zlib");
    page.writeUInt32LE(crc32(page.subarray(0, 124)), 124);
    const open = await host.files.open(file, "write");
    await open.write(page, 0);
    await open.close();
    expect(await refusal(() => openAt(host))).toMatchObject({
      code: "UNSUPPORTED_VERSION",
      data: { file, version: 2, supported: 1 },
    });
  });
});
