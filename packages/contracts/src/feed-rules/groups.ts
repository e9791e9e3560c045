import { claim, fetched, figures, groupOver, many, one, refused, same, sequences } from "./claim.ts";
import type { FeedRule } from "./subject.ts";

export const groupRules: readonly FeedRule[] = [
  claim("a group is made on purpose, and only once", async ({ feed }) => {
    await refused("NOT_FOUND", "group", () => feed.group("g"));
    await feed.createGroup("g", { leaseSeconds: 7, maxDeliver: 3, maxInFlight: 9, order: "key", subjects: ["a.*"] });
    await refused("ALREADY_EXISTS", "createGroup", () => feed.createGroup("g"));
    await feed.createGroup("f");
    const [f, g] = await feed.groups();
    same("groups", [f?.group, g?.group], ["f", "g"]);
    same("what it is like", g, await (await feed.group("g")).info());
    same("as it was made", g, {
      group: "g",
      subjects: ["a.*"],
      leaseSeconds: 7,
      maxDeliver: 3,
      maxInFlight: 9,
      order: "key",
      isPaused: false,
      committed: 0,
      delivered: 0,
      inFlight: 0,
      waiting: 0,
      lag: 0,
      parked: 0,
    });
    same("by itself", f, {
      group: "f",
      subjects: undefined,
      leaseSeconds: 30,
      maxDeliver: 5,
      maxInFlight: 100_000,
      order: "none",
      isPaused: false,
      committed: 0,
      delivered: 0,
      inFlight: 0,
      waiting: 0,
      lag: 0,
      parked: 0,
    });
  }),

  claim("a group begins where it is told to", async ({ feed, append, advance, now }) => {
    await append(...many(2).map((subject) => ({ subject })));
    await advance(1_000);
    const later = now();
    await append({ subject: "a" }, { subject: "a" });
    const begins = async (name: string, start: Parameters<typeof feed.createGroup>[1]): Promise<number[]> =>
      await fetched(await feed.createGroup(name, start));
    same("by itself", await begins("1", {}), [1, 2, 3, 4]);
    same("at the first", await begins("2", { start: "first" }), [1, 2, 3, 4]);
    same("at the end", await begins("3", { start: "end" }), []);
    same("at a sequence", await begins("4", { start: { sequence: 4 } }), [4]);
    same("behind the last", await begins("5", { start: { sequence: 5 } }), []);
    same("at a time", await begins("6", { start: { time: later } }), [3, 4]);
    same("at a time before all", await begins("7", { start: { time: 0 } }), [1, 2, 3, 4]);
    same("at a time behind all", await begins("8", { start: { time: later + 1e9 } }), []);
    same("beyond the end, as near as can be", await begins("9", { start: { sequence: 100, clamp: true } }), []);
    same("its place", await figures(await feed.group("3")), [4, 4, 0, 0, 0]);
    const { data } = await refused("OUT_OF_RANGE", "beyond the end", () =>
      feed.createGroup("no", { start: { sequence: 6 } }),
    );
    same("what it says", [data["sequence"], data["last"]], [6, 4]);
    await refused("NOT_FOUND", "a group that wasn't made", () => feed.group("no"));
    await append({ subject: "a" });
    same("from then on", await fetched(await feed.group("3")), [5]);
  }),

  claim("below what the source has, a start is refused, unless the nearest will do", async (subject) => {
    const { feed, append, dropBefore } = subject;
    const group = await groupOver(subject, many(5));
    await dropBefore(4);
    const { data } = await refused("COMPACTED", "start", () => feed.createGroup("h", { start: { sequence: 3 } }));
    same("what it says", data["first"], 4);
    same("the nearest", await fetched(await feed.createGroup("i", { start: { sequence: 3, clamp: true } })), [4, 5]);
    same("the first", await fetched(await feed.createGroup("j")), [4, 5]);
    await refused("COMPACTED", "a group that hasn't seen what is gone", () => group.fetch({ member: "m" }));
    same("it says so itself", (await figures(group))[1], 0);
    await refused("COMPACTED", "seek", () => group.seek({ sequence: 1 }));
    same("moved", await group.seek("first"), 4);
    same("and on", await fetched(group), [4, 5]);
    await append({ subject: "a" });
    same("and on", await fetched(group), [6]);
  }),

  claim("what is gone from the source and was in flight isn't delivered again", async (subject) => {
    const group = await groupOver(subject, many(3), { leaseSeconds: 1, maxDeliver: 2 });
    const [first] = await group.fetch({ member: "m" });
    await subject.dropBefore(3);
    await first?.ack();
    await subject.advance(1_000);
    same("what is there", await fetched(group), [3]);
    same("figures", await figures(group), [2, 3, 1, 0, 1]);
  }),

  claim("a group can be moved, and earlier deliveries end with that", async (subject) => {
    const group = await groupOver(subject, many(5), { maxDeliver: 1 });
    const [first, second] = await group.fetch({ member: "m" });
    await second?.park("no");
    same("back", await group.seek({ sequence: 3 }), 3);
    await refused("LEASE_LOST", "an ack", () => first?.ack());
    same("figures", await figures(group), [2, 2, 0, 0, 3]);
    same("what is parked stays", sequences(await group.parked()), [2]);
    same("counted anew", (await one(group)).deliveries, 1);
    same("to the end", await group.seek("end"), 6);
    same("figures", await figures(group), [5, 5, 0, 0, 0]);
    same("to the first", await group.seek("first"), 1);
    same("what is parked isn't delivered by that", await fetched(group), [1, 3, 4, 5]);
    await refused("OUT_OF_RANGE", "beyond the end", () => group.seek({ sequence: 7 }));
    same("nothing has moved", (await figures(group))[1], 5);
  }),

  claim("a group that is paused delivers nothing, and takes acknowledgements", async (subject) => {
    const group = await groupOver(subject, many(2));
    const message = await one(group);
    await group.pause();
    await group.pause();
    same("paused", [(await group.info()).isPaused, await fetched(group)], [true, []]);
    await message.ack();
    await group.resume();
    same("resumed", [(await group.info()).isPaused, await fetched(group)], [false, [2]]);
  }),

  claim("what a group is like can be changed", async (subject) => {
    const group = await groupOver(subject, ["a", "b", "a", "b"], { maxInFlight: 1 });
    await one(group);
    const info = await group.update({ maxInFlight: 10, subjects: ["b"], maxDeliver: Infinity });
    same("changed", [info.maxInFlight, info.subjects, info.maxDeliver, info.leaseSeconds], [10, ["b"], Infinity, 30]);
    same("from then on", await fetched(group), [2, 4]);
    await refused("INVALID_OPTION", "start", () => group.update({ start: "first" } as object));
  }),

  claim("a group is deleted on purpose, and what is pending only when it's said", async (subject) => {
    const { feed } = subject;
    const group = await groupOver(subject, many(3), { maxDeliver: 1 });
    const [first, second, third] = await group.fetch({ member: "m" });
    await second?.nack();
    const { data } = await refused("CONFLICT", "deleteGroup", () => feed.deleteGroup("g"));
    same("what is pending", [data["inFlight"], data["waiting"], data["parked"]], [2, 0, 1]);
    await first?.ack();
    await feed.deleteGroup("g", { pending: "drop" });
    same("groups", await feed.groups(), []);
    await refused("LEASE_LOST", "an ack of it", () => third?.ack());
    await refused("NOT_FOUND", "a fetch", () => group.fetch({ member: "m" }));
    await refused("NOT_FOUND", "again", () => feed.deleteGroup("g"));
    const again = await feed.createGroup("g");
    same("another one of its name", await fetched(again), [1, 2, 3]);
    await refused("LEASE_LOST", "an ack of the old one's", () => third?.ack());
    await feed.createGroup("h");
    await feed.deleteGroup("h");
  }),

  claim("the end is where it was when it was asked for", async (subject) => {
    const group = await groupOver(subject, many(2));
    const before = group.fetch({ member: "m" });
    const calls = [group.seek("end"), subject.feed.createGroup("h", { start: "end" })] as const;
    await subject.append({ subject: "a" });
    const [to, other] = await Promise.all(calls);
    await before;
    same("moved to", to, 3);
    same("what came after", await fetched(group), [3]);
    same("for a new one", await fetched(other), [3]);
  }),

  claim("a group that is moved goes on with what was replayed, and not with what is parked", async (subject) => {
    const group = await groupOver(subject, many(4), { maxDeliver: 1 });
    for (const message of await group.fetch({ member: "m" })) await message.park("no");
    await group.replay([1, 3]);
    const first = await one(group);
    await group.seek({ sequence: 3 });
    await refused("LEASE_LOST", "an ack of before", () => first.ack());
    same("figures", await figures(group), [2, 2, 0, 2, 4]);
    const again = await group.fetch({ member: "m" });
    same("each once", sequences(again), [1, 3]);
    await group.ack(again);
    same("parked", sequences(await group.parked()), [2, 4]);
    same("figures", await figures(group), [4, 4, 0, 0, 0]);
    await group.seek({ sequence: 1 });
    await group.discard([4]);
    await group.replay([2]);
    await (await one(group)).ack();
    same("what is done with isn't met again", await fetched(group), [1, 3]);
  }),
];
