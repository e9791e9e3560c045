import { describe, expect, it } from "vitest";
import { MIB } from "@ehdb/contracts";
import type { File, Files, Host, SimulatedHost } from "@ehdb/host";
import { openJournalReader } from "@ehdb/journal";
import type { Journal } from "@ehdb/journal";
import { placeOf, segmentPath } from "./disk.ts";
import { fill, pour, refusal, stage } from "./drive.ts";

interface Beside {
  /** Before a file is opened. */
  readonly opening?: (path: string) => Promise<void>;
  /** After a read: what comes next is read later. */
  readonly haveRead?: (path: string, position: number) => Promise<void>;
  readonly sizeOf?: (path: string, bytes: number) => number;
}

/** The same machine for a process beside: between what it does, others do something. */
function beside(host: SimulatedHost, { opening, haveRead, sizeOf }: Beside): Host {
  const open: Files["open"] = async (path, mode) => {
    await opening?.(path);
    const file = await host.files.open(path, mode);
    return new Proxy(file, {
      get(target, name: keyof File) {
        if (name === "read")
          return async (into: Uint8Array, position: number): Promise<number> => {
            const read = await target.read(into, position);
            await haveRead?.(path, position);
            return read;
          };
        if (name === "size")
          return async (): Promise<number> => {
            const bytes = await target.size();
            return sizeOf?.(path, bytes) ?? bytes;
          };
        const value: unknown = target[name];
        return typeof value === "function" ? (value.bind(target) as unknown) : value;
      },
    });
  };
  const files = new Proxy(host.files, {
    get(target, name: keyof Files) {
      const value: unknown = name === "open" ? open : target[name];
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
  const { clock, random, workers } = host;
  return { files, clock, random, workers };
}

/** A door of which each of the first reads is followed by two commits. */
function busy(host: SimulatedHost, journal: Journal, reads: number): Host {
  let left = reads;
  return beside(host, {
    haveRead: async () => {
      if (left-- > 0) await fill(journal, 2, 10);
    },
  });
}

describe("what a writer writes between two reads of a reader beside it", () => {
  it("is no damage when the journal is opened", async () => {
    const { host, journal } = await stage();
    await fill(journal, 5, 10);
    const reader = await openJournalReader({ dir: "/j", host: busy(host, journal, 400) });
    await host.advance(50);
    expect(await reader.refresh()).toBe(journal.cursors.durable);
    expect((await reader.verify()).damage).toEqual([]);
    await reader.close();
    await journal.close();
  });

  it("is no damage when it's looked at again", async () => {
    const { host, journal } = await stage();
    await fill(journal, 5, 10);
    const idle = busy(host, journal, 0);
    let door = idle;
    const files = new Proxy(idle.files, {
      get: (_, name: keyof Files) => door.files[name],
    });
    const reader = await openJournalReader({ dir: "/j", host: { ...idle, files } });
    door = busy(host, journal, 400);
    await fill(journal, 5, 10);
    const { durable } = journal.cursors;
    expect(await reader.refresh()).toBeGreaterThanOrEqual(durable - 1);
    await host.advance(50);
    expect(await reader.refresh()).toBe(journal.cursors.durable);
    await reader.close();
    await journal.close();
  });

  it("is no damage when it began the next segment", async () => {
    const { host, journal } = await stage({ segmentBytes: MIB, reserveBytes: 0 });
    await pour(journal, 9, 100_000);
    await host.settle();
    const next = segmentPath(2);
    let opened = 0;
    const opening = async (path: string): Promise<void> => {
      if (path === next && ++opened === 2) await pour(journal, 3, 100_000);
    };
    const before = host.operations.list;
    const reader = await openJournalReader({ dir: "/j", host: beside(host, { opening }) });
    expect([opened, journal.stats().rolls]).toEqual([3, 1]);
    // One look was enough.
    expect(host.operations.list - before).toBe(1);
    expect(reader.last).toBeGreaterThan(0);
    await host.advance(50);
    expect(await reader.refresh()).toBe(12);
    await reader.close();
    await journal.close();
  });

  it("is no damage when it made the segment longer that the next one follows", async () => {
    const { host, journal } = await stage({ segmentBytes: MIB, reserveBytes: 0 });
    await pour(journal, 12, 100_000);
    await host.advance(50);
    let looked = 0;
    const sizeOf = (path: string, bytes: number): number =>
      path === segmentPath(1) && looked++ === 0 ? bytes / 2 : bytes;
    const before = host.operations.list;
    const reader = await openJournalReader({ dir: "/j", host: beside(host, { sizeOf }) });
    expect([looked, host.operations.list - before, reader.last]).toEqual([2, 1, 12]);
    await reader.close();
    await journal.close();
  });
});

it("damage beside a writer is CORRUPT at the first look that reads it, whatever is written behind it meanwhile", async () => {
  const { host, journal } = await stage();
  await fill(journal, 5, 10);
  await host.advance(50);
  let isWriting = false;
  const haveRead = async (): Promise<void> => {
    if (isWriting) await fill(journal, 2, 10);
  };
  const door = beside(host, { haveRead });
  const reader = await openJournalReader({ dir: "/j", host: door });
  await fill(journal, 3, 10);
  host.flipBit(segmentPath(1), placeOf(host, segmentPath(1), Buffer.from("record 7 ")), 0);
  isWriting = true;
  const before = host.operations.open;
  expect(await refusal(() => reader.refresh())).toMatchObject({ code: "CORRUPT", data: { first: 7 } });
  // To see whether it's still the same segment, and to read it.
  expect(host.operations.open - before).toBe(2);
  isWriting = false;
  await reader.close();
  await journal.close();
});
