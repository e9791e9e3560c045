import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { simulatedHost } from "@ehdb/host";
import type { SimulatedHost } from "@ehdb/host";
import { salvage } from "@ehdb/journal";
import type { Damage, JournalRecord, SalvageOptions, SalvageReport } from "@ehdb/journal";
import {
  bytes,
  codeOf,
  collect,
  contents,
  fill,
  KIB,
  MIB,
  noise,
  openAt,
  range,
  refusal,
  sequencesOf,
  stage,
} from "./drive.ts";
import { batchesIn, built, layout } from "./layout.ts";
import type { PlacedBatch } from "./layout.ts";

const small = { segmentBytes: 1024 * KIB, reserveBytes: 0 };
const run = (host: SimulatedHost, options: Partial<SalvageOptions> = {}): Promise<SalvageReport> =>
  salvage({ dir: "/j", to: "/k", host, ...options });

const plain = (record: JournalRecord): unknown[] => [
  record.sequence,
  record.time,
  record.epoch,
  record.data.length,
  record.data[0],
];
const sequencesLost = (lost: readonly Damage[]): number[] => lost.flatMap(({ first, last }) => range(first, last));

async function recordsOf(host: SimulatedHost, dir = "/j", options: object = {}): Promise<Map<number, unknown[]>> {
  const journal = await openAt(host, { ...small, ...options, dir });
  const all = new Map((await collect(journal.scan())).map((record) => [record.sequence, plain(record)]));
  await journal.close();
  return all;
}

/** Salvages /j and checks that all is saved but what the report calls lost: the sequences in `gone`. */
async function checked(
  host: SimulatedHost,
  before: Map<number, unknown[]>,
): Promise<SalvageReport & { gone: number[] }> {
  const source = await contents(host);
  const report = await run(host);
  expect(await contents(host)).toEqual(source);
  const lost = sequencesLost(report.lost);
  expect(report.records).toBe(before.size - lost.length);
  const journal = await openAt(host, { ...small, dir: "/k", verifyOnOpen: "all" });
  const saved = (await collect(journal.scan())).map((record) => plain(record));
  expect(saved).toEqual([...before.values()].filter(([sequence]) => !lost.includes(sequence as number)));
  for (const sequence of lost) {
    expect(await refusal(() => journal.read(sequence))).toMatchObject({ code: "SEQUENCE_LOST", data: { sequence } });
  }
  expect((await journal.verify()).ok).toBe(true);
  const end = Math.max(...before.keys());
  expect(journal.last).toBe(end);
  expect(await journal.appendDurable(bytes(1))).toBe(end + 1);
  await journal.close();
  return { ...report, gone: lost };
}

const sequencesIn = (batches: readonly PlacedBatch[]): number[] =>
  batches.flatMap(({ first, last }) => range(first, last));

