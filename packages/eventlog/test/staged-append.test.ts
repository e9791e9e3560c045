import { MIB } from "@ehdb/contracts";
import type { NewEvent, WriteBatch } from "@ehdb/contracts";
import { eventLogDatasets, eventLogOn } from "@ehdb/eventlog";
import { type SimulatedHost, simulatedHost } from "@ehdb/host";
import { type DurableEngine, openEngine } from "@ehdb/l0";
import { describe, expect, test } from "vitest";
import { eventsOf, numbered, refusalOf, versionsOf } from "./events.ts";

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

  test("keeps its content beside others of the same commit, of any length, and beside an append made within", async () => {
    const host = simulatedHost({ seed: 1 });
    const engine = await openShared(host);
    const log = await eventLogOn(engine, { host });
    let within: Promise<unknown> | undefined;
    const transfer = (batch: WriteBatch): void => {
      log.stageAppend(batch, "a", { type: "moved", id: "w", data: { amount: -5, why: "a longer text" } });
      log.stageAppend(batch, "b", { type: "moved", id: "d", data: { amount: 50 } });
      log.stageAppend(batch, "b", [{ type: "noted" }, { type: "noted", data: Buffer.from("bytes") }]);
      within ??= log.append("c", { type: "within", data: { amount: 1234567 } });
    };
    await engine.commit(transfer);
    await within;
    const seen = (await eventsOf(log.scan())).map(({ stream, version, data }) => [stream, version, data]);
    expect(seen).toEqual([
      ["c", 1, { amount: 1234567 }],
      ["a", 1, { amount: -5, why: "a longer text" }],
      ["b", 1, { amount: 50 }],
      ["b", 2, undefined],
      ["b", 3, new Uint8Array(Buffer.from("bytes"))],
    ]);
    await engine.close();
  });

  test("that is refused leaves nothing of itself in the batch", async () => {
    const host = simulatedHost({ seed: 1 });
    const engine = await openShared(host);
    const log = await eventLogOn(engine, { host });
    const large = (type: string): NewEvent => ({ type, data: "x".repeat(3 * MIB) });
    await engine.commit((batch) => {
      batch.put("stock", "blue", Buffer.alloc(10 * MIB));
      expect(() => log.stageAppend(batch, "s", [large("a"), large("b")], { expect: 7 })).toThrow(
        /larger than the limit/,
      );
      log.stageAppend(batch, "s", { type: "known", id: "one" });
      const again = [{ type: "new" }, { type: "known", id: "one" }];
      expect(() => log.stageAppend(batch, "s", again)).toThrow(/stands twice/);
    });
    expect((await eventsOf(log.scan())).map(({ type }) => type)).toEqual(["known"]);
    await engine.close();
  });
});

describe("an event log on an engine that others use", () => {
  test("is the only one as long as it's open", async () => {
    const host = simulatedHost({ seed: 1 });
    const engine = await openShared(host);
    const log = await eventLogOn(engine, { host });
    await expect(eventLogOn(engine, { host })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    await log.append("s", numbered(1));
    await log.close();
    const next = await eventLogOn(engine, { host });
    expect(next.position).toBe(1);
    await engine.close();
  });

  test("ends with CLOSED for whoever follows or calls it, when the engine is closed", async () => {
    const host = simulatedHost({ seed: 1 });
    const engine = await openShared(host);
    const log = await eventLogOn(engine, { host });
    await log.append("s", numbered(1));
    const iterators = [log.subscribe(), log.consumer("c").tail()].map((stream) => stream[Symbol.asyncIterator]());
    for (const iterator of iterators) await iterator.next();
    const waiting = iterators.map((iterator) => refusalOf(iterator.next()));
    await host.settle();
    await engine.close();
    expect(await Promise.all(waiting)).toEqual(["CLOSED", "CLOSED"]);
    expect(await refusalOf(log.append("s", numbered(1)))).toBe("CLOSED");
    expect(await refusalOf(eventsOf(log.scan()))).toBe("CLOSED");
    await log.close();
  });
});

describe("beside somebody else's commit", () => {
  test("a delete takes along what was committed to the stream before it, or has it behind", async () => {
    const host = simulatedHost({ seed: 1 });
    const engine = await openShared(host);
    const log = await eventLogOn(engine, { host });
    await log.append("s", numbered(2));
    const deleting = log.deleteStream("s");
    await engine.commit((batch) => log.stageAppend(batch, "s", numbered(1, 3)));
    const { version, firstVersion } = await deleting;
    expect([version, firstVersion]).toEqual([3, 4]);
    expect(await versionsOf(log.readStream("s"))).toEqual([]);
    await engine.close();
  });

  test("one event that can't be read hides none before it", async () => {
    const host = simulatedHost({ seed: 1 });
    const engine = await openShared(host);
    const log = await eventLogOn(engine, { host });
    await log.append("s", numbered(5));
    await engine.commit((batch) => batch.append("eventlog.events", "s", Buffer.from("not an event")));
    for (const stream of [log.scan(), log.readStream("s"), log.subscribe()]) {
      const seen: number[] = [];
      const read = async (): Promise<void> => {
        for await (const { version } of stream) seen.push(version);
      };
      expect(await refusalOf(read())).toBe("UNSUPPORTED_VERSION");
      expect(seen).toEqual([1, 2, 3, 4, 5]);
    }
    await engine.close();
  });
});
