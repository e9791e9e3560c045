import type { ConsumerGroup, Feed } from "@ehdb/contracts";
import { referenceEventLog } from "@ehdb/eventlog";
import { eventLogSource, feedMetrics, prometheusContentType, referenceFeed } from "@ehdb/feed";
import type { FeedShard } from "@ehdb/feed";
import { simulatedHost } from "@ehdb/host";
import { expect, test } from "vitest";

interface Stage {
  readonly feed: Feed<unknown>;
  readonly append: (events: number) => Promise<void>;
  readonly advance: (millis: number) => Promise<void>;
}

/** A feed over a log in memory, with so many events. */
async function stage(events = 0): Promise<Stage> {
  const host = simulatedHost({ seed: 1 });
  const log = await referenceEventLog({ host });
  const feed: Feed<unknown> = referenceFeed({ source: eventLogSource(log), host });
  const append = async (count: number): Promise<void> => {
    for (let event = 0; event < count; event++) await log.append("orders", { type: "placed" });
  };
  await append(events);
  return { feed, append, advance: (millis) => host.advance(millis) };
}

/** Makes a group that has acknowledged the first events, and has the next ones in flight. */
async function groupAt(feed: Feed<unknown>, name: string, done: number, inFlight = 0): Promise<ConsumerGroup<unknown>> {
  const group = await feed.createGroup(name);
  if (done > 0) await group.ack(await group.fetch({ member: "m", limit: done }));
  if (inFlight > 0) await group.fetch({ member: "m", limit: inFlight });
  return group;
}

/** The lines of a text that begin like this, HELP and TYPE left out. */
const linesOf = (text: string, start: string): string[] => text.split("\n").filter((line) => line.startsWith(start));

/** What is said of one group of each shard, and of them together. */
const told = (text: string): string[] => [...linesOf(text, "ehdb_feed_shard_"), ...linesOf(text, "ehdb_feed_total_")];

/** The figures of the one group that there is, by name. */
async function figures(feed: Feed<unknown>): Promise<Record<string, number>> {
  const lines = linesOf(await feedMetrics([{ shard: "0", feed }]), "ehdb_feed_group_");
  return Object.fromEntries(
    lines.map((line) => {
      const [, name = line, value] = /^ehdb_feed_group_(\w+)\{shard="0",group="g"\} (\d+)$/.exec(line) ?? [];
      return [name, Number(value)];
    }),
  );
}

