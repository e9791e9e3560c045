import type { Clock, Host } from "@ehdb/host";
import { simulatedHost } from "@ehdb/host";
import type { DurableEngine } from "@ehdb/l0";
import { openEngineReader } from "@ehdb/l0";
import { describe, expect, test } from "vitest";
import { openOn } from "./drive.ts";

/** A clock on which each look takes half a millisecond, so that work does. */
function ticking(host: Host): Host {
  const { clock } = host;
  let millis = 0;
  const ticks: Clock = {
    now: () => clock.now(),
    monotonic: () => clock.monotonic() + (millis += 0.5),
    timer: (after, call, keepAlive) => clock.timer(after, call, keepAlive),
    defer: (call) => clock.defer(call),
    yield: () => clock.yield(),
  };
  return { ...host, files: host.files, random: host.random, workers: host.workers, clock: ticks };
}

const count = 20_000;

async function filled(engine: DurableEngine): Promise<void> {
  for (let n = 0; n < count; n += 1000) {
    await engine.commit((batch) => {
      for (let i = n; i < n + 1000; i++) {
        batch.append("events", "a", Buffer.from(`${i}`.padEnd(200)));
        batch.put("state", `k${i}`, Buffer.from(`${i}`));
      }
    });
  }
}

/** How many records were given in all, and the most within one turn of the event loop. */
async function reading(
  clock: Clock,
  batches: AsyncIterable<readonly unknown[]>,
): Promise<{ all: number; atOnce: number }> {
  let isDone = false;
  let inTurn = 0;
  let atOnce = 0;
  const turns = async (): Promise<void> => {
    while (!isDone) {
      await clock.yield();
      inTurn = 0;
    }
  };
  const turning = turns();
  let all = 0;
  for await (const batch of batches) {
    all += batch.length;
    inTurn += batch.length;
    atOnce = Math.max(atOnce, inTurn);
  }
  isDone = true;
  await turning;
  return { all, atOnce };
}

const reads: Readonly<
  Record<string, (engine: Pick<DurableEngine, "log" | "map">) => AsyncIterable<readonly unknown[]>>
> = {
  "a scan": (engine) => engine.log("events").scan(),
  "a scan backwards": (engine) => engine.log("events").scan({ direction: "backwards" }),
  "a read of one key": (engine) => engine.log("events").read("a"),
  "a read of one key backwards": (engine) => engine.log("events").read("a", { direction: "backwards" }),
  "a scan of a map": (engine) => engine.map("state").scan(),
};

describe.each(["memory", "cached parts"])("of what is in %s", (where) => {
  test.each(Object.entries(reads))("%s lets go of the event loop now and then", async (_, read) => {
    const host = ticking(simulatedHost({ seed: 1 }));
    const engine = await openOn(host, { background: false, sealMaxCommits: 1_000_000, sealMaxBytes: 2 ** 26 });
    await filled(engine);
    if (where === "cached parts") await engine.seal();
    await reading(host.clock, read(engine));
    const { all, atOnce } = await reading(host.clock, read(engine));
    expect(all).toBe(count);
    expect(atOnce).toBeLessThanOrEqual(8192);
    const snapshot = engine.snapshot();
    expect((await reading(host.clock, read(snapshot))).atOnce).toBeLessThanOrEqual(8192);
    snapshot.release();
    await engine.close();
  });
});

test("many reads go on beside each other, one in each turn", async () => {
  const host = ticking(simulatedHost({ seed: 1 }));
  const engine = await openOn(host, { background: false, sealMaxCommits: 1_000_000, sealMaxBytes: 2 ** 26 });
  await filled(engine);
  const ended: number[] = [];
  const found = await Promise.all(
    Array.from({ length: 5 }, async (_, n) => {
      const { all } = await reading(host.clock, engine.log("events").scan());
      ended.push(n);
      return all;
    }),
  );
  expect(found).toEqual(Array.from({ length: 5 }, () => count));
  expect(ended).toEqual([0, 1, 2, 3, 4]);
  await engine.close();
});

test("a scan of a map whose keys are nearly all deleted lets go of it, too", async () => {
  const host = ticking(simulatedHost({ seed: 1 }));
  const engine = await openOn(host, { background: false, sealMaxCommits: 1_000_000, sealMaxBytes: 2 ** 26 });
  await filled(engine);
  await engine.commit((batch) => {
    for (let i = 0; i < count; i++) batch.delete("state", `k${i}`);
  });
  let turns = 0;
  let isDone = false;
  const turning = (async () => {
    for (; !isDone; turns++) await host.clock.yield();
  })();
  const { all } = await reading(host.clock, engine.map("state").scan());
  isDone = true;
  await turning;
  expect(all).toBe(0);
  expect(turns).toBeGreaterThan(10);
  await engine.close();
});

test("a read ends with CLOSED when the engine is closed while it waits for its turn", async () => {
  const host = ticking(simulatedHost({ seed: 1 }));
  const engine = await openOn(host, { background: false, sealMaxCommits: 1_000_000, sealMaxBytes: 2 ** 26 });
  await filled(engine);
  const batches = engine.log("events").scan()[Symbol.asyncIterator]();
  for (let n = 0; n < 5; n++) await batches.next();
  const next = batches.next();
  const closing = engine.close();
  await expect(next).rejects.toMatchObject({ code: "CLOSED" });
  await closing;
});

test("a reader beside a writer lets go of it, too", async () => {
  const host = ticking(simulatedHost({ seed: 1 }));
  const engine = await openOn(host, { background: false, sealMaxCommits: 1_000_000, sealMaxBytes: 2 ** 26 });
  await filled(engine);
  await engine.seal();
  const reader = await openEngineReader({ dir: engine.dir, host });
  await reader.refresh();
  await reading(host.clock, reader.log("events").scan());
  const { all, atOnce } = await reading(host.clock, reader.log("events").scan());
  expect(all).toBe(count);
  expect(atOnce).toBeLessThanOrEqual(8192);
  await reader.close();
  await engine.close();
});

test("a commit of thousands of ids that aren't in memory looks them up some at a time", async () => {
  const host = simulatedHost({ seed: 1 });
  const options = { background: false, dedupeWindow: 100_000, sealMaxBytes: 2 ** 26 };
  const record = (n: number) => ({ payload: Buffer.from(`${n}`), id: `id ${n}` });
  const records = Array.from({ length: 5000 }, (_, n) => record(n));
  const first = await openOn(host, options);
  await first.commit((batch) => batch.appendAll("events", "a", records));
  await first.seal();
  await first.close();
  const engine = await openOn(host, options);
  const loads = (): number => engine.stats().cold_loads;
  let before = loads();
  let atOnce = 0;
  let isDone = false;
  const turning = (async () => {
    while (!isDone) {
      await host.clock.yield();
      atOnce = Math.max(atOnce, loads() - before);
      before = loads();
    }
  })();
  const repeated = await engine.commit((batch) => batch.appendAll("events", "a", records));
  const added = await engine.commit((batch) => batch.appendAll("events", "b", [...records, record(5000)]));
  isDone = true;
  await turning;
  expect(repeated).toMatchObject({ isDuplicate: true, revision: 1 });
  expect(added).toMatchObject({ isDuplicate: false });
  expect(loads()).toBeGreaterThanOrEqual(5000);
  expect(atOnce).toBeLessThanOrEqual(600);
  await engine.close();
});
