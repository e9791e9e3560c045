import { describe, expect, it } from "vitest";
import { openJournalReader } from "@ehdb/journal";
import { bytesOf, fillDisk, operationsOf, overwrite, placeOf, segmentIds, segmentPath } from "./disk.ts";
import { MIB, codeOf, everything, fill, fillSegments, machine, openSmall, range, record, refusal } from "./drive.ts";

describe("a segment's header is durable under its final name before anything rests on it", () => {
  it("writes, syncs, renames, syncs the directory, and only then appends", async () => {
    const host = machine();
    const journal = await openSmall(host);
    await journal.appendDurable(record(1));
    const done = operationsOf(host);
    const name = "0000000000000001.segment";
    const steps = [
      `create ${name}.tmp`,
      `dataSync ${name}.tmp`,
      `rename ${name}.tmp -> ${name}`,
      "syncDirectory /j",
      `writeAtSync ${name}.tmp`,
    ];
    const places = steps.map((step) => (done.lastIndexOf(step) === -1 ? -1 : done.indexOf(step)));
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(places[0]).toBeGreaterThanOrEqual(0);
  });

  it("calls every flipped bit of a header CORRUPT, and every file under a foreign id", async () => {
    const host = machine();
    const journal = await openSmall(host);
    await fill(journal, 3);
    await journal.close();
    for (let bit = 0; bit < 128 * 8; bit += 3) {
      host.flipBit(segmentPath(1), bit >> 3, bit & 7);
      expect(await codeOf(openSmall(host)), `bit ${bit}`).toBe("CORRUPT");
      host.flipBit(segmentPath(1), bit >> 3, bit & 7);
    }
    await host.files.rename(segmentPath(1), segmentPath(7));
    expect(await codeOf(openSmall(host))).toBe("CORRUPT");
  });
});

describe("every writable open and every reopen starts a new segment, and no earlier one changes", () => {
  it("leaves the bytes of earlier segments as they were", async () => {
    const host = machine();
    const salts = new Set<string>();
    let before: Buffer | undefined;
    for (let id = 1; id <= 4; id++) {
      const journal = await openSmall(host);
      await fill(journal, 2);
      await journal.close();
      if (before !== undefined) expect(bytesOf(host, segmentPath(id - 1)).equals(before)).toBe(true);
      before = bytesOf(host, segmentPath(id));
      salts.add(before.subarray(24, 56).toString("hex"));
    }
    expect(salts.size).toBe(4);
    expect(await everything(await openSmall(host))).toEqual(range(1, 8));
  });

  it("starts one at a reopen, too", async () => {
    const host = machine();
    const journal = await openSmall(host);
    await fill(journal, 2);
    host.failNext("dataSync");
    await codeOf(journal.appendDurable(record(3)));
    const before = bytesOf(host, segmentPath(1));
    await journal.reopen();
    await fill(journal, 1);
    expect(await segmentIds(host)).toEqual([1, 2]);
    expect(bytesOf(host, segmentPath(1)).equals(before)).toBe(true);
  });
});

describe("what a successor's predecessor cuts off is void", () => {
  it("is neither scanned nor believed, whatever becomes of it", async () => {
    let host = machine();
    const journal = await openSmall(host, { durability: "async" });
    for (let i = 1; i <= 5; i++) journal.append(record(i));
    await host.settle();
    host = host.kill();
    const second = await openSmall(host);
    expect(second.recovery).toMatchObject({ stated: 0, last: 5, recordsCopied: 5 });
    await second.close();
    const void1 = (await segmentIds(host)).includes(1);
    if (void1) host.flipBit(segmentPath(1), placeOf(host, segmentPath(1), record(3)), 0);
    expect(await everything(await openSmall(host))).toEqual(range(1, 5));
  });

  it("finds a void segment void however often it is brought back", async () => {
    let host = machine();
    const journal = await openSmall(host, { durability: "async" });
    for (let i = 1; i <= 5; i++) journal.append(record(i));
    await host.settle();
    const abandoned = bytesOf(host, segmentPath(1));
    host = host.kill();
    const second = await openSmall(host);
    await fill(second, 1);
    await second.close();
    // A crash may bring an unlinked file back.
    const file = await host.files.open(segmentPath(1), "create").catch(() => undefined);
    await file?.write(abandoned, 0);
    await file?.close();
    const third = await openSmall(host);
    expect(await everything(third)).toEqual(range(1, 6));
    await third.close();
  });
});