test("one shard: one group's figures as a scaler looks for them, then every group's", async () => {
  const { feed } = await stage(52);
  await groupAt(feed, "mailers", 42, 4);
  await groupAt(feed, "audit", 51);
  expect(prometheusContentType).toBe("text/plain; version=0.0.4; charset=utf-8");
  expect(await feedMetrics([{ shard: "0", feed }])).toBe(`\
# HELP ehdb_feed_shard_lag Sequences not looked at yet, and messages in flight or waiting, of the shard's group.
# TYPE ehdb_feed_shard_lag gauge
ehdb_feed_shard_lag{shard="0"} 10
# HELP ehdb_feed_shard_committed The sequence up to which the shard's group is done.
# TYPE ehdb_feed_shard_committed gauge
ehdb_feed_shard_committed{shard="0"} 42
# HELP ehdb_feed_shard_inflight Messages under a lease, of the shard's group.
# TYPE ehdb_feed_shard_inflight gauge
ehdb_feed_shard_inflight{shard="0"} 4
# HELP ehdb_feed_total_lag The lags of the shards, summed.
# TYPE ehdb_feed_total_lag gauge
ehdb_feed_total_lag 10
# HELP ehdb_feed_total_inflight Messages under a lease, of all the shards.
# TYPE ehdb_feed_total_inflight gauge
ehdb_feed_total_inflight 4
# HELP ehdb_feed_group_lag Sequences not looked at yet, and messages in flight or waiting.
# TYPE ehdb_feed_group_lag gauge
ehdb_feed_group_lag{shard="0",group="audit"} 1
ehdb_feed_group_lag{shard="0",group="mailers"} 10
# HELP ehdb_feed_group_committed The sequence up to which the group is done.
# TYPE ehdb_feed_group_committed gauge
ehdb_feed_group_committed{shard="0",group="audit"} 51
ehdb_feed_group_committed{shard="0",group="mailers"} 42
# HELP ehdb_feed_group_delivered The sequence up to which all was delivered, or waits for that.
# TYPE ehdb_feed_group_delivered gauge
ehdb_feed_group_delivered{shard="0",group="audit"} 51
ehdb_feed_group_delivered{shard="0",group="mailers"} 46
# HELP ehdb_feed_group_in_flight Messages under a lease.
# TYPE ehdb_feed_group_in_flight gauge
ehdb_feed_group_in_flight{shard="0",group="audit"} 0
ehdb_feed_group_in_flight{shard="0",group="mailers"} 4
# HELP ehdb_feed_group_waiting Messages that wait to be delivered again, or behind another one.
# TYPE ehdb_feed_group_waiting gauge
ehdb_feed_group_waiting{shard="0",group="audit"} 0
ehdb_feed_group_waiting{shard="0",group="mailers"} 0
# HELP ehdb_feed_group_parked Messages in the parking lot.
# TYPE ehdb_feed_group_parked gauge
ehdb_feed_group_parked{shard="0",group="audit"} 0
ehdb_feed_group_parked{shard="0",group="mailers"} 0
# HELP ehdb_feed_group_paused 1 while the group is paused, else 0.
# TYPE ehdb_feed_group_paused gauge
ehdb_feed_group_paused{shard="0",group="audit"} 0
ehdb_feed_group_paused{shard="0",group="mailers"} 0
`);
});

