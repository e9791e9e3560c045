import { EhdbError } from "@ehdb/contracts";
import type { Feed, FeedState, FeedStateChange, LogRecord } from "@ehdb/contracts";
import { feedDatasets, feedOn, logSource, openFeed, statefulFeed } from "@ehdb/feed";
import { simulatedHost } from "@ehdb/host";
import type { SimulatedHost } from "@ehdb/host";
import { openEngine } from "@ehdb/l0";
import type { DurableEngine } from "@ehdb/l0";
import { expect, test } from "vitest";

const machine = simulatedHost;
const LOG = "jobs";

/** A store of keys and values whose writes are seen, held up, or fail. */
class Kept implements FeedState {
  readonly epoch = 1;
  readonly values = new Map<string, string>();
  readonly writes: (readonly FeedStateChange[])[] = [];
  /** What there was after each. */
  readonly pieces: (readonly (readonly [string, string])[])[] = [];
  failure: Error | undefined;
  underway = 0;
  mostUnderway = 0;

  async *load(): AsyncGenerator<{ readonly key: string; readonly value: Uint8Array }[]> {
    yield [...this.values].map(([key, value]) => ({ key, value: Buffer.from(value) }));
  }

  async write(changes: readonly FeedStateChange[]): Promise<void> {
    this.mostUnderway = Math.max(this.mostUnderway, ++this.underway);
    await new Promise((resolve) => setImmediate(resolve));
    this.underway--;
    if (this.failure !== undefined) throw this.failure;
    this.writes.push(changes);
    for (const { key, value } of changes) {
      if (value === undefined) this.values.delete(key);
      else this.values.set(key, Buffer.from(value).toString());
    }
    this.pieces.push([...this.values]);
  }
}

async function engineWith(host: SimulatedHost, records: number): Promise<DurableEngine> {
  const datasets = [{ name: LOG, order: "by-sort" } as const, ...feedDatasets];
  const engine = await openEngine({ dir: "/store", datasets, host });
  if (records > 0)
    await engine.commit((batch) => {
      for (let left = records; left > 0; left--) batch.append(LOG, "key", Buffer.from("job"));
    });
  return engine;
}

interface Stage {
  readonly host: SimulatedHost;
  readonly kept: Kept;
  readonly feed: Feed<LogRecord>;
  readonly again: () => Promise<Feed<LogRecord>>;
  readonly close: () => Promise<void>;
}

async function open(records: number): Promise<Stage> {
  const host = machine({ seed: 1 });
  const engine = await engineWith(host, records);
  const kept = new Kept();
  const again = (): Promise<Feed<LogRecord>> => statefulFeed({ source: logSource(engine, LOG), state: kept, host });
  return { host, kept, feed: await again(), again, close: () => engine.close().then(() => undefined) };
}

const sequences = (messages: readonly { readonly sequence: number }[]): number[] =>
  messages.map(({ sequence }) => sequence);

test("acknowledgements share writes, one at a time, and what is drained leaves only the group's head", async () => {
  const { kept, feed, close } = await open(5000);
  const group = await feed.createGroup("g");
  const acks: Promise<void>[] = [];
  for (;;) {
    const messages = await group.fetch({ member: "m", limit: 100 });
    if (messages.length === 0) break;
    for (const message of messages) acks.push(message.ack());
  }
  await Promise.all(acks);
  expect(kept.writes.length).toBeLessThan(60);
  expect(kept.mostUnderway).toBe(1);
  expect([...kept.values.keys()]).toEqual(["g/1"]);
  await feed.close();
  await close();
});

test("only the pages that changed are written", async () => {
  const { kept, feed, close } = await open(5000);
  const group = await feed.createGroup("g");
  const messages = await group.fetch({ member: "m", limit: 5000 });
  await group.ack(messages.slice(0, 1));
  kept.writes.length = 0;
  await messages[300]?.ack();
  await messages[301]?.nack({ delaySeconds: 9 });
  expect(kept.writes.flat().map(({ key }) => key)).toEqual(["p/1/1", "p/1/1"]);
  await feed.close();
  await close();
});

