import { claim, deliveriesOf, fetched, figures, groupOver, holds, many, one, same, sequences } from "./claim.ts";
import type { FeedRule } from "./subject.ts";

export const fetchingRules: readonly FeedRule[] = [
  claim("each message goes to one member, in order", async (subject) => {
    const group = await groupOver(subject, many(7));
    same("the first", await fetched(group, "m", 3), [1, 2, 3]);
    same("another member", await fetched(group, "n", 2), [4, 5]);
    same("the rest", await fetched(group), [6, 7]);
    same("nothing is left", await fetched(group, "n"), []);
    same("figures", await figures(group), [0, 7, 7, 0, 7]);
  }),

  claim("a message has what its record has, and what its delivery is", async (subject) => {
    const group = await subject.feed.createGroup("g", { leaseSeconds: 10 });
    await subject.append({ subject: "a.b", key: "k" });
    const now = subject.now();
    const { sequence, subject: about, key, deliveries, leasedUntil, record, time } = await one(group);
    same("message", [sequence, about, key, deliveries], [1, "a.b", "k", 1]);
    const { source } = subject.feed;
    same("record", [source.sequenceOf(record), source.subjectOf(record), source.keyOf(record)], [1, "a.b", "k"]);
    same("time", time, source.timeOf(record));
    holds(leasedUntil >= now + 10_000 && leasedUntil <= subject.now() + 10_000, `leased until ${leasedUntil - now}`);
  }),

  claim("acknowledged messages are done with; others hold nobody up", async (subject) => {
    const group = await groupOver(subject, many(5));
    const messages = await group.fetch({ member: "m" });
    await messages[1]?.ack();
    await messages[3]?.ack();
    same("behind one that isn't", await figures(group), [0, 5, 3, 0, 3]);
    await messages[0]?.ack();
    same("up to the next one", await figures(group), [2, 5, 2, 0, 2]);
    await subject.append({ subject: "a" });
    same("what comes goes out", await fetched(group), [6]);
    await group.ack([messages[2], messages[4]].flatMap((message) => message ?? []));
    same("the rest", await figures(group), [5, 6, 1, 0, 1]);
  }),

  claim("several are acknowledged at once, and one twice is one", async (subject) => {
    const group = await groupOver(subject, many(4));
    const messages = await group.fetch({ member: "m" });
    await group.ack(messages.slice(0, 3));
    await messages[0]?.ack();
    await group.ack(messages.slice(1, 3));
    await group.ack([]);
    same("figures", await figures(group), [3, 4, 1, 0, 1]);
  }),

  claim("groups don't know of each other", async (subject) => {
    const group = await groupOver(subject, many(3));
    const other = await subject.feed.createGroup("h");
    for (const message of await group.fetch({ member: "m" })) await message.ack();
    same("one", await figures(group), [3, 3, 0, 0, 0]);
    same("the other", await figures(other), [0, 0, 0, 0, 3]);
    same("its messages", deliveriesOf(await other.fetch({ member: "m" })), [
      [1, 1],
      [2, 1],
      [3, 1],
    ]);
  }),

  claim("a fetch gives at most 2 000, unless more are asked for", async (subject) => {
    const group = await groupOver(subject, many(2100));
    same("by itself", (await fetched(group)).length, 2000);
    same("asked for", (await fetched(await subject.feed.createGroup("h"), "m", 2100)).length, 2100);
  }),

  claim("no more is out than may be", async (subject) => {
    const group = await groupOver(subject, many(6), { maxInFlight: 3 });
    const messages = await group.fetch({ member: "m" });
    same("out", sequences(messages), [1, 2, 3]);
    same("full", await fetched(group, "n"), []);
    await messages[1]?.ack();
    same("one more", await fetched(group, "n"), [4]);
    await messages[0]?.nack();
    same("what comes back goes first", await fetched(group, "n"), [1]);
    await messages[2]?.nack({ delaySeconds: 60 });
    same("one that waits counts, too", await fetched(group, "n"), []);
    await group.leave("n");
    await group.update({ maxInFlight: 1 });
    same("fewer from now on", await fetched(group, "n"), [1]);
  }),

  claim("only what the filter wants is delivered, and the place goes on over the rest", async (subject) => {
    const subjects = ["order.placed", "stock.low", "order", "order.paid.late", "stock.out", "order.paid"];
    const group = await groupOver(subject, subjects, { subjects: ["order.*", "stock.>"] });
    const messages = await group.fetch({ member: "m" });
    same("wanted", sequences(messages), [1, 2, 5, 6]);
    await group.ack(messages);
    same("figures", await figures(group), [6, 6, 0, 0, 0]);
    await subject.append({ subject: "none" }, { subject: "order.placed.late" });
    same("nothing that is wanted", await fetched(group), []);
    same("gone over", await figures(group), [8, 8, 0, 0, 0]);
    const all = await subject.feed.createGroup("all", { subjects: ["order.>"] });
    same("one token or more behind", await fetched(all), [1, 4, 6, 8]);
  }),

  claim("in order of keys, one of a key is out at a time", async (subject) => {
    const group = await subject.feed.createGroup("g", { order: "key", maxDeliver: 2 });
    const of = (...keys: readonly string[]): Promise<number> =>
      subject.append(...keys.map((key) => ({ subject: "s", key })));
    await of("a", "a", "b", "a", "c", "b");
    const first = await group.fetch({ member: "m" });
    same("one of each key", sequences(first), [1, 3, 5]);
    same("nothing for others", await fetched(group, "n"), []);
    await first[0]?.ack();
    same("the next of its key", await fetched(group, "n"), [2]);
    await first[1]?.nack({ delaySeconds: 5 });
    same("one that waits holds up its key", await fetched(group), []);
    await subject.advance(5000);
    const again = await group.fetch({ member: "m" });
    same("delivered again", deliveriesOf(again), [[3, 2]]);
    await again[0]?.nack({ reason: "no" });
    same("one that is parked doesn't", await fetched(group), [6]);
  }),

  claim("in order of keys, one that is replayed holds up its own key and no other", async (subject) => {
    const group = await subject.feed.createGroup("g", { order: "key", maxDeliver: 1 });
    for (const key of ["a", "b"]) await subject.append({ subject: "s", key });
    for (const message of await group.fetch({ member: "m" })) await message.park("no");
    await subject.append({ subject: "s", key: "a" });
    await group.replay();
    const again = await group.fetch({ member: "m" });
    same("one of each key", sequences(again), [1, 2]);
    await again[0]?.ack();
    same("then the next", await fetched(group), [3]);
  }),

  claim("in order of keys, an earlier one that is replayed goes before a later one that waits", async (subject) => {
    const group = await subject.feed.createGroup("g", { order: "key", maxDeliver: 3 });
    for (const key of ["a", "a", "b"]) await subject.append({ subject: "s", key });
    await (await one(group)).park("no");
    const [second, other] = await group.fetch({ member: "m" });
    same("the next of its key", [second?.sequence, other?.sequence], [2, 3]);
    await group.replay([1]);
    same("not while it's out", await fetched(group), []);
    await second?.nack({ delaySeconds: 60 });
    const first = await one(group);
    same("the earlier one", first.sequence, 1);
    await subject.advance(60_000);
    await first.extend();
    same("a later one waits for it", await fetched(group), [3]);
    await first.nack({ delaySeconds: 60 });
    same("also while that is delayed", await fetched(group), []);
    await subject.advance(60_000);
    const again = await group.fetch({ member: "m", limit: 2 });
    same("the earlier one again", sequences(again), [1, 3]);
    await again[0]?.park("no");
    same("then that", await fetched(group), [2]);
    await group.leave("m");
    await group.replay();
    same("not both", await fetched(group), [1, 3]);
  }),

  claim("a feed can be read without a group", async (subject) => {
    await subject.append({ subject: "a" }, { subject: "b.c" }, { subject: "b.d" }, { subject: "b.e" });
    const read = async (...options: Parameters<typeof subject.feed.read>): Promise<number[]> => {
      const found: number[] = [];
      for await (const batch of subject.feed.read(...options))
        found.push(...batch.map((record) => subject.feed.source.sequenceOf(record)));
      return found;
    };
    same("all", await read(), [1, 2, 3, 4]);
    same("some", await read({ after: 1, subjects: ["b.*"], limit: 2 }), [2, 3]);
    same("behind the end", await read({ after: 4 }), []);
  }),
];