describe("recovery never cuts in place, and nothing is served that isn't on disk", () => {
  it("loses nothing that a reopen after a failed sync has served, whatever the disk keeps", async () => {
    for (const keep of ["nothing", "everything", "sectors", "prefix"] as const) {
      for (let seed = 1; seed <= 10; seed++) {
        let host = machine(seed);
        const journal = await openSmall(host);
        await fill(journal, 3);
        host.failNext("dataSync");
        const outcomes = await Promise.all([4, 5, 6].map((n) => codeOf(journal.appendDurable(record(n)))));
        expect(outcomes).toContain("OUTCOME_UNKNOWN");
        const { last } = await journal.reopen();
        expect(await everything(journal)).toEqual(range(1, last));
        host = host.crash(keep);
        expect(await everything(await openSmall(host))).toEqual(range(1, last));
      }
    }
  });

  it("survives a crash at every point of a recovery, and a crash at every point of the next", async () => {
    for (let first = 1; first < 40; first++) {
      for (const second of [1, 5, 9, 13, 17]) {
        let host = machine(first * 100 + second);
        const journal = await openSmall(host);
        await fill(journal, 4);
        for (let i = 5; i <= 9; i++) journal.append(record(i));
        host = host.crash();
        for (const point of [first, second]) {
          host.crashAfter(point);
          await Promise.race([openSmall(host), host.whenFrozen()]);
          host = host.crash();
        }
        const found = await everything(await openSmall(host));
        expect(found.length).toBeGreaterThanOrEqual(4);
        expect(found).toEqual(range(1, found.length));
      }
    }
  });

  it("says CORRUPT when a later batch states the gap durable, and takes the end when none does", async () => {
    for (const stated of [true, false]) {
      let host = machine();
      const journal = await openSmall(host);
      await fill(journal, 5);
      host = host.crash("nothing");
      host.flipBit(segmentPath(1), placeOf(host, segmentPath(1), record(stated ? 3 : 5)), 2);
      if (stated) {
        const error = await refusal(openSmall(host));
        expect(error.code).toBe("CORRUPT");
        expect(error.data).toMatchObject({ file: segmentPath(1), first: 3 });
      } else {
        // Not yet stated durable: rot there can't be told from a torn tail.
        expect(await everything(await openSmall(host))).toEqual(range(1, 4));
      }
    }
  });
});

describe("durable becomes what was written when the sync was issued", () => {
  it("syncs a segment to its end before the next one gets a batch, in every mode", async () => {
    for (const durability of ["sync", "batch", "async"] as const) {
      const host = machine();
      const journal = await openSmall(host, { durability });
      while (journal.stats().rolls < 2) {
        journal.append(record(journal.cursors.appended + 1, 100_000));
        await journal.ready(200_000);
      }
      const done = operationsOf(host);
      for (const [before, next] of [
        [1, 2],
        [2, 3],
      ] as const) {
        const opened = done.findIndex((one) => one.startsWith(`writeAtSync 000000000000000${next}.segment`));
        const head = done.slice(0, opened);
        const [written, synced] = ["writeAtSync", "dataSync"].map((kind) =>
          head.findLastIndex((one) => one.startsWith(`${kind} 000000000000000${before}.segment`)),
        );
        expect(synced).toBeGreaterThan(written as number);
      }
    }
  });
});

describe("a mark states what is durable", () => {
  it("is the last word of a clean close, synced", async () => {
    let host = machine();
    const journal = await openSmall(host);
    await fill(journal, 3);
    expect(await journal.close()).toMatchObject({ state: "clean" });
    host = host.crash("nothing");
    const again = await openSmall(host);
    expect(again.recovery).toMatchObject({ stated: 3, last: 3, recordsCopied: 0, tornBytes: 0 });
  });

  it("always finds room in a full segment", async () => {
    const host = machine();
    const journal = await openSmall(host);
    await fillSegments(journal, 2);
    await host.advance(200);
    const reader = await openJournalReader({ dir: "/j", host });
    expect(reader.last).toBe(journal.last);
    await reader.close();
  });
});

