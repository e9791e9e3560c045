import type { EventStream, RecordedEvent } from "@ehdb/contracts";
import { eventLogReaderOn, openEventLogReader } from "@ehdb/eventlog";
import type { DurableEventLog, EventLogReader } from "@ehdb/eventlog";
import type { SimulatedHost } from "@ehdb/host";
import { openEngine, openEngineReader } from "@ehdb/l0";
import { describe, expect, test } from "vitest";
import { openOn, stage } from "./drive.ts";

const openReader = (host: SimulatedHost, options: object = {}): Promise<EventLogReader> =>
  openEventLogReader({ dir: "/log", host, ...options });

// Data and metadata are getters.
const plain = (event: RecordedEvent): unknown => JSON.parse(JSON.stringify(event));

async function all(events: AsyncIterable<RecordedEvent>): Promise<unknown[]> {
  const found: unknown[] = [];
  for await (const event of events) found.push(plain(event));
  return found;
}

/** Some events in several streams, and what states them durable. */
async function fill(host: SimulatedHost, log: DurableEventLog, from: number, count: number): Promise<void> {
  await Promise.all(
    Array.from({ length: count }, (_, n) =>
      log.append(`stream-${(from + n) % 5}`, {
        id: `id-${from + n}`,
        type: n % 2 === 0 ? "even" : "odd",
        data: { n: from + n, text: "x".repeat(500) },
        metadata: { by: "test" },
      }),
    ),
  );
  await host.advance(100);
}

describe("a reader of an event log beside its writer", () => {
  test.each([1, 2, 3])("shows what the log shows, through seals and merges (seed %i)", async (seed) => {
    const { host, log } = await stage({}, seed);
    await fill(host, log, 0, 10);
    const reader = await openReader(host);
    for (let round = 1; round <= 8; round++) {
      await fill(host, log, round * 100, 60);
      if (round % 2 === 0) await log.engine.seal();
      if (round === 3) await log.truncateStream("stream-1", 9);
      if (round === 5) await log.deleteStream("stream-2");
      await host.advance(100);
      expect(await all(reader.scan())).toEqual(await all(log.scan()));
      expect([reader.position, reader.firstPosition, reader.epoch]).toEqual([log.position, 1, log.epoch]);
      for (const stream of ["stream-1", "stream-2", "stream-3", "none"]) {
        expect(await all(reader.readStream(stream))).toEqual(await all(log.readStream(stream)));
        const backwards = { direction: "backwards", limit: 7 } as const;
        expect(await all(reader.readStream(stream, backwards))).toEqual(await all(log.readStream(stream, backwards)));
        expect(await reader.streamInfo(stream)).toEqual(await log.streamInfo(stream));
      }
      const odd = { types: ["odd"], streamPrefix: "stream-" } as const;
      expect(await all(reader.scan(odd))).toEqual(await all(log.scan(odd)));
    }
    await log.consumer("mailer").ack(20);
    await host.advance(100);
    expect(await reader.consumers()).toEqual([{ name: "mailer", committed: 20, lag: log.position - 20 }]);
    await reader.close();
    await log.close();
  });

  test("follows from a checkpoint, without a gap or a double, over a close and an open of the writer", async () => {
    const { host, log } = await stage();
    await fill(host, log, 0, 50);
    const reader = await openReader(host);
    const seen: number[] = [];
    const stop = new AbortController();
    const subscription = reader.subscribe({ after: { position: 10, epoch: log.epoch }, signal: stop.signal });
    const following = (async () => {
      for await (const { position } of subscription) seen.push(position);
    })();
    await fill(host, log, 100, 50);
    await log.engine.seal();
    await fill(host, log, 200, 50);
    await log.close();
    const next = await openOn(host);
    await fill(host, next, 300, 50);
    await host.advance(200);
    stop.abort();
    await expect(following).rejects.toMatchObject({ code: "ABORTED" });
    expect(seen).toEqual(Array.from({ length: 190 }, (_, n) => n + 11));
    expect(subscription.checkpoint).toEqual({ position: 200, epoch: next.epoch });
    await reader.close();
    await next.close();
  });

  test("a close ends who follows with CLOSED", async () => {
    const { host, log } = await stage();
    const reader = await openReader(host);
    const following = all(reader.subscribe());
    await host.advance(100);
    await reader.close();
    await expect(following).rejects.toMatchObject({ code: "CLOSED" });
    await expect(all(reader.scan())).rejects.toMatchObject({ code: "CLOSED" });
    await log.close();
  });

  test("damage that a look meets ends who follows", async () => {
    const { host, log } = await stage();
    await fill(host, log, 0, 5);
    const reader = await openReader(host);
    const following = all(reader.subscribe());
    await host.advance(100);
    const manifest = (await host.files.list("/log")).find((name) => name.startsWith("manifest"));
    await host.files.remove(`/log/${manifest}`);
    host.flipBit("/log/CURRENT", 9, 1);
    const ended = following.catch((error: unknown) => error);
    await fill(host, log, 10, 5);
    expect(await ended).toMatchObject({ code: "CORRUPT" });
    await reader.close();
  });

  test("a store without an event log is refused", async () => {
    const { host, log } = await stage();
    await log.close();
    const engine = await openEngine({ dir: "/other", host, datasets: [{ name: "other", order: "by-key" }] });
    await engine.close();
    await expect(openReader(host, { dir: "/other" })).rejects.toMatchObject({ code: "INVALID_OPTION" });
    await expect(openReader(host, { dir: "/none" })).rejects.toMatchObject({ code: "NOT_FOUND" });
  });
});

