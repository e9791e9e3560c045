import { describe, expect, it } from "vitest";
import { simulatedHost } from "@ehdb/host";
import type { Journal } from "@ehdb/journal";
import { bytes, codeOf, collect, fill, KIB, MIB, names, openAt, refusal, segmentFiles, stage } from "./drive.ts";
import { measured } from "./measured.ts";

describe("close", () => {
  it.each(["sync", "batch", "async"] as const)(
    "in mode %s syncs what was appended and reports clean",
    async (durability) => {
      const { host, journal } = await stage({ durability, batchMillis: 60_000 });
      for (let i = 0; i < 5; i++) journal.append(bytes(10));
      expect(await journal.close()).toEqual({ state: "clean", cursors: { appended: 5, written: 5, durable: 5 } });
      expect(journal.state).toBe("closed");
      const next = await openAt(host.crash("nothing"));
      expect(next.last).toBe(5);
      await next.close();
    },
  );

  it("is the same report however often it is called", async () => {
    const { journal } = await stage();
    journal.append(bytes(10));
    const reports = await Promise.all([journal.close(), journal.close({ timeoutMillis: 5 }), journal.close()]);
    expect(reports[1]).toBe(reports[0]);
    expect(await journal.close()).toBe(reports[0]);
    await journal[Symbol.asyncDispose]();
  });

  it("happens at the end of its block, too", async () => {
    const host = simulatedHost({ seed: 1 });
    let seen: Journal | undefined;
    {
      await using journal = await openAt(host);
      seen = journal;
      journal.append(bytes(10));
    }
    expect(seen.state).toBe("closed");
    const again = await openAt(host);
    expect(again.last).toBe(1);
    await again.close();
  });

  it("reports partially durable when the disk fails, and never throws for it", async () => {
    const { host, journal } = await stage({ durability: "async" });
    await fill(journal, 2, 10);
    const wait = codeOf(() => journal.durable(3));
    expect(await wait).toBe("OUT_OF_RANGE");
    journal.append(bytes(10));
    const lost = codeOf(() => journal.durable(3));
    host.failNext("dataSync");
    expect(await journal.close()).toEqual({
      state: "partially durable",
      cursors: { appended: 3, written: 3, durable: 2 },
      reason: expect.objectContaining({ code: "OUTCOME_UNKNOWN" }) as unknown,
    });
    expect(await lost).toBe("OUTCOME_UNKNOWN");
    const again = await openAt(host);
    expect(again.last).toBeGreaterThanOrEqual(2);
    await again.close();
  });

  it("of a poisoned journal reports partially durable", async () => {
    const { host, journal } = await stage();
    host.failNext("writeAtSync");
    expect(await codeOf(() => journal.appendDurable(bytes(1)))).toBe("OUTCOME_UNKNOWN");
    expect((await journal.close()).state).toBe("partially durable");
    const again = await openAt(host);
    await fill(again, 1, 1);
    await again.close();
  });

  it("reports timed out when the disk doesn't answer, and lets go of the directory once it does", async () => {
    const { host, journal } = await stage();
    await fill(journal, 2, 10);
    const held = host.hold(["dataSync"]);
    const pending = codeOf(() => journal.appendDurable(bytes(10)));
    await host.settle();
    const closing = journal.close({ timeoutMillis: 200 });
    await host.advance(199);
    await host.advance(1);
    expect(await closing).toEqual({ state: "timed out", cursors: { appended: 3, written: 3, durable: 2 } });
    expect(await pending).toBe("OUTCOME_UNKNOWN");
    expect((await journal.close({ timeoutMillis: 10_000 })).state).toBe("timed out");
    expect(await codeOf(() => openAt(host))).toBe("LOCKED");
    const waiting = openAt(host, { lockTimeoutMillis: 10_000 });
    await host.advance(5000);
    held.release();
    await host.advance(1000);
    const again = await waiting;
    expect(again.last).toBe(3);
    await again.close();
  });

  it("leaves only started segments, no longer than they need be, and the next open copies nothing", async () => {
    const { host, journal } = await stage({ segmentBytes: MIB, reserveBytes: 0 });
    // Past the point where the next segment is made ready.
    await fill(journal, 10, 100 * KIB);
    await host.settle();
    const prepared = await segmentFiles(host);
    expect(prepared.length).toBe(2);
    await journal.close();
    const left = await segmentFiles(host);
    expect(left).toEqual(prepared.slice(0, 1));
    expect(host.content(left[0] as string).length).toBeLessThan(10 * 100 * KIB + 8 * KIB);
    expect((await names(host)).filter((name) => name.endsWith(".tmp"))).toEqual([]);
    const again = await openAt(host);
    expect(again.recovery).toMatchObject({ recordsCopied: 0, tornBytes: 0, voidSegments: 0, last: 10, stated: 10 });
    await again.close();
    const third = await openAt(host.crash());
    expect(third.recovery).toMatchObject({ recordsCopied: 0, voidSegments: 0, last: 10 });
    await third.close();
  });

  it("lets go of every file", async () => {
    const { host, journal } = await stage({ segmentBytes: MIB });
    await fill(journal, 25, 100 * KIB);
    await journal.close();
    const door = measured(host);
    const again = await openAt(door.host, { segmentBytes: MIB });
    await fill(again, 25, 100 * KIB);
    await collect(again.scan());
    await again.read(3);
    await again.close();
    expect(door.open).toBe(0);
  });
});