describe("bytes of a segment pass for a batch only in their own place", () => {
  it("stores copies of itself and of other segments as payload, and is never led astray by them", async () => {
    for (let seed = 1; seed <= 20; seed++) {
      let host = machine(seed);
      const journal = await openSmall(host);
      await fill(journal, 5);
      // All alignments within eight bytes.
      for (let shift = 0; shift < 8; shift++) {
        const image = bytesOf(host, segmentPath(1)).subarray(0, 8_000);
        await journal.appendDurable(Buffer.concat([record(journal.cursors.appended + 1, 20 + shift), image]));
      }
      const acknowledged = journal.cursors.durable;
      for (let i = 0; i < 4; i++) {
        journal.append(
          Buffer.concat([
            record(journal.cursors.appended + 1, 20 + i),
            bytesOf(host, segmentPath(1)).subarray(4096, 9_000),
          ]),
        );
      }
      host = host.crash();
      const found = await everything(await openSmall(host));
      expect(found.length).toBeGreaterThanOrEqual(acknowledged);
      expect(found).toEqual(range(1, found.length));
    }
  });

  it("doesn't take another segment's batch of the right size and sequence for its own", async () => {
    let host = machine();
    const journal = await openSmall(host);
    await fill(journal, 2);
    await journal.close();
    const other = machine(2);
    const twin = await openSmall(other);
    await fill(twin, 4);
    host = host.crash();
    const at = bytesOf(host, segmentPath(1)).length;
    await overwrite(host, segmentPath(1), at, bytesOf(other, segmentPath(1)).subarray(at, at + 600));
    expect(await everything(await openSmall(host))).toEqual(range(1, 2));
  });
});

describe("no segment is used a second time", () => {
  it("makes a new file with a new id for every segment, also after a drop", async () => {
    const host = machine();
    const journal = await openSmall(host);
    await fillSegments(journal, 3);
    await journal.dropBefore(journal.last);
    await fillSegments(journal, 5);
    const made = operationsOf(host).filter((one) => /^create \d+\.segment/.test(one));
    expect(new Set(made).size).toBe(made.length);
    expect(made.length).toBeGreaterThanOrEqual(5);
  });
});

describe("a drop is durable before anything is unlinked", () => {
  it("holds after a crash at any point of it, for whatever the disk keeps of the unlinks", async () => {
    for (let point = 1; point < 14; point++) {
      for (let seed = 1; seed <= 6; seed++) {
        let host = machine(seed * 50 + point);
        const journal = await openSmall(host);
        await fillSegments(journal, 3);
        const { last } = journal;
        host.crashAfter(point);
        let dropped = false;
        await Promise.race([journal.dropBefore(last - 1).then(() => (dropped = true)), host.whenFrozen()]);
        host = host.crash();
        const again = await openSmall(host);
        expect([1, last - 1]).toContain(again.first);
        if (dropped) expect(again.first).toBe(last - 1);
        expect(await everything(again)).toEqual(range(again.first, last));
      }
    }
  });
});

describe("a reader process serves what the log states durable", () => {
  it("doesn't show what isn't synced, nor half a batch", async () => {
    const host = machine();
    const journal = await openSmall(host);
    await fill(journal, 2);
    await host.advance(100);
    const reader = await openJournalReader({ dir: "/j", host });
    const held = host.hold(["dataSync"]);
    const pending = journal.appendDurable(record(3));
    await host.settle();
    expect(await reader.refresh()).toBe(2);
    // Half of the next batch, as another process may see it.
    const end = placeOf(host, segmentPath(1), record(3)) - 1;
    host.flipBit(segmentPath(1), end + 3, 0);
    expect(await reader.refresh()).toBe(2);
    host.flipBit(segmentPath(1), end + 3, 0);
    held.release();
    await pending;
    await host.advance(100);
    expect(await reader.refresh()).toBe(3);
    await reader.close();
  });

  it("finds nothing CORRUPT beside a busy writer, however its reads and the writes fall", async () => {
    for (let seed = 1; seed <= 60; seed++) {
      const host = machine(seed);
      const journal = await openSmall(host);
      await fill(journal, 1);
      const reader = await openJournalReader({ dir: "/j", host });
      const writing = Promise.all([fill(journal, 12, 30), ...[1, 2, 3].map(async () => await journal.flush())]);
      for (let looks = 0; looks < 25; looks++)
        expect(await reader.refresh()).toBeLessThanOrEqual(journal.cursors.durable);
      await writing;
      await reader.close();
    }
  });
});