test("two shards: each tells of its slowest group, and the totals are over both", async () => {
  const [one, other] = [await stage(9), await stage(5)];
  await groupAt(one.feed, "audit", 8);
  await groupAt(one.feed, "mailers", 2, 3);
  await (await groupAt(other.feed, "audit", 1, 2)).pause();
  await groupAt(other.feed, "mailers", 4);
  const shards = [
    { shard: "1", feed: other.feed },
    { shard: "0", feed: one.feed },
  ];
  expect(await feedMetrics(shards)).toBe(`\
# HELP ehdb_feed_shard_lag Sequences not looked at yet, and messages in flight or waiting, of the shard's group.
# TYPE ehdb_feed_shard_lag gauge
ehdb_feed_shard_lag{shard="0"} 7
ehdb_feed_shard_lag{shard="1"} 4
# HELP ehdb_feed_shard_committed The sequence up to which the shard's group is done.
# TYPE ehdb_feed_shard_committed gauge
ehdb_feed_shard_committed{shard="0"} 2
ehdb_feed_shard_committed{shard="1"} 1
# HELP ehdb_feed_shard_inflight Messages under a lease, of the shard's group.
# TYPE ehdb_feed_shard_inflight gauge
ehdb_feed_shard_inflight{shard="0"} 3
ehdb_feed_shard_inflight{shard="1"} 2
# HELP ehdb_feed_total_lag The lags of the shards, summed.
# TYPE ehdb_feed_total_lag gauge
ehdb_feed_total_lag 11
# HELP ehdb_feed_total_inflight Messages under a lease, of all the shards.
# TYPE ehdb_feed_total_inflight gauge
ehdb_feed_total_inflight 5
# HELP ehdb_feed_group_lag Sequences not looked at yet, and messages in flight or waiting.
# TYPE ehdb_feed_group_lag gauge
ehdb_feed_group_lag{shard="0",group="audit"} 1
ehdb_feed_group_lag{shard="0",group="mailers"} 7
ehdb_feed_group_lag{shard="1",group="audit"} 4
ehdb_feed_group_lag{shard="1",group="mailers"} 1
# HELP ehdb_feed_group_committed The sequence up to which the group is done.
# TYPE ehdb_feed_group_committed gauge
ehdb_feed_group_committed{shard="0",group="audit"} 8
ehdb_feed_group_committed{shard="0",group="mailers"} 2
ehdb_feed_group_committed{shard="1",group="audit"} 1
ehdb_feed_group_committed{shard="1",group="mailers"} 4
# HELP ehdb_feed_group_delivered The sequence up to which all was delivered, or waits for that.
# TYPE ehdb_feed_group_delivered gauge
ehdb_feed_group_delivered{shard="0",group="audit"} 8
ehdb_feed_group_delivered{shard="0",group="mailers"} 5
ehdb_feed_group_delivered{shard="1",group="audit"} 3
ehdb_feed_group_delivered{shard="1",group="mailers"} 4
# HELP ehdb_feed_group_in_flight Messages under a lease.
# TYPE ehdb_feed_group_in_flight gauge
ehdb_feed_group_in_flight{shard="0",group="audit"} 0
ehdb_feed_group_in_flight{shard="0",group="mailers"} 3
ehdb_feed_group_in_flight{shard="1",group="audit"} 2
ehdb_feed_group_in_flight{shard="1",group="mailers"} 0
# HELP ehdb_feed_group_waiting Messages that wait to be delivered again, or behind another one.
# TYPE ehdb_feed_group_waiting gauge
ehdb_feed_group_waiting{shard="0",group="audit"} 0
ehdb_feed_group_waiting{shard="0",group="mailers"} 0
ehdb_feed_group_waiting{shard="1",group="audit"} 0
ehdb_feed_group_waiting{shard="1",group="mailers"} 0
# HELP ehdb_feed_group_parked Messages in the parking lot.
# TYPE ehdb_feed_group_parked gauge
ehdb_feed_group_parked{shard="0",group="audit"} 0
ehdb_feed_group_parked{shard="0",group="mailers"} 0
ehdb_feed_group_parked{shard="1",group="audit"} 0
ehdb_feed_group_parked{shard="1",group="mailers"} 0
# HELP ehdb_feed_group_paused 1 while the group is paused, else 0.
# TYPE ehdb_feed_group_paused gauge
ehdb_feed_group_paused{shard="0",group="audit"} 0
ehdb_feed_group_paused{shard="0",group="mailers"} 0
ehdb_feed_group_paused{shard="1",group="audit"} 1
ehdb_feed_group_paused{shard="1",group="mailers"} 0
`);
});

test("the group that is named is told of, and a shard without it is left out of shards and totals only", async () => {
  const [one, other, empty] = [await stage(9), await stage(5), await stage(3)];
  await groupAt(one.feed, "audit", 8, 1);
  await groupAt(one.feed, "mailers", 2, 3);
  await groupAt(other.feed, "mailers", 4);
  const shards = [one, other, empty].map(({ feed }, shard) => ({ shard: `${shard}`, feed }));
  const text = await feedMetrics(shards, { group: "audit" });
  expect(told(text)).toEqual([
    'ehdb_feed_shard_lag{shard="0"} 1',
    'ehdb_feed_shard_committed{shard="0"} 8',
    'ehdb_feed_shard_inflight{shard="0"} 1',
    "ehdb_feed_total_lag 1",
    "ehdb_feed_total_inflight 1",
  ]);
  expect(linesOf(text, "ehdb_feed_group_lag")).toEqual([
    'ehdb_feed_group_lag{shard="0",group="audit"} 1',
    'ehdb_feed_group_lag{shard="0",group="mailers"} 7',
    'ehdb_feed_group_lag{shard="1",group="mailers"} 1',
  ]);
});

test("a group that no shard has is NOT_FOUND", async () => {
  const { feed } = await stage();
  const shards = [{ shard: "0", feed }];
  const missing = { code: "NOT_FOUND", data: { group: "mailer" } };
  await expect(feedMetrics(shards, { group: "mailer" })).rejects.toMatchObject(missing);
  await groupAt(feed, "mailers", 0);
  await expect(feedMetrics(shards, { group: "mailer" })).rejects.toMatchObject(missing);
});