test("a write that failed is in force nevertheless, is said, and is made with the next one", async () => {
  const { kept, feed, again, close } = await open(3);
  const group = await feed.createGroup("g", { leaseSeconds: 5 });
  const [first, second] = await group.fetch({ member: "m", limit: 2 });
  kept.failure = new EhdbError("NO_SPACE", "the disk is full");
  await expect(first?.ack()).rejects.toMatchObject({ code: "NO_SPACE" });
  expect(await group.info()).toMatchObject({ committed: 1, inFlight: 1 });
  await expect(group.fetch({ member: "m" })).rejects.toMatchObject({ code: "NO_SPACE" });
  await expect(second?.park("no")).rejects.toMatchObject({ code: "NO_SPACE" });
  expect(await group.info()).toMatchObject({ committed: 2, inFlight: 0, lag: 1, parked: 1 });
  kept.failure = undefined;
  await first?.ack();
  expect(sequences(await group.fetch({ member: "m" }))).toEqual([3]);
  await feed.close();
  const found = await (await again()).group("g");
  expect(await found.info()).toMatchObject({ committed: 2, inFlight: 1, parked: 1 });
  await close();
});

test("a fetch that must be counted gives nothing when that can't be written", async () => {
  const { kept, feed, close } = await open(3);
  const group = await feed.createGroup("g");
  const failure = new EhdbError("IO_ERROR", "the disk");
  kept.failure = failure;
  await expect(group.fetch({ member: "m", limit: 2 })).rejects.toBe(failure);
  kept.failure = undefined;
  const messages = await group.fetch({ member: "m" });
  expect(messages.map(({ sequence, deliveries }) => [sequence, deliveries])).toEqual([
    [1, 1],
    [2, 1],
    [3, 1],
  ]);
  await feed.close();
  await close();
});

test("a group that can't be made isn't there, and one that can't be deleted is", async () => {
  const { kept, feed, close } = await open(3);
  kept.failure = new EhdbError("NO_SPACE", "the disk is full");
  await expect(feed.createGroup("g")).rejects.toMatchObject({ code: "NO_SPACE" });
  await expect(feed.group("g")).rejects.toMatchObject({ code: "NOT_FOUND" });
  kept.failure = undefined;
  const group = await feed.createGroup("g");
  kept.failure = new EhdbError("NO_SPACE", "the disk is full");
  await expect(feed.deleteGroup("g")).rejects.toMatchObject({ code: "NO_SPACE" });
  kept.failure = undefined;
  expect(sequences(await group.fetch({ member: "m" }))).toEqual([1, 2, 3]);
  await feed.deleteGroup("g", { pending: "drop" });
  expect(kept.values.size).toBe(0);
  await feed.close();
  await close();
});

test("much at once is written in pieces, and whatever of them is there makes a group that loses nothing", async () => {
  const { kept, feed, again, close } = await open(12_000);
  const group = await feed.createGroup("g", { maxInFlight: 20_000 });
  const messages = await group.fetch({ member: "m", limit: 12_000 });
  kept.writes.length = kept.pieces.length = 0;
  await Promise.all(messages.slice(0, 11_000).map((message) => message.park("x".repeat(1024))));
  const pieces = kept.writes.map((changes) =>
    changes.reduce((sum, { key, value }) => sum + key.length + (value?.length ?? 0), 0),
  );
  expect(pieces.length).toBe(2);
  expect(Math.max(...pieces)).toBeLessThanOrEqual(8 * 2 ** 20);
  await feed.close();
  // As if the process had ended before the second piece.
  kept.values.clear();
  for (const [key, value] of kept.pieces[0] ?? []) kept.values.set(key, value);
  const found = await (await again()).group("g");
  const { parked, inFlight } = await found.info();
  expect(parked).toBeGreaterThan(1000);
  expect(parked).toBeLessThan(11_000);
  expect(parked + inFlight).toBe(12_000);
  await close();
});

