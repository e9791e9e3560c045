import { eventLogDatasets, eventLogOn } from "@ehdb/eventlog";
import { type SimulatedHost, simulatedHost } from "@ehdb/host";
import { type DurableEngine, openEngine } from "@ehdb/l0";
import { describe, expect, test } from "vitest";
import { eventsOf, numbered, versionsOf } from "./events.ts";

const openShared = (host: SimulatedHost): Promise<DurableEngine> =>
  openEngine({ dir: "/stack", host, datasets: [...eventLogDatasets, { name: "stock", order: "by-key" }] });

const value = Buffer.from("41");

describe("an append staged in somebody else's commit", () => {
  test("is there with what the others wrote, and the log's subscribers see it", async () => {
    const host = simulatedHost({ seed: 1 });
    const engine = await openShared(host);
    const log = await eventLogOn(engine, { host });
    const next = log.subscribe()[Symbol.asyncIterator]().next();
    const { appended, revision } = await engine.commit((batch) => {
      log.stageAppend(batch, "order-1", numbered(2), { expect: "none" });
      batch.put("stock", "blue", value);
    });
    expect(appended).toEqual([
      { sort: 1, version: 1 },
      { sort: 2, version: 2 },
    ]);
    expect((await engine.map("stock").get("blue"))?.revision).toBe(revision);
    expect((await next).value).toMatchObject({ stream: "order-1", position: 1, data: { n: 1 } });
    await log.close();
    expect(engine.state).toBe("open");
    await engine.close();
  });

  test("is not there when it conflicts, and neither is the rest", async () => {
    const host = simulatedHost({ seed: 1 });
    const engine = await openShared(host);
    const log = await eventLogOn(engine, { host });
    await log.append("order-1", numbered(1));
    const commit = engine.commit((batch) => {
      batch.put("stock", "blue", value);
      log.stageAppend(batch, "order-1", numbered(1), { expect: 0 });
    });
    await expect(commit).rejects.toMatchObject({
      code: "CONFLICT",
      data: { dataset: "eventlog.events", key: "order-1", expected: 0, actual: 1 },
    });
    expect([await engine.map("stock").get("blue"), log.position]).toEqual([undefined, 1]);
    const wrong = engine.commit((batch) => log.stageAppend(batch, "order-1", { type: "" }));
    await expect(wrong).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    await engine.close();
  });

  test("is all there or not at all after a crash at any operation", async () => {
    let crashes = 0;
    let whole = 0;
    for (let operations = 1; operations < 60; operations++) {
      const host = simulatedHost({ seed: operations });
      const engine = await openShared(host);
      const log = await eventLogOn(engine, { host });
      host.crashAfter(operations);
      const working = engine.commit((batch) => {
        log.stageAppend(batch, "order-1", numbered(3));
        batch.put("stock", "blue", value);
      });
      const acknowledged = await Promise.race([working.then(() => true), host.whenFrozen().then(() => false)]);
      if (host.frozen) crashes++;
      const again = await openShared(host.crash());
      const found = await versionsOf((await eventLogOn(again, { host })).readStream("order-1"));
      const isThere = (await again.map("stock").get("blue")) !== undefined;
      expect([operations, found]).toEqual([operations, isThere ? [1, 2, 3] : []]);
      if (acknowledged) expect(isThere).toBe(true);
      if (isThere) whole++;
      await again.close();
    }
    expect([crashes > 0, whole > 0]).toEqual([true, true]);
  });

  test("is never taken for one on a stream that isn't deleted, whatever is known of it", async () => {
    const host = simulatedHost({ seed: 1 });
    let engine = await openShared(host);
    let log = await eventLogOn(engine, { host });
    await log.append("order-1", numbered(2));
    await log.deleteStream("order-1");
    await engine.close();
    engine = await openShared(host);
    log = await eventLogOn(engine, { host });
    const append = (expect: "none" | "exists"): Promise<unknown> =>
      engine.commit((batch) => log.stageAppend(batch, "order-1", numbered(1), { expect }));
    await expect(append("exists")).rejects.toMatchObject({ code: "CONFLICT" });
    await expect(append("none")).rejects.toMatchObject({ code: "CONFLICT" });
    await log.streamInfo("order-1");
    await expect(append("exists")).rejects.toMatchObject({ code: "CONFLICT" });
    await append("none");
    await expect(append("none")).rejects.toMatchObject({ code: "CONFLICT" });
    await log.streamInfo("order-1");
    await append("exists");
    expect((await eventsOf(log.readStream("order-1"))).map(({ version }) => version)).toEqual([3, 4]);
    await engine.close();
  });
});