test("of several groups with the most lag the first by name is told of", async () => {
  const { feed } = await stage(4);
  await groupAt(feed, "c", 0, 3);
  await groupAt(feed, "b", 0, 2);
  await groupAt(feed, "a", 1);
  expect(linesOf(await feedMetrics([{ shard: "0", feed }]), "ehdb_feed_shard_inflight")).toEqual([
    'ehdb_feed_shard_inflight{shard="0"} 2',
  ]);
});

test("a shard without groups has nothing to do, beside others too", async () => {
  const [empty, other] = [await stage(3), await stage(2)];
  const text = await feedMetrics([{ shard: "0", feed: empty.feed }]);
  expect(told(text)).toEqual([
    'ehdb_feed_shard_lag{shard="0"} 0',
    'ehdb_feed_shard_committed{shard="0"} 0',
    'ehdb_feed_shard_inflight{shard="0"} 0',
    "ehdb_feed_total_lag 0",
    "ehdb_feed_total_inflight 0",
  ]);
  expect(linesOf(text, "ehdb_feed_group_")).toEqual([]);
  await groupAt(other.feed, "g", 1);
  const both = await feedMetrics([
    { shard: "0", feed: empty.feed },
    { shard: "1", feed: other.feed },
  ]);
  expect(linesOf(both, "ehdb_feed_shard_lag")).toEqual([
    'ehdb_feed_shard_lag{shard="0"} 0',
    'ehdb_feed_shard_lag{shard="1"} 1',
  ]);
});

test("names with quotes, backslashes and newlines are escaped", async () => {
  const { feed } = await stage();
  await groupAt(feed, 'a "b" \\n\nc\\', 0);
  const text = await feedMetrics([{ shard: 'x"\\"\n\n', feed }]);
  expect(linesOf(text, "ehdb_feed_shard_lag")).toEqual([String.raw`ehdb_feed_shard_lag{shard="x\"\\\"\n\n"} 0`]);
  expect(linesOf(text, "ehdb_feed_group_lag")).toEqual([
    String.raw`ehdb_feed_group_lag{shard="x\"\\\"\n\n",group="a \"b\" \\n\nc\\"} 0`,
  ]);
});

test("each figure is moved by what should move it", async () => {
  const { feed, append, advance } = await stage();
  const group = await feed.createGroup("g", { leaseSeconds: 10, maxDeliver: 2 });
  const still = { lag: 0, committed: 0, delivered: 0, in_flight: 0, waiting: 0, parked: 0, paused: 0 };
  expect(await figures(feed)).toEqual(still);
  await append(5);
  expect(await figures(feed)).toEqual({ ...still, lag: 5 });
  const [first, second, third] = await group.fetch({ member: "m", limit: 3 });
  expect(await figures(feed)).toEqual({ ...still, lag: 5, delivered: 3, in_flight: 3 });
  await first?.ack();
  expect(await figures(feed)).toEqual({ ...still, lag: 4, committed: 1, delivered: 3, in_flight: 2 });
  await second?.nack();
  expect(await figures(feed)).toEqual({ ...still, lag: 4, committed: 1, delivered: 3, in_flight: 1, waiting: 1 });
  await third?.park("not now");
  const parked = { ...still, lag: 3, committed: 1, delivered: 3, parked: 1 };
  expect(await figures(feed)).toEqual({ ...parked, waiting: 1 });
  await group.fetch({ member: "m", limit: 1 });
  expect(await figures(feed)).toEqual({ ...parked, in_flight: 1 });
  await advance(10_000);
  expect(await figures(feed)).toEqual({ ...parked, lag: 2, committed: 3, parked: 2 });
  await group.replay();
  expect(await figures(feed)).toEqual({ ...still, lag: 4, committed: 3, delivered: 3, waiting: 2 });
  await group.pause();
  expect(await figures(feed)).toMatchObject({ paused: 1 });
  await group.resume();
  expect(await figures(feed)).toMatchObject({ paused: 0 });
  await group.seek("end");
  expect(await figures(feed)).toEqual({ ...still, lag: 2, committed: 5, delivered: 5, waiting: 2 });
  await group.ack(await group.fetch({ member: "m" }));
  expect(await figures(feed)).toEqual({ ...still, committed: 5, delivered: 5 });
});