test("what can't be read is said when it's opened", async () => {
  const { kept, feed, again, close } = await open(3);
  await feed.createGroup("g");
  await feed.close();
  const head = kept.values.get("g/1") as string;
  kept.values.set("g/1", head.replace('"version":1', '"version":2'));
  await expect(again()).rejects.toMatchObject({ code: "UNSUPPORTED_VERSION", data: { key: "g/1" } });
  kept.values.set("g/1", "g");
  await expect(again()).rejects.toMatchObject({ code: "CORRUPT", data: { key: "g/1" } });
  kept.values.set("g/1", head);
  kept.values.set("x/1", "{}");
  await expect(again()).rejects.toMatchObject({ code: "CORRUPT", data: { key: "x/1" } });
  await close();
});

test("what is left of a group that was deleted goes with the next open", async () => {
  const { kept, feed, again, close } = await open(10);
  const group = await feed.createGroup("g");
  const [first] = await group.fetch({ member: "m" });
  await first?.park("no");
  await feed.close();
  expect([...kept.values.keys()].toSorted()).toEqual(["a/1/1", "g/1", "p/1/0"]);
  kept.values.delete("g/1");
  const opened = await again();
  expect([...kept.values.keys()]).toEqual([]);
  expect(await opened.groups()).toEqual([]);
  await opened.close();
  await close();
});

test("an acknowledgement that resolved survives a loss of power, and each delivery of what comes again is counted", async () => {
  let host = machine({ seed: 1 });
  let engine = await engineWith(host, 4);
  let feed = await feedOn(engine, { source: logSource(engine, LOG), host });
  const group = await feed.createGroup("g", { leaseSeconds: 1, maxDeliver: 4 });
  const [first] = await group.fetch({ member: "m" });
  await first?.ack();
  const seen: (readonly number[])[] = [];
  for (let times = 0; times < 4; times++) {
    host = host.crash("nothing");
    await host.advance(60_000);
    engine = await engineWith(host, 0);
    feed = await feedOn(engine, { source: logSource(engine, LOG), host });
    const messages = await (await feed.group("g")).fetch({ member: "m", limit: 3 });
    seen.push(messages.map(({ deliveries }) => deliveries));
  }
  // What takes its process down each time is parked in the end.
  expect(seen).toEqual([[2, 2, 2], [3, 3, 3], [4, 4, 4], []]);
  expect(sequences(await (await feed.group("g")).parked())).toEqual([2, 3, 4]);
  await feed.close();
  await engine.close();
});

test("a directory, and a feed's name on an engine, are one's at a time", async () => {
  const host = machine({ seed: 1 });
  const engine = await engineWith(host, 1);
  const source = logSource(engine, LOG);
  const feed = await feedOn(engine, { source, host });
  await expect(feedOn(engine, { source, host })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  const other = await feedOn(engine, { source, name: "other", host });
  await other.createGroup("g");
  expect(await feed.groups()).toEqual([]);
  await feed.close();
  const again = await feedOn(engine, { source, host });
  const own = await openFeed({ dir: "/groups", source, host });
  await expect(openFeed({ dir: "/groups", source, host })).rejects.toMatchObject({ code: "LOCKED" });
  for (const one of [again, other, own]) await one.close();
  for (const options of [{ source, name: "a/b" }, { source: {} }, { source, dir: "/x" }, {}])
    await expect(feedOn(engine, options as never)).rejects.toMatchObject({ code: "INVALID_OPTION" });
  await expect(feedOn({} as never, { source })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  await engine.close();
});

test("one message that nobody acknowledges holds up neither the others nor the memory", async () => {
  const { feed, kept, close } = await open(60_000);
  const group = await feed.createGroup("g", { leaseSeconds: 3600 });
  const [kept1] = await group.fetch({ member: "m", limit: 1 });
  for (;;) {
    const messages = await group.fetch({ member: "m" });
    if (messages.length === 0) break;
    await group.ack(messages);
  }
  expect(await group.info()).toMatchObject({ committed: 0, delivered: 60_000, lag: 1, inFlight: 1 });
  expect([...kept.values.keys()].toSorted()).toEqual(["g/1", "p/1/0"]);
  await kept1?.ack();
  expect(await group.info()).toMatchObject({ committed: 60_000, lag: 0 });
  await feed.close();
  await close();
});
