import type { DurableEventLog } from "@ehdb/eventlog";
import type { SimulatedHost } from "@ehdb/host";
import { describe, expect, test } from "vitest";
import { eventsOf, iteratorOf, numbered } from "./events.ts";
import { openOn, stage } from "./drive.ts";

describe("after a failed sync", () => {
  test("appends are refused, reads go on, and a reopen goes on in place", async () => {
    const { host, log } = await stage();
    await log.append("s", numbered(2));
    host.failNext("dataSync");
    await expect(log.append("s", numbered(1))).rejects.toMatchObject({ code: "OUTCOME_UNKNOWN" });
    await expect(log.append("s", numbered(1))).rejects.toMatchObject({ code: "POISONED" });
    expect([log.engine.state, log.position]).toEqual(["poisoned", 2]);
    expect(await eventsOf(log.readStream("s"))).toHaveLength(2);
    const { epoch } = log;
    await log.engine.reopen();
    expect(log.epoch).toBe(epoch + 1);
    const { position } = log;
    expect([2, 3]).toContain(position);
    expect((await log.append("s", numbered(1))).version).toBe(position + 1);
    await log.close();
  });

  test("a subscription waits, and goes on after the reopen without a gap or a double", async () => {
    const { host, log } = await stage();
    await log.append("s", numbered(2));
    const iterator = iteratorOf(log.subscribe());
    const seen = [(await iterator.next()).value?.position, (await iterator.next()).value?.position];
    const third = iterator.next();
    host.failNext("dataSync");
    await expect(log.append("s", numbered(1))).rejects.toMatchObject({ code: "OUTCOME_UNKNOWN" });
    await host.settle();
    await log.engine.reopen();
    await log.append("s", numbered(3));
    seen.push((await third).value?.position);
    while (seen.length < log.position) seen.push((await iterator.next()).value?.position);
    expect(seen).toEqual(Array.from({ length: log.position }, (_, index) => index + 1));
    await log.close();
  });
});

describe("a log that was opened on a full disk", () => {
  test.each([
    ["truncated", (log: DurableEventLog) => log.truncateStream("s", 4)],
    ["deleted", (log: DurableEventLog) => log.deleteStream("s")],
    ["reclaimed", (log: DurableEventLog) => log.reclaim({ maxEvents: 0 })],
  ])("knows after a reopen what it couldn't see before: what was %s", async (_, hide) => {
    const { host, log } = await stage({ reserveBytes: 0 });
    await log.append("s", numbered(3));
    await hide(log);
    const next = host.crash();
    next.faults.noSpaceAfterBytes = 0;
    const full = await openOn(next, { reserveBytes: 0 });
    expect([full.engine.state, await full.streamInfo("s")]).toMatchObject(["read-only", { firstVersion: 1 }]);
    next.faults.noSpaceAfterBytes = Infinity;
    await full.engine.reopen();
    expect(await eventsOf(full.readStream("s"))).toEqual([]);
    expect(await full.streamInfo("s")).toMatchObject({ version: 3, firstVersion: 4 });
    await full.close();
  });
});

describe("a close that can't see to it that what was acknowledged is found again", () => {
  test.each<readonly [string, (host: SimulatedHost) => Promise<void>]>([
    ["its lock was removed", (host) => host.files.remove("/log/journal/LOCK")],
    ["it was moved away", (host) => host.files.rename("/log", "/elsewhere")],
  ])("rejects when nobody was told: %s", async (_, deed) => {
    const { host, log } = await stage();
    await log.append("s", numbered(1));
    await deed(host);
    await log.append("s", numbered(1));
    await expect(log.close()).rejects.toMatchObject({ code: "OUTCOME_UNKNOWN" });
    await expect(log[Symbol.asyncDispose]()).rejects.toMatchObject({ code: "OUTCOME_UNKNOWN" });
    expect(log.engine.state).toBe("closed");
    await expect(log.append("s", numbered(1))).rejects.toMatchObject({ code: "CLOSED" });
  });

  test("rejects when its own sync fails", async () => {
    const { host, log } = await stage({ durability: "async" });
    await log.append("s", numbered(1));
    host.failNext("dataSync");
    await expect(log.close()).rejects.toMatchObject({ code: "OUTCOME_UNKNOWN" });
  });

  test.each(["writeAtSync", "dataSync"] as const)(
    "says nothing of its last mark, whose %s fails when all is on disk",
    async (kind) => {
      const { host, log } = await stage();
      await log.append("s", numbered(1));
      host.failNext(kind);
      await log.close();
      expect(await log.engine.close()).toMatchObject({
        state: "partially durable",
        cursors: { appended: 1, durable: 1 },
      });
      expect((await log.engine.close()).reason).toBeUndefined();
      const again = await openOn(host);
      expect(again.position).toBe(1);
      await again.close();
    },
  );

  test("says nothing again of what an append was told", async () => {
    const { host, log } = await stage();
    await log.append("s", numbered(1));
    host.failNext("dataSync");
    await expect(log.append("s", numbered(1))).rejects.toMatchObject({ code: "OUTCOME_UNKNOWN" });
    await log.close();
  });

  test("is the engine's to report where that is shared, and its dispose rejects", async () => {
    const { host, log } = await stage();
    await log.append("s", numbered(1));
    await host.files.remove("/log/journal/LOCK");
    await expect(log.engine[Symbol.asyncDispose]()).rejects.toMatchObject({ code: "OUTCOME_UNKNOWN" });
    expect(await log.engine.close()).toMatchObject({ state: "partially durable", reason: { code: "OUTCOME_UNKNOWN" } });
    await log.close();
  });
});