test.each([
  ["numbers", ["10", "9", "2", "18446744073709551616", "18446744073709551615"], [2, 1, 0, 4, 3]],
  ["names", ["b", "10", "a", "B", "9"], [1, 4, 3, 2, 0]],
  ["by UTF-16", ["\u{FF5E}", "\u{1F600}"], [1, 0]],
  ["of equal numbers", ["1", "01", "0"], [2, 1, 0]],
])("shards are in order: %s", async (_, names, order) => {
  const { feed } = await stage();
  await groupAt(feed, "g", 0);
  const text = await feedMetrics(names.map((shard) => ({ shard, feed })));
  const sorted = order.map((place) => names[place]);
  expect(linesOf(text, "ehdb_feed_shard_lag")).toEqual(
    sorted.map((shard) => `ehdb_feed_shard_lag{shard="${shard}"} 0`),
  );
  expect(linesOf(text, "ehdb_feed_group_lag")).toEqual(
    sorted.map((shard) => `ehdb_feed_group_lag{shard="${shard}",group="g"} 0`),
  );
});

test("no other family begins like one that scalers look for", async () => {
  const { feed } = await stage(1);
  await groupAt(feed, "g", 0);
  const lines = (await feedMetrics([{ shard: "0", feed }])).split("\n");
  for (const name of ["shard_lag", "shard_committed", "shard_inflight", "total_lag", "total_inflight"])
    expect(lines.filter((line) => line.startsWith(`ehdb_feed_${name}`)).length, name).toBe(1);
});

test("a scrape asks each feed for its groups, once, and for nothing else", async () => {
  const { feed } = await stage(2);
  await groupAt(feed, "g", 1);
  const asked: string[] = [];
  const watched = (shard: string): FeedShard => ({
    shard,
    feed: {
      groups: async () => {
        asked.push(shard);
        return await feed.groups();
      },
    },
  });
  await feedMetrics([watched("a"), watched("b")], { group: "g" });
  expect(asked).toEqual(["a", "b"]);
});

test("a feed that can't tell its groups fails the scrape, with its own error", async () => {
  const [one, other] = [await stage(), await stage()];
  await other.feed.close();
  const shards = [
    { shard: "0", feed: one.feed },
    { shard: "1", feed: other.feed },
  ];
  await expect(feedMetrics(shards)).rejects.toMatchObject({ code: "CLOSED" });
});

test.each([
  ["no list", "feed", "shards"],
  ["no shards", [], "shards"],
  ["no shard", [null], "shards[0].shard"],
  ["an empty name", [{ shard: "" }], "shards[0].shard"],
  ["a name that isn't text", [{ shard: 0 }], "shards[0].shard"],
  ["a name with half a character", [{ shard: "\u{D800}" }], "shards[0].shard"],
  ["no feed", [{ shard: "0", feed: {} }], "shards[0].feed"],
  ["a shard named twice", ["0", "1", "0"].map((shard) => ({ shard, feed: { groups: () => [] } })), "shards[2].shard"],
])("%s is INVALID_ARGUMENT", async (_, shards, argument) => {
  await expect(feedMetrics(shards as unknown as FeedShard[])).rejects.toMatchObject({
    code: "INVALID_ARGUMENT",
    data: { argument },
  });
});

test.each([
  ["an unknown one", { groups: "g" }, { option: "groups", suggestion: "group" }],
  ["no object", "g", { option: "options" }],
  ["an empty name", { group: "" }, { option: "group" }],
  ["a name that isn't text", { group: 1 }, { option: "group" }],
])("%s as option is INVALID_OPTION", async (_, options, data) => {
  const { feed } = await stage();
  await expect(feedMetrics([{ shard: "0", feed }], options as never)).rejects.toMatchObject({
    code: "INVALID_OPTION",
    data,
  });
});