describe("a read that a reclaim overtakes ends with COMPACTED, and says from where to go on", () => {
  /** More than a reader keeps open. */
  const parts = 70;
  const someNumber: unknown = expect.any(Number);

  /** What is given until the writer reclaims all but the last few events, after the first page. */
  async function overtaken(read: (reader: EventLogReader) => EventStream): Promise<unknown> {
    const { host, log } = await stage({ background: false });
    for (let round = 0; round < parts; round++) {
      await fill(host, log, round * 10, 10);
      await log.engine.seal();
    }
    const reader = await openReader(host);
    let isFirst = true;
    try {
      for await (const _ of read(reader).batches()) {
        if (!isFirst) continue;
        isFirst = false;
        await log.reclaim({ maxEvents: 9 });
        await log.engine.merge();
        await host.settle();
      }
      return "the end";
    } catch (error) {
      return error;
    } finally {
      await reader.close();
      await log.close();
    }
  }

  test.each(["forwards", "backwards"] as const)("a scan, %s", async (direction) => {
    expect(await overtaken((reader) => reader.scan({ direction }))).toMatchObject({
      code: "COMPACTED",
      data: { position: someNumber, firstPosition: parts * 10 - 8 },
    });
  });

  test.each(["forwards", "backwards"] as const)("a read of a stream, %s", async (direction) => {
    expect(await overtaken((reader) => reader.readStream("stream-3", { direction }))).toMatchObject({
      code: "COMPACTED",
      data: { stream: "stream-3", version: someNumber, firstPosition: parts * 10 - 8 },
    });
  });

  test("a subscription", async () => {
    expect(await overtaken((reader) => reader.subscribe())).toMatchObject({
      code: "COMPACTED",
      data: { position: someNumber, firstPosition: parts * 10 - 8 },
    });
  });
});

test.each(["kill", "crash"] as const)("after a %s of the writer a reader shows the stated events", async (how) => {
  for (let seed = 1; seed <= 5; seed++) {
    const { host: before, log } = await stage({}, seed);
    await fill(before, log, 0, 40);
    await fill(before, log, 100, 40);
    void log.append("stream-9", { type: "lost", data: "?" }).catch(() => undefined);
    before.crashAfter(1 + (seed % 2));
    await before.whenFrozen();
    const host = how === "kill" ? before.kill() : before.crash();
    const reader = await openReader(host);
    // What states the last batch durable needn't be durable itself.
    expect((await all(reader.scan())).length).toBeGreaterThanOrEqual(how === "kill" ? 80 : 40);
    const next = await openOn(host);
    await fill(host, next, 200, 20);
    expect(await all(reader.scan())).toEqual(await all(next.scan()));
    await reader.close();
    await next.close();
  }
});

test("a log is read from a store that is open to be read already, which outlives it", async () => {
  const { host, log } = await stage({}, 1);
  await fill(host, log, 0, 10);
  const engine = await openEngineReader({ dir: "/log", host });
  const { open } = host.operations;
  const reader = await eventLogReaderOn(engine);
  expect([reader.position, reader.engine, host.operations.open]).toEqual([10, engine, open]);
  expect(await all(reader.scan())).toEqual(await all(log.scan()));
  await reader.close();
  await expect(reader.refresh()).rejects.toMatchObject({ code: "CLOSED" });
  expect(await engine.refresh()).toBe(engine.revision);
  await engine.close();
  await log.close();
});