describe("salvage", () => {
  it("of a whole journal copies all of it: same sequences, times and epochs", async () => {
    const { host } = await built();
    const before = await recordsOf(host);
    const report = await checked(host, before);
    expect(report.gone).toEqual([]);
    expect(report.bytes).toBe(before.size * 50 * KIB);
  });

  it("of an empty journal makes an empty one", async () => {
    const { host, journal } = await stage();
    await journal.close();
    expect(await run(host)).toEqual({ records: 0, bytes: 0, lost: [] });
    const made = await openAt(host, { dir: "/k" });
    expect([made.first, made.last]).toEqual([1, 0]);
    await made.close();
  });

  it("loses a batch that any one bit spoils, and no other, wherever it is", async () => {
    const original = await built();
    const before = await recordsOf(original.host);
    const place = fc.record({
      batch: fc.nat(200),
      at: fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
      bit: fc.nat(7),
      header: fc.boolean(),
    });
    const property = fc.asyncProperty(place, async ({ batch, at, bit, header }) => {
      const { host } = await built();
      // The first opening's segments, then those of the second; reading `before` made one more.
      const carriers = (await layout(host)).filter(({ records }) => records > 0);
      const hit = carriers[batch % carriers.length] as PlacedBatch;
      host.flipBit(hit.file, hit.offset + Math.floor(at * (header ? 64 : hit.bytes)), bit);
      const report = await checked(host, before);
      expect(report.gone).toEqual(sequencesIn([hit]));
      expect(report.lost).toMatchObject([{ file: hit.file, offset: hit.offset, first: hit.first, last: hit.last }]);
    });
    await fc.assert(property, { numRuns: 8 });
  });

  it("names each of several damages, neighbours together", async () => {
    const { host, files } = await built();
    const before = await recordsOf(host);
    const inside = files.map((file) => batchesIn(host, file).filter(({ records }) => records > 0));
    const hits = [inside[0]?.[1], inside[0]?.[2], inside[0]?.[5], inside[1]?.[0], inside[2]?.at(-1)] as PlacedBatch[];
    for (const { file, offset } of hits) host.flipBit(file, offset + 100, 0);
    const report = await checked(host, before);
    expect(report.gone).toEqual(sequencesIn(hits));
    expect(report.lost.map(({ first }) => first)).toEqual(
      [hits[0], hits[2], hits[3], hits[4]].map((hit) => hit?.first),
    );
  });

  it("puts one flipped bit of a segment's header right, and loses nothing", async () => {
    for (const at of [2, 20, 40, 126]) {
      const { host, files } = await built();
      const before = await recordsOf(host);
      host.flipBit(files[1] as string, at, at % 8);
      expect((await checked(host, before)).gone).toEqual([]);
    }
  });

  it("loses a segment of whose header two bits are flipped", async () => {
    for (const place of [0, 1]) {
      const { host, files } = await built();
      const before = await recordsOf(host);
      const file = files[place] as string;
      const gone = sequencesIn(batchesIn(host, file));
      host.flipBit(file, 30, 1);
      host.flipBit(file, 31, 1);
      expect((await checked(host, before)).gone).toEqual(gone);
    }
  });

  it("saves what a damaged first batch doesn't hold: all of its segment", async () => {
    for (const at of [4096 + 10, 4096 + 70]) {
      const { host, files } = await built();
      const before = await recordsOf(host);
      host.flipBit(files[1] as string, at, 3);
      expect((await checked(host, before)).gone).toEqual([]);
    }
  });

  it("goes on around a segment that is missing, at either end and in the middle", async () => {
    for (const place of [0, 1, 2]) {
      const { host, files } = await built();
      const before = await recordsOf(host);
      const file = files[place] as string;
      const gone = sequencesIn(batchesIn(host, file));
      await host.files.remove(file);
      const report = await checked(host, before);
      expect(report.gone).toEqual(gone);
      expect(report.lost).toMatchObject([{ file, first: gone[0], last: gone.at(-1) }]);
    }
  });

  it("loses the end of a segment that was cut, to the batch", async () => {
    const { host, files } = await built();
    const before = await recordsOf(host);
    const inside = batchesIn(host, files[1] as string);
    const from = inside.findIndex(({ records }, at) => records > 0 && at > 4);
    const file = await host.files.open(files[1] as string, "write");
    await file.truncate((inside[from] as PlacedBatch).offset + 1000);
    await file.close();
    expect((await checked(host, before)).gone).toEqual(sequencesIn(inside.slice(from)));
  });

  it("brings back records that the log had lost the end of, and no voided ones", async () => {
    const { host, journal } = await stage({ durability: "async" });
    await fill(journal, 3, 100);
    for (let i = 0; i < 3; i++) journal.append(bytes(100));
    await host.settle();
    const next = host.crash("nothing");
    const again = await openAt(next);
    await fill(again, 2, 200);
    await again.close();
    const before = await recordsOf(next);
    expect([...before.keys()]).toEqual(range(1, 5));
    expect((await checked(next, before)).gone).toEqual([]);
  });
});

describe("what was dropped", () => {
  it("stays dropped, also in the middle of a batch", async () => {
    for (const lowWater of [5, 6, 7]) {
      const { host, journal } = await stage({ reserveBytes: 0 });
      await journal.appendAllDurable(range(1, 10).map((place) => bytes(1000, place)));
      await fill(journal, 5, 1000);
      await journal.dropBefore(lowWater);
      await journal.close();
      const before = await recordsOf(host);
      expect([...before.keys()]).toEqual(range(lowWater, 15));
      const hit = (await layout(host)).find(({ first }) => first === 13) as PlacedBatch;
      host.flipBit(hit.file, hit.offset + 80, 1);
      const report = await run(host);
      expect(sequencesLost(report.lost)).toEqual([13]);
      const made = await openAt(host, { dir: "/k" });
      expect([made.first, made.last]).toEqual([lowWater, 15]);
      expect(await sequencesOf(made.scan())).toEqual(range(lowWater, 15).filter((sequence) => sequence !== 13));
      expect(await codeOf(() => made.read(lowWater - 1))).toBe("COMPACTED");
      await made.close();
    }
  });

  it("isn't called lost", async () => {
    const { host, files, last } = await built();
    const journal = await openAt(host, small);
    await journal.dropBefore(20);
    await journal.close();
    expect((await contents(host)).has((files[0] as string).slice(3))).toBe(false);
    expect((await run(host)).lost).toEqual([]);
    const made = await openAt(host, { ...small, dir: "/k" });
    expect([made.first, made.last]).toEqual([20, last]);
    await made.close();
  });

  it("when that is everything, leaves an empty journal that goes on from there", async () => {
    const { host, journal } = await stage();
    await fill(journal, 5, 10);
    await journal.dropBefore(6);
    await journal.close();
    expect(await run(host)).toMatchObject({ records: 0, lost: [] });
    const made = await openAt(host, { dir: "/k" });
    expect([made.first, made.last]).toEqual([6, 5]);
    expect(await made.appendDurable(bytes(1))).toBe(6);
    await made.close();
  });
});