describe("after minting nothing is rolled back, and a sync that failed is never tried again", () => {
  it("poisons on any error of a write or a sync, lack of space included", async () => {
    const failures = [
      ["dataSync", "EIO"],
      ["dataSync", "ENOSPC"],
      ["writeAtSync", "EIO"],
      ["writeAtSync", "ENOSPC"],
      ["writeAtSync", "EDQUOT"],
    ] as const;
    for (const [kind, code] of failures) {
      const host = machine();
      const journal = await openSmall(host);
      await fill(journal, 2);
      host.failNext(kind, code);
      const { dataSync } = host.operations;
      const waits = [3, 4].map((n) => journal.appendDurable(record(n)));
      for (const error of await Promise.all([...waits, journal.durable(3), journal.flush()].map(refusal))) {
        expect(error).toMatchObject({ code: "OUTCOME_UNKNOWN", kind: "reopen", data: { durable: 2, appended: 4 } });
      }
      expect(journal.state).toBe("poisoned");
      for (const refused of [
        () => journal.append(record(5)),
        () => journal.appendDurable(record(5)),
        () => journal.flush(),
        () => journal.ready(),
        () => journal.dropBefore(2),
      ]) {
        expect(await codeOf(refused)).toBe("POISONED");
      }
      await host.advance(2000);
      expect(host.operations.dataSync - dataSync).toBeLessThanOrEqual(kind === "dataSync" ? 1 : 0);
      expect(await everything(journal)).toEqual([1, 2]);
      await journal.reopen();
      expect(journal.state).toBe("open");
      const { last } = journal;
      await fill(journal, 1);
      expect(await everything(journal)).toEqual(range(1, last + 1));
    }
  });

  it("says that the disk failed, and not that it is full, to whoever waits for room that it failed to make", async () => {
    for (const kind of ["create", "write", "preallocate", "dataSync", "rename", "syncDirectory"] as const) {
      const host = machine();
      const journal = await openSmall(host);
      host.failNext(kind, "EIO", kind === "syncDirectory" ? undefined : /0002\.segment/);
      const filling = async (): Promise<never> => {
        for (;;) await fill(journal, 1, 200_000);
      };
      expect(["POISONED", "OUTCOME_UNKNOWN"], kind).toContain(await codeOf(filling));
      await journal.reopen();
      await fill(journal, 3, 200_000);
    }
  });

  it("comes to rest when the sync of space made ahead fails", async () => {
    const host = machine();
    const journal = await openSmall(host, { segmentBytes: 4 * MIB, durability: "async" });
    host.faults.syncError = 1;
    for (let number = 1; journal.state === "open"; number++) {
      journal.append(record(number, 60_000));
      await host.settle();
    }
    host.faults.syncError = 0;
    expect(journal.state).toBe("poisoned");
    await journal.reopen();
    await fill(journal, 1);
  });
});

describe("epochs rise, and a checkpoint past a cut says so", () => {
  it("raises the epoch at every writable open and every reopen", async () => {
    let host = machine();
    let before = 0;
    for (let i = 0; i < 5; i++) {
      const journal = await openSmall(host);
      expect(journal.epoch).toBeGreaterThan(before);
      await fill(journal, 1);
      host.failNext("dataSync");
      await codeOf(journal.appendDurable(record(journal.last + 1)));
      const { epoch } = journal;
      await journal.reopen();
      expect(journal.epoch).toBeGreaterThan(epoch);
      before = journal.epoch;
      host = host.crash();
    }
  });

  it("doesn't call cut what a full disk hides for a while", async () => {
    let hidden = 0;
    for (let seed = 1; seed <= 20; seed++) {
      const host = machine(seed);
      const journal = await openSmall(host);
      await fill(journal, 4);
      const seen: number[] = [];
      const stop = new AbortController();
      const tail = (async () => {
        for await (const { sequence } of journal.tail({ signal: stop.signal })) seen.push(sequence);
      })().catch((error: { code?: string }) => error.code);
      await host.settle();
      host.failNext("writeAtSync");
      await codeOf(journal.appendDurable(record(5)));
      await fillDisk(host);
      await journal.reopen();
      expect(journal.state).toBe("read-only");
      // Nobody has stated the fourth: what a full disk lets be read ends before it.
      if (journal.last < 4) hidden++;
      await host.settle();
      host.faults.noSpaceAfterBytes = Infinity;
      await journal.reopen();
      await fill(journal, 2);
      await host.advance(100);
      expect(seen).toEqual(range(1, journal.last));
      stop.abort();
      expect(await tail).toBe("ABORTED");
    }
    expect(hidden).toBeGreaterThan(0);
  });
});
