import { describe, expect, it } from "vitest";
import { simulatedHost } from "@ehdb/host";
import type { Files, SimulatedHost } from "@ehdb/host";
import { openJournalReader } from "@ehdb/journal";
import type { ReadOnlyJournal } from "@ehdb/journal";
import {
  bytes,
  codeOf,
  collect,
  contents,
  fill,
  follow,
  KIB,
  MIB,
  openAt,
  range,
  refusal,
  segmentFiles,
  sequencesOf,
  stage,
} from "./drive.ts";
import { measured } from "./measured.ts";

const openReader = (host: SimulatedHost, options: object = {}): Promise<ReadOnlyJournal> =>
  openJournalReader({ dir: "/j", host, ...options });

const writing = [
  "create",
  "write",
  "writeAtSync",
  "preallocate",
  "dataSync",
  "truncate",
  "rename",
  "link",
  "remove",
  "makeDirectory",
  "removeDirectory",
  "syncDirectory",
  "lock",
  "unlock",
] as const;
const writesOf = (host: SimulatedHost): number => writing.reduce((sum, kind) => sum + host.operations[kind], 0);

describe("a reader beside a live writer", () => {
  it("serves what the log states durable, and no more", async () => {
    const { host, journal } = await stage();
    const reader = await openReader(host);
    await fill(journal, 3, 10);
    // Each batch states what was durable before it.
    expect(await reader.refresh()).toBe(2);
    expect(await refusal(() => reader.read(3))).toMatchObject({ code: "OUT_OF_RANGE", data: { sequence: 3, last: 2 } });
    expect(await sequencesOf(reader.scan())).toEqual([1, 2]);
    await host.advance(50);
    expect(await reader.refresh()).toBe(3);
    expect((await reader.read(3)).sequence).toBe(3);
    await reader.close();
    await journal.close();
  });

  it("in modes batch and async never shows what isn't synced", async () => {
    const { host, journal } = await stage({ durability: "async" });
    const reader = await openReader(host);
    for (let i = 0; i < 20; i++) {
      journal.append(bytes(10));
      await host.advance(100);
      expect(await reader.refresh()).toBe(0);
    }
    await journal.flush();
    await host.advance(50);
    expect(await reader.refresh()).toBe(20);
    await reader.close();
    await journal.close();
  });

  it("looks for itself when asked for a record beyond what it knows", async () => {
    const { host, journal } = await stage();
    const reader = await openReader(host);
    await fill(journal, 5, 10);
    await host.advance(50);
    expect(reader.last).toBe(0);
    expect((await reader.read(5)).sequence).toBe(5);
    await reader.close();
    await journal.close();
  });

  it("goes on after a checkpoint that the writer took of what isn't stated yet, also in an epoch it hasn't seen", async () => {
    const { host, journal } = await stage();
    const reader = await openReader(host);
    const opened = await journal.appendDurable(bytes(1)).then(() => journal.close());
    expect(opened.state).toBe("clean");
    const next = await openAt(host);
    const sequence = await next.appendDurable(bytes(2));
    const after = { sequence, epoch: next.epoch };
    const tail = reader.tail({ after }).batches()[Symbol.asyncIterator]();
    const seen = tail.next().then(({ done, value }) => (done ? [] : value.map((record) => record.sequence)));
    await host.settle();
    await next.appendDurable(bytes(3));
    await host.advance(200);
    expect(await seen).toEqual([sequence + 1]);
    await tail.return?.();
    await reader.close();
    await next.close();
  });

  it("follows over rolls and drops", async () => {
    const { host, journal } = await stage({ segmentBytes: MIB, reserveBytes: 0 });
    const reader = await openReader(host);
    const tail = follow(reader);
    for (let round = 0; round < 6; round++) {
      await fill(journal, 10, 100 * KIB);
      if (round === 3) await journal.dropBefore(15);
      await host.advance(60);
    }
    await host.advance(100);
    expect(tail.seen).toEqual(range(1, 60));
    expect([reader.first, reader.last]).toEqual([15, 60]);
    expect(await codeOf(() => reader.read(14))).toBe("COMPACTED");
    expect(await codeOf(() => collect(reader.scan({ from: 14 })))).toBe("COMPACTED");
    for (const sequence of [15, 33, 60]) expect((await reader.read(sequence)).data[0]).toBe(sequence);
    expect((await reader.verify()).ok).toBe(true);
    await reader.close();
    expect(await tail.ended).toBe("CLOSED");
    await journal.close();
  });

  it("meets files that went meanwhile with the records that are left, or COMPACTED", async () => {
    const { host, journal } = await stage({ segmentBytes: MIB, reserveBytes: 0 });
    await fill(journal, 60, 100 * KIB);
    await host.advance(60);
    const reader = await openReader(host);
    expect(await reader.refresh()).toBe(60);
    await journal.dropBefore(40);
    expect(await codeOf(() => reader.read(5))).toBe("COMPACTED");
    expect((await reader.read(45)).data[0]).toBe(45);
    expect(await codeOf(() => collect(reader.scan({ from: 30 })))).toBe("COMPACTED");
    expect(await sequencesOf(reader.scan())).toEqual(range(40, 60));
    await reader.close();
    await journal.close();
  });

  it("writes nothing and needs no lock", async () => {
    const { host, journal } = await stage({ segmentBytes: MIB, reserveBytes: 0 });
    await fill(journal, 30, 100 * KIB);
    await host.advance(60);
    const before = { writes: writesOf(host), files: await contents(host) };
    const reader = await openReader(host);
    const tail = follow(reader);
    await reader.read(3);
    await collect(reader.scan());
    await reader.verify();
    await host.advance(500);
    await reader.refresh();
    await reader.close();
    await tail.ended;
    expect(writesOf(host)).toBe(before.writes);
    expect(await contents(host)).toEqual(before.files);
    await journal.close();
  });

  it("leaves no file open", async () => {
    const { host, journal } = await stage({ segmentBytes: MIB, reserveBytes: 0 });
    await fill(journal, 30, 100 * KIB);
    await host.advance(60);
    const door = measured(host);
    const reader = await openJournalReader({ dir: "/j", host: door.host });
    await reader.read(3);
    for await (const { sequence } of reader.scan()) if (sequence > 12) break;
    await reader.close();
    expect(door.open).toBe(0);
    await journal.close();
  });
});

