import type { EventLog } from "@ehdb/contracts";
import { eventLogDatasets, eventLogOn } from "@ehdb/eventlog";
import type { DurableEventLog } from "@ehdb/eventlog";
import { eventLogSource, feedDatasets, feedOn } from "@ehdb/feed";
import type { EngineConsumerGroup, EngineFeed } from "@ehdb/feed";
import { Stage as Actors } from "@ehdb/harness";
import { simulatedHost } from "@ehdb/host";
import type { SimulatedHost } from "@ehdb/host";
import { openEngine } from "@ehdb/l0";
import type { DurableEngine } from "@ehdb/l0";
import { expect, test } from "vitest";

const machine = simulatedHost;

interface Stage {
  readonly host: SimulatedHost;
  readonly engine: DurableEngine;
  readonly log: DurableEventLog;
  readonly feed: EngineFeed<unknown>;
  readonly close: () => Promise<void>;
}

async function open(host = machine({ seed: 1 })): Promise<Stage> {
  const engine = await openEngine({ dir: "/store", datasets: [...eventLogDatasets, ...feedDatasets], host });
  const log = await eventLogOn(engine, { host });
  const feed = await feedOn(engine, { source: eventLogSource(log), host });
  const close = async (): Promise<void> => {
    await feed.close();
    await log.close();
    await engine.close();
  };
  return { host, engine, log, feed, close };
}

/** Orders, and a group that makes an outcome of each. */
async function shop(stage: Stage, orders: number): Promise<EngineConsumerGroup<unknown>> {
  for (let order = 1; order <= orders; order++) await stage.log.append(`order-${order}`, { type: "order.placed" });
  return await stage.feed.createGroup("billing", { subjects: ["order.*"], leaseSeconds: 10 });
}

async function outcomes(log: EventLog): Promise<string[]> {
  const streams: string[] = [];
  for await (const events of log.scan({ types: ["invoice.sent"] }).batches())
    streams.push(...events.map(({ stream }) => stream));
  return streams;
}

test("a commit acknowledges with what it writes, all or nothing", async () => {
  const stage = await open();
  const { log, host } = stage;
  const group = await shop(stage, 3);
  const [first, second, third] = await group.fetch({ member: "m" });
  const stageFor =
    (number: number, expect?: number) =>
    (batch: Parameters<Parameters<typeof group.commit>[1]>[0]): void =>
      log.stageAppend(batch, `invoice-${number}`, { type: "invoice.sent" }, expect === undefined ? {} : { expect });
  const { isDuplicate, appended } = await group.commit(
    [first, second].flatMap((one) => one ?? []),
    (batch) => {
      stageFor(1)(batch);
      stageFor(2)(batch);
    },
  );
  expect([isDuplicate, appended.length]).toEqual([false, 2]);
  const commitThird = group.commit(
    [third].flatMap((one) => one ?? []),
    stageFor(3, 7),
  );
  await expect(commitThird).rejects.toMatchObject({ code: "CONFLICT" });
  expect(await group.info()).toMatchObject({ committed: 2, inFlight: 1, waiting: 0 });
  expect(await outcomes(log)).toEqual(["invoice-1", "invoice-2"]);
  await third?.ack();
  await first?.ack();
  await expect(
    group.commit(
      [third].flatMap((one) => one ?? []),
      stageFor(3),
    ),
  ).rejects.toMatchObject({
    code: "LEASE_LOST",
  });
  await expect(group.commit([{} as never], stageFor(3))).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  expect(await outcomes(log)).toEqual(["invoice-1", "invoice-2"]);
  await host.advance(60_000);
  expect(await group.fetch({ member: "m" })).toEqual([]);
  await stage.close();
});

test("while a commit is under way, its messages are nobody else's", async () => {
  const stage = await open();
  const { host } = stage;
  const group = await shop(stage, 1);
  const messages = await group.fetch({ member: "m" });
  const committing = group.commit(messages, (batch) =>
    stage.log.stageAppend(batch, "invoice-1", { type: "invoice.sent" }),
  );
  await expect(messages[0]?.ack()).rejects.toMatchObject({ code: "LEASE_LOST" });
  await expect(messages[0]?.nack()).rejects.toMatchObject({ code: "LEASE_LOST" });
  expect(await group.leave("m")).toBe(0);
  await host.advance(60_000);
  await committing;
  expect(await group.fetch({ member: "n" })).toEqual([]);
  expect(await group.info()).toMatchObject({ lag: 0, inFlight: 0 });
  await stage.close();
});

test("what its stage throws, and a batch that is refused, leave the messages as they were", async () => {
  const stage = await open();
  const group = await shop(stage, 1);
  const messages = await group.fetch({ member: "m" });
  const thrown = group.commit(messages, () => {
    throw new Error("no invoice");
  });
  await expect(thrown).rejects.toThrow("no invoice");
  const refused = group.commit(messages, (batch) => batch.put("nothing", "key", new Uint8Array()));
  await expect(refused).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  const promised = group.commit(messages, () => Promise.resolve() as unknown);
  await expect(promised).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  await messages[0]?.ack();
  expect(await group.info()).toMatchObject({ lag: 0 });
  await stage.close();
});

test("a commit that repeats an earlier one acknowledges all the same", async () => {
  const stage = await open();
  const group = await shop(stage, 1);
  const event = { type: "invoice.sent", id: "invoice of order 1" };
  await stage.log.append("invoices", event);
  const messages = await group.fetch({ member: "m" });
  const { isDuplicate } = await group.commit(messages, (batch) => stage.log.stageAppend(batch, "invoices", event));
  expect(isDuplicate).toBe(true);
  const host = stage.host.crash("nothing");
  const again = await open(host);
  const found = await again.feed.group("billing");
  expect(await found.info()).toMatchObject({ lag: 0, inFlight: 0 });
  expect(await outcomes(again.log)).toEqual(["invoices"]);
  await again.close();
});

test("a crash right after a commit takes back neither of both, although its leases were never written", async () => {
  for (let seed = 1; seed <= 60; seed++) {
    const stage = await open(machine({ seed }));
    const group = await shop(stage, 6);
    for (const message of await group.fetch({ member: "m", limit: 2 })) await message.ack();
    const done = new Set<number>();
    stage.host.crashAfter(seed);
    const worker = async (): Promise<void> => {
      for (;;) {
        const messages = await group.fetch({ member: "m", limit: 1 });
        const [message] = messages;
        if (message === undefined) return;
        await group.commit(messages, (batch) =>
          stage.log.stageAppend(batch, `invoice-${message.sequence}`, { type: "invoice.sent" }),
        );
        done.add(message.sequence);
      }
    };
    const actors = new Actors(stage.host, () => undefined);
    actors.start("worker", worker);
    expect(["done", "frozen"]).toContain(await actors.finish());
    const again = await open(stage.host.crash());
    const found = await again.feed.group("billing");
    const sent = (await outcomes(again.log)).map((stream) => Number(stream.split("-")[1]));
    for (const sequence of done) expect(sent, `seed ${seed}`).toContain(sequence);
    await again.host.advance(60_000);
    const left = (await found.fetch({ member: "m" })).map(({ sequence }) => sequence);
    expect(
      [...sent, ...left].toSorted((a, b) => a - b),
      `seed ${seed}`,
    ).toEqual([3, 4, 5, 6]);
    await again.close();
  }
});
