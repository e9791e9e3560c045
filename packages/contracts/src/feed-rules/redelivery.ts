import {
  claim,
  deliveriesOf,
  fetched,
  figures,
  groupOver,
  holds,
  many,
  one,
  refused,
  same,
  sequences,
} from "./claim.ts";
import type { FeedRule } from "./subject.ts";

export const redeliveryRules: readonly FeedRule[] = [
  claim("a message whose lease is over is delivered again, the first one first", async (subject) => {
    const group = await groupOver(subject, many(5), { leaseSeconds: 10 });
    await group.fetch({ member: "m", limit: 2 });
    await subject.advance(9_000);
    await group.fetch({ member: "m", limit: 1 });
    same("before it is over", await fetched(group, "n", 1), [4]);
    await subject.advance(1_000);
    same("in order, before new ones", deliveriesOf(await group.fetch({ member: "n" })), [
      [1, 2],
      [2, 2],
      [5, 1],
    ]);
    await subject.advance(9_000);
    same("each by its own lease", deliveriesOf(await group.fetch({ member: "n" })), [
      [3, 2],
      [4, 2],
    ]);
  }),

  claim("a late acknowledgement of an earlier delivery is refused", async (subject) => {
    const group = await groupOver(subject, many(2), { leaseSeconds: 1 });
    const late = await one(group);
    await subject.advance(1_000);
    const again = await one(group, "n");
    same("the same message", [again.sequence, again.deliveries], [1, 2]);
    for (const [what, call] of Object.entries({
      ack: () => late.ack(),
      nack: () => late.nack(),
      extend: () => late.extend(),
      park: () => late.park("no"),
      "ack of several": () => group.ack([late]),
    })) {
      const { data } = await refused("LEASE_LOST", what, call);
      same(`what ${what} says`, data["sequence"], 1);
    }
    await again.ack();
    await refused("LEASE_LOST", "after the other one's", () => late.ack());
    same("figures", await figures(group), [1, 1, 0, 0, 1]);
  }),

  claim("a lease that is over ends nothing as long as nobody else got the message", async (subject) => {
    const group = await groupOver(subject, many(2), { leaseSeconds: 1 });
    const [first, second] = await group.fetch({ member: "m" });
    await subject.advance(2_000);
    await first?.ack();
    await second?.extend(5);
    same("nothing is delivered again", await fetched(group, "n"), []);
    same("figures", await figures(group), [1, 2, 1, 0, 1]);
  }),

  claim("of several of which one is lost, none is acknowledged", async (subject) => {
    const group = await groupOver(subject, many(3), { leaseSeconds: 1 });
    const messages = await group.fetch({ member: "m" });
    await subject.advance(1_000);
    const again = await group.fetch({ member: "n", limit: 1 });
    const { data } = await refused("LEASE_LOST", "ack", () => group.ack(messages));
    same("which", data["sequence"], 1);
    same("figures", (await figures(group))[0], 0);
    await group.ack([...again, ...messages.slice(1)]);
    same("afterwards", await figures(group), [3, 3, 0, 0, 0]);
  }),

  claim("a message that is given back is delivered again, at once or later", async (subject) => {
    const group = await groupOver(subject, many(3), { leaseSeconds: 100 });
    const [first, second] = await group.fetch({ member: "m", limit: 2 });
    await second?.nack();
    await first?.nack({ delaySeconds: 30 });
    same("figures", await figures(group), [0, 2, 0, 2, 3]);
    same("at once, before new ones", deliveriesOf(await group.fetch({ member: "n" })), [
      [2, 2],
      [3, 1],
    ]);
    await refused("LEASE_LOST", "an ack of what was given back", () => first?.ack());
    await subject.advance(29_999);
    same("not yet", await fetched(group), []);
    await subject.advance(1);
    same("later", deliveriesOf(await group.fetch({ member: "m" })), [[1, 2]]);
  }),

  claim("a lease can be made longer", async (subject) => {
    const group = await groupOver(subject, many(1), { leaseSeconds: 10 });
    const message = await one(group);
    await subject.advance(8_000);
    const until = await message.extend();
    holds(Math.abs(until - (subject.now() + 10_000)) <= 1_000, `until ${until - subject.now()} from now`);
    await subject.advance(8_000);
    await message.extend(60);
    await subject.advance(50_000);
    same("still out", await fetched(group, "n"), []);
    await message.ack();
    same("figures", await figures(group), [1, 1, 0, 0, 0]);
  }),

  claim("a fetch may want another lease", async (subject) => {
    const group = await groupOver(subject, many(1), { leaseSeconds: 60 });
    await group.fetch({ member: "m", leaseSeconds: 0.5 });
    await subject.advance(500);
    same("over", await fetched(group), [1]);
    await subject.advance(500);
    same("the next one's is the group's", await fetched(group), []);
  }),

  claim("what was delivered too often is parked, with the reason, and holds nobody up", async (subject) => {
    const group = await groupOver(subject, many(3), { maxDeliver: 2, leaseSeconds: 1 });
    await (await one(group)).nack({ reason: "first" });
    await (await one(group)).nack({ reason: "second" });
    const [parked] = await group.parked();
    same("parked", [parked?.sequence, parked?.deliveries, parked?.reason], [1, 2, "second"]);
    holds(Math.abs((parked?.parkedAt ?? 0) - subject.now()) <= 1_000, `parked at ${parked?.parkedAt}`);
    same("record", parked?.record === undefined ? 0 : subject.feed.source.sequenceOf(parked.record), 1);
    same("others", await fetched(group), [2, 3]);
    await subject.advance(1_000);
    await group.fetch({ member: "m" });
    await subject.advance(1_000);
    same("nothing more is delivered", await fetched(group), []);
    same("by leases that were over", sequences(await group.parked()), [1, 2, 3]);
    same("figures", await figures(group), [3, 3, 0, 0, 0]);
    same("in the lot", (await group.info()).parked, 3);
  }),

  claim("a message can be parked on purpose", async (subject) => {
    const group = await groupOver(subject, many(2));
    const message = await one(group);
    await message.park("can't be read");
    await refused("LEASE_LOST", "an ack of it", () => message.ack());
    const [parked] = await group.parked();
    same("parked", [parked?.sequence, parked?.deliveries, parked?.reason], [1, 1, "can't be read"]);
    same("figures", await figures(group), [1, 1, 0, 0, 1]);
  }),

  claim("what is parked can be delivered again, or given up", async (subject) => {
    const group = await groupOver(subject, many(4), { maxDeliver: 1 });
    for (const message of await group.fetch({ member: "m" })) await message.nack({ reason: "no" });
    same("a page of the lot", sequences(await group.parked({ after: 1, limit: 2 })), [2, 3]);
    const { data } = await refused("NOT_FOUND", "replay", () => group.replay([2, 9]));
    same("which", data["sequence"], 9);
    same("nothing was replayed", sequences(await group.parked()), [1, 2, 3, 4]);
    same("replayed", await group.replay([3, 2]), 2);
    same("delivered from the start", deliveriesOf(await group.fetch({ member: "m" })), [
      [2, 1],
      [3, 1],
    ]);
    await refused("NOT_FOUND", "discard", () => group.discard([2]));
    same("given up", await group.discard([1]), 1);
    same("all the rest", await group.replay(), 1);
    same("in the lot", await group.parked(), []);
    same("the last", await fetched(group), [4]);
    same("none to give up", await group.discard(), 0);
  }),

  claim("a message that is replayed doesn't move the committed place back", async (subject) => {
    const group = await groupOver(subject, many(2), { maxDeliver: 1 });
    for (const message of await group.fetch({ member: "m" })) await message.nack({ reason: "no" });
    await group.replay([1]);
    const message = await one(group);
    same("out", await figures(group), [2, 2, 1, 0, 1]);
    await message.ack();
    same("done", await figures(group), [2, 2, 0, 0, 0]);
  }),

  claim("a member that leaves gives back what it holds", async (subject) => {
    const group = await groupOver(subject, many(4));
    const held = await group.fetch({ member: "m", limit: 2 });
    const others = await group.fetch({ member: "n", limit: 1 });
    same("given back", await group.leave("m"), 2);
    same("a second time", await group.leave("m"), 0);
    await refused("LEASE_LOST", "an ack of it", () => held[0]?.ack());
    same("to others, at once", deliveriesOf(await group.fetch({ member: "n" })), [
      [1, 2],
      [2, 2],
      [4, 1],
    ]);
    await others[0]?.ack();
  }),

  claim("at the end of its last lease a message is parked, whether anybody looks or not", async (subject) => {
    const group = await groupOver(subject, many(4), { maxDeliver: 1, leaseSeconds: 1 });
    const [first, second, third, fourth] = await group.fetch({ member: "m" });
    await first?.extend(10);
    await subject.advance(1_000);
    await refused("LEASE_LOST", "an ack", () => second?.ack());
    await refused("LEASE_LOST", "a nack", () => third?.nack());
    await refused("LEASE_LOST", "another lease", () => fourth?.extend());
    await refused("LEASE_LOST", "acks", () => group.ack([first, second].flatMap((message) => message ?? [])));
    same("parked", sequences(await group.parked()), [2, 3, 4]);
    await first?.ack();
    same("figures", await figures(group), [4, 4, 0, 0, 0]);
  }),

  claim("a member that leaves gives back what it held too long, too", async (subject) => {
    const group = await groupOver(subject, many(2), { leaseSeconds: 1 });
    const [first] = await group.fetch({ member: "m" });
    await subject.advance(1_000);
    same("given back", await group.leave("m"), 2);
    await refused("LEASE_LOST", "an ack of it", () => first?.ack());
    same("a second time", await group.leave("m"), 0);
  }),

  claim("what is given back before its turn comes goes first, the earliest first", async (subject) => {
    const group = await groupOver(subject, many(5), { leaseSeconds: 10 });
    const messages = await group.fetch({ member: "m", limit: 4 });
    await messages[3]?.nack();
    await messages[1]?.nack({ delaySeconds: 1 });
    await messages[0]?.nack();
    same("first", await fetched(group, "n", 1), [1]);
    await subject.advance(1_000);
    same("then", await fetched(group, "n"), [2, 4, 5]);
  }),
];