describe("a reader whose writer", () => {
  it("was killed goes on with the next one", async () => {
    const { host, journal } = await stage();
    await fill(journal, 5, 10);
    await host.advance(60);
    // Its own process: it outlives the writer's.
    const next = host.kill();
    const reader = await openReader(next);
    const tail = follow(reader);
    await next.settle();
    expect(tail.seen).toEqual(range(1, 5));
    const again = await openAt(next);
    await fill(again, 5, 10);
    await next.advance(200);
    expect(tail.seen).toEqual(range(1, 10));
    expect((await reader.read(10)).epoch).toBe(2);
    await again.close();
    const third = await openAt(next);
    await fill(third, 2, 10);
    await next.advance(200);
    expect(tail.seen).toEqual(range(1, 12));
    await third.close();
    await reader.close();
  });

  it("lost what wasn't durable never showed it", async () => {
    for (const seed of range(1, 10)) {
      const { host, journal } = await stage({ durability: "batch", batchMillis: 20 }, seed);
      const reader = await openReader(host);
      let shown = 0;
      for (let i = 0; i < 10; i++) {
        journal.append(bytes(10));
        await host.advance(15);
        shown = Math.max(shown, await reader.refresh());
      }
      expect(shown).toBeGreaterThan(0);
      const next = await openAt(host.crash("nothing"));
      expect(next.last).toBeGreaterThanOrEqual(shown);
      await next.close();
    }
  });
});

describe("opening a reader", () => {
  it("where there is no directory is NOT_FOUND, and makes none", async () => {
    const host = simulatedHost({ seed: 1 });
    expect(await refusal(() => openReader(host))).toMatchObject({ code: "NOT_FOUND", data: { dir: "/j" } });
    expect(await host.files.list("/")).toEqual([]);
  });

  it("in an empty directory works, and shows what comes", async () => {
    const host = simulatedHost({ seed: 1 });
    await host.files.makeDirectory("/j");
    const reader = await openReader(host);
    expect([reader.first, reader.last]).toEqual([1, 0]);
    expect(await collect(reader.scan())).toEqual([]);
    const tail = follow(reader);
    const journal = await openAt(host);
    await fill(journal, 2, 10);
    await host.advance(150);
    expect(tail.seen).toEqual([1, 2]);
    await reader.close();
    await journal.close();
  });

  it("on damage says CORRUPT, and where", async () => {
    const { host, journal } = await stage();
    await fill(journal, 5, 10);
    await journal.close();
    const path = (await segmentFiles(host))[0] as string;
    host.flipBit(path, 4096 + 200, 3);
    expect(await refusal(() => openReader(host))).toMatchObject({ code: "CORRUPT", data: { file: path } });
  });
});

it("a closed reader says CLOSED, and closes again without complaint", async () => {
  const { host, journal } = await stage();
  const reader = await openReader(host);
  await reader.close();
  await reader.close();
  await reader[Symbol.asyncDispose]();
  for (const call of [
    () => reader.read(1),
    () => reader.refresh(),
    () => collect(reader.scan()),
    () => collect(reader.tail()),
    () => reader.verify(),
  ]) {
    expect(await codeOf(call)).toBe("CLOSED");
  }
  await journal.close();
});

it("a tail looks every pollMillis where the file system doesn't tell", async () => {
  const { host, journal } = await stage();
  await fill(journal, 1, 10);
  await host.advance(60);
  const { clock, random, workers } = host;
  const files = new Proxy(host.files, {
    get(target, name) {
      if (name === "watch") return () => ({ close: () => undefined });
      const value: unknown = target[name as keyof Files];
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
  const reader = await openJournalReader({ dir: "/j", host: { files, clock, random, workers }, pollMillis: 400 });
  const tail = follow(reader);
  await host.advance(400 * 5);
  await fill(journal, 1, 10);
  await host.advance(399);
  expect(tail.seen).toEqual([1]);
  await host.advance(1);
  expect(tail.seen).toEqual([1, 2]);
  await reader.close();
  await journal.close();
});