describe("a closed journal", () => {
  it("says CLOSED to every call but close and what only looks", async () => {
    const { journal } = await stage();
    await fill(journal, 3, 10);
    await journal.close();
    const calls: (() => unknown)[] = [
      () => journal.append(bytes(1)),
      () => journal.appendAll([bytes(1)]),
      () => journal.appendDurable(bytes(1)),
      () => journal.appendAllDurable([bytes(1)]),
      () => journal.flush(),
      () => journal.ready(),
      () => journal.read(1),
      () => collect(journal.scan()),
      () => collect(journal.tail()),
      () => journal.verify(),
      () => journal.dropBefore(2),
      () => journal.applyRetention(),
      () => journal.reopen(),
    ];
    for (const call of calls) expect(await codeOf(call)).toBe("CLOSED");
    await journal.durable(3);
    expect(await codeOf(() => journal.durable(4))).toBe("OUT_OF_RANGE");
    expect(journal.cursors).toEqual({ appended: 3, written: 3, durable: 3 });
    expect(journal.stats().appends).toBe(3);
    expect(journal.state).toBe("closed");
  });

  it("already refuses while it closes", async () => {
    const { host, journal } = await stage();
    const held = host.hold(["dataSync"]);
    const last = journal.appendDurable(bytes(1));
    const closing = journal.close();
    expect(await codeOf(() => journal.append(bytes(1)))).toBe("CLOSED");
    expect(journal.state).toBe("closed");
    held.release();
    expect(await last).toBe(1);
    expect((await closing).state).toBe("clean");
  });

  it("lets a drop that was called before come to its end", async () => {
    const { journal } = await stage();
    await fill(journal, 10, 10);
    const drop = journal.dropBefore(5);
    const closing = journal.close();
    const outcome = await drop.then(
      () => "dropped",
      (error: { code: string }) => error.code,
    );
    expect(["dropped", "CLOSED"]).toContain(outcome);
    expect((await closing).state).toBe("clean");
  });
});

it("close and reopen at once both come to an end, and the directory is free afterwards", async () => {
  for (const order of ["reopen under way", "reopen first", "close first"]) {
    const { host, journal } = await stage();
    await fill(journal, 2, 10);
    host.failNext("dataSync");
    expect(await codeOf(() => journal.appendDurable(bytes(1)))).toBe("OUTCOME_UNKNOWN");
    const outcome = (call: Promise<unknown>): Promise<string> =>
      call.then(
        () => "done",
        (error: { code: string }) => error.code,
      );
    const early = order === "close first" ? journal.close() : undefined;
    const reopened = outcome(journal.reopen());
    if (order === "reopen under way") await host.clock.yield();
    const { state } = await (early ?? journal.close());
    expect(await reopened).toBe(order === "reopen under way" ? "done" : "CLOSED");
    expect(state).toBe(order === "reopen under way" ? "clean" : "partially durable");
    const again = await openAt(host);
    expect(again.last).toBeGreaterThanOrEqual(2);
    await again.close();
  }
});

describe("the lock", () => {
  it("refuses a second open in the same process, and changes nothing", async () => {
    const { host, journal } = await stage();
    await journal.appendDurable(bytes(1));
    const before = await segmentFiles(host);
    const error = await refusal(() => openAt(host));
    expect(error).toMatchObject({ code: "LOCKED", kind: "retry" });
    expect(await segmentFiles(host)).toEqual(before);
    expect(await journal.appendDurable(bytes(1))).toBe(2);
    await journal.close();
    await (await openAt(host)).close();
  });

  it("is waited for as long as lockTimeoutMillis says", async () => {
    const { host, journal } = await stage();
    const late = codeOf(() => openAt(host, { lockTimeoutMillis: 100 }));
    let ended = false;
    void late.then(() => (ended = true));
    await host.advance(99);
    expect(ended).toBe(false);
    await host.advance(2);
    expect(await late).toBe("LOCKED");
    const patient = openAt(host, { lockTimeoutMillis: 1000 });
    await host.advance(500);
    await journal.close();
    await host.advance(100);
    const second = await patient;
    expect(second.state).toBe("open");
    await second.close();
  });

  it.each(["kill", "crash"] as const)("dies with its process: %s", async (how) => {
    const { host, journal } = await stage();
    await journal.appendDurable(bytes(1));
    const again = await openAt(host[how]());
    expect(again.last).toBe(1);
    await again.close();
  });

  it("is let go when an open fails", async () => {
    const { host, journal } = await stage();
    await fill(journal, 3, 10);
    await journal.close();
    host.failNext("read");
    expect(await codeOf(() => openAt(host))).toBe("IO_ERROR");
    await (await openAt(host)).close();
    host.failNext("dataSync");
    expect(await codeOf(() => openAt(host))).toBe("IO_ERROR");
    const again = await openAt(host);
    expect(again.last).toBe(3);
    await again.close();
  });
});

it("an open that fails on its reserve leaves no file open and no lock", async () => {
  const host = simulatedHost({ seed: 1 });
  const door = measured(host);
  host.failNext("create", "EIO", /reserve/);
  expect(await codeOf(() => openAt(door.host))).toBe("IO_ERROR");
  expect(door.open).toBe(0);
  await (await openAt(door.host)).close();
  expect(door.open).toBe(0);
});