describe("a salvaged journal", () => {
  async function salvaged(): Promise<{ host: SimulatedHost; hit: PlacedBatch; last: number }> {
    const { host, files, last } = await built();
    const hit = batchesIn(host, files[1] as string).filter(({ records }) => records > 1)[2] as PlacedBatch;
    host.flipBit(hit.file, hit.offset + 70, 1);
    await run(host);
    return { host, hit, last };
  }

  it("keeps its gap over reopening, salvage and a power loss", async () => {
    const { host, hit, last } = await salvaged();
    const gap = range(hit.first, hit.last);
    const rest = range(1, last).filter((sequence) => !gap.includes(sequence));
    const again = await salvage({ dir: "/k", to: "/l", host });
    expect(sequencesLost(again.lost)).toEqual(gap);
    const next = host.crash();
    for (const dir of ["/k", "/l", "/k"]) {
      const journal = await openAt(next, { dir });
      expect(await sequencesOf(journal.scan())).toEqual(rest);
      for (const sequence of gap) expect(await codeOf(() => journal.read(sequence))).toBe("SEQUENCE_LOST");
      await journal.close();
    }
  });

  it("scans and tails from inside the gap begin behind it; a checkpoint inside goes on behind it", async () => {
    const { host, hit, last } = await salvaged();
    const journal = await openAt(host, { dir: "/k" });
    const behind = range(hit.last + 1, last);
    expect(await sequencesOf(journal.scan({ from: hit.first }))).toEqual(behind);
    expect(await sequencesOf(journal.scan({ after: { sequence: hit.first, epoch: 1 } }))).toEqual(behind);
    expect(await sequencesOf(journal.scan({ from: hit.first, to: hit.last }))).toEqual([]);
    const stopped: number[] = [];
    for await (const { sequence } of journal.tail({ from: hit.first - 1 })) if (stopped.push(sequence) === 3) break;
    expect(stopped).toEqual([hit.first - 1, hit.last + 1, hit.last + 2]);
    await journal.close();
  });

  it("raises the epoch, and its times never fall", async () => {
    const { host } = await salvaged();
    const journal = await openAt(host, { dir: "/k" });
    const old = await collect(journal.scan());
    expect(journal.epoch).toBeGreaterThan(Math.max(...old.map(({ epoch }) => epoch)));
    await journal.appendDurable(bytes(1));
    const times = (await collect(journal.scan())).map(({ time }) => time);
    expect(times).toEqual([...times].sort((a, b) => a - b));
    await journal.close();
  });
});

describe("salvaging what is encrypted or compressed", () => {
  const key = noise(32, 1);

  it.each([
    ["encrypted", { encryption: { current: "a", keys: { a: key } } }],
    ["compressed", { compression: "deflate" as const }],
    ["both", { encryption: { current: "a", keys: { a: key } }, compression: "deflate" as const }],
  ])("%s: brings back the rest, as it was", async (_, options) => {
    const { host, files } = await built(options);
    const encryption = "encryption" in options ? { encryption: options.encryption } : {};
    const before = await recordsOf(host, "/j", encryption);
    const hit = batchesIn(host, files[0] as string).filter(({ records }) => records > 1)[1] as PlacedBatch;
    host.flipBit(hit.file, hit.offset + 70, 1);
    const report = await run(host, encryption);
    expect(sequencesLost(report.lost)).toEqual(range(hit.first, hit.last));
    const saved = await recordsOf(host, "/k", encryption);
    for (const sequence of range(hit.first, hit.last)) before.delete(sequence);
    expect(saved).toEqual(before);
  });

  it("wants the right key, and makes nothing without it", async () => {
    const { host } = await built({ encryption: { current: "a", keys: { a: key } } });
    expect(await codeOf(() => run(host))).toBe("KEY_MISSING");
    expect(await codeOf(() => run(host, { encryption: { current: "a", keys: { a: noise(32, 2) } } }))).toBe(
      "WRONG_KEY",
    );
    expect(await host.files.stat("/k")).toBeUndefined();
  });
});

describe("the largest write there may be", () => {
  const encryption = { current: "a", keys: { a: noise(32, 1) } };
  // Their lengths make the body longer than the limit.
  const one = [noise(16 * MIB)];
  const many = Array.from(
    { length: 2 ** 17 },
    (_, place) => one[0]?.subarray(place * 128, (place + 1) * 128) ?? bytes(0),
  );

  it.each([
    ["of one record", one, {}],
    ["of many records", many, {}],
    ["of one record, in a segment of 256 MiB", one, { segmentBytes: 256 * MIB }],
    ["of many records, in a segment of 256 MiB", many, { segmentBytes: 256 * MIB }],
    ["encrypted", many, { encryption }],
    ["where compression is on and gains nothing", many, { compression: "deflate" as const, encryption }],
  ])("%s survives its neighbour's rot", async (_, records, options) => {
    const { host, journal } = await stage({ ...small, ...options });
    await journal.appendDurable(bytes(3));
    await journal.appendAllDurable(records);
    await fill(journal, 3, 100);
    const { last } = journal;
    await journal.close();
    const hit = (await layout(host)).find(
      ({ first, records: count }) => first === last - 1 && count > 0,
    ) as PlacedBatch;
    host.flipBit(hit.file, hit.offset + 80, 1);
    const keys = "encryption" in options ? { encryption: options.encryption } : {};
    const report = await run(host, keys);
    expect(report).toMatchObject({ records: last - 1, lost: [{ first: last - 1, last: last - 1 }] });
    const saved = await openAt(host, { ...small, ...keys, dir: "/k" });
    let next = 1;
    let same = true;
    for await (const batch of saved.scan().batches()) {
      for (const { sequence, data } of batch) {
        next = sequence + 1;
        const given = records[sequence - 2];
        same &&= given === undefined || Buffer.compare(data, given) === 0;
      }
    }
    expect({ next, same }).toEqual({ next: last + 1, same: true });
    await saved.close();
  });
});

describe("a salvage that throws", () => {
  it.each([
    ["because the disk fails", (host: SimulatedHost) => host.failNext("dataSync", "EIO", /unfinished/), "IO_ERROR"],
    ["before it has begun", (host: SimulatedHost) => host.failNext("create", "EIO", /unfinished.*segment/), "IO_ERROR"],
    ["at its last step", (host: SimulatedHost) => host.failNext("rename", "EIO", /unfinished-\w+ -> /), "IO_ERROR"],
  ])("%s leaves nothing behind, and goes well the next time", async (_, trouble, code) => {
    const { host } = await built();
    const before = await host.files.list("/");
    trouble(host);
    expect(await codeOf(() => run(host))).toBe(code);
    expect(await host.files.list("/")).toEqual(before);
    expect((await run(host)).lost).toEqual([]);
    expect(await host.files.list("/")).toEqual([...before, "k"].sort());
  });

  it("in its caller's onProgress leaves nothing behind, and says what was thrown", async () => {
    const { host } = await built();
    const stop = new Error("enough");
    const onProgress = (): void => {
      throw stop;
    };
    await expect(run(host, { onProgress })).rejects.toBe(stop);
    expect(await host.files.list("/")).toEqual(["j"]);
  });
});

describe("salvage refuses", () => {
  it("a directory that isn't there", async () => {
    const host = simulatedHost({ seed: 1 });
    expect(await refusal(() => run(host))).toMatchObject({ code: "NOT_FOUND", data: { dir: "/j" } });
    expect(await host.files.list("/")).toEqual([]);
  });

  it("a target that holds something, whatever it is", async () => {
    const { host } = await built();
    await host.files.makeDirectory("/k");
    await (await host.files.open("/k/a file of somebody", "create")).close();
    expect(await refusal(() => run(host))).toMatchObject({ code: "ALREADY_EXISTS", data: { to: "/k" } });
    await host.files.remove("/k/a file of somebody");
    expect((await run(host)).lost).toEqual([]);
  });

  it("a journal in which nothing is whole", async () => {
    const { host, journal } = await stage({ reserveBytes: 0 });
    await fill(journal, 3, 10);
    await journal.close();
    host.flipBit("/j/0000000000000001.segment", 30, 1);
    host.flipBit("/j/0000000000000001.segment", 31, 1);
    expect(await codeOf(() => run(host))).toBe("CORRUPT");
    expect(await host.files.stat("/k")).toBeUndefined();
  });
});

it("salvage says how far it is", async () => {
  const { host } = await built();
  const steps: [number, number][] = [];
  await run(host, { onProgress: (done, total) => steps.push([done, total]) });
  expect(steps.length).toBeGreaterThan(20);
  expect(steps.map(([done]) => done)).toEqual(steps.map(([done]) => done).sort((a, b) => a - b));
  expect(steps.at(-1)?.[0]).toBe(steps.at(-1)?.[1]);
});
