import type { FeedMessage, FeedStart, FetchOptions, GroupOptions } from "../feed.ts";
import { claim, fetched, groupOver, many, refused, same } from "./claim.ts";
import type { FeedRule } from "./subject.ts";

const long = "x".repeat(1025);

export const refusalRules: readonly FeedRule[] = [
  claim("wrong options of a group are refused, and nothing is made", async ({ feed }) => {
    const wrong: readonly object[] = [
      { leaseSeconds: 0 },
      { leaseSeconds: 86_401 },
      { leaseSeconds: Number.NaN },
      { maxDeliver: 0 },
      { maxDeliver: 1001 },
      { maxDeliver: 1.5 },
      { maxInFlight: 0 },
      { maxInFlight: 1_000_001 },
      { order: "stream" },
      { subjects: [] },
      { subjects: "a" },
      { subjects: [""] },
      { subjects: ["a..b"] },
      { subjects: ["a.>.b"] },
      { subjects: ["a*"] },
      { subjects: [long] },
      { start: "last" },
      { start: { sequence: 0 } },
      { start: { sequence: 1.5 } },
      { start: { time: "today" } },
      { start: { sequence: 1, time: 1 } },
      { start: {} },
      { start: null },
      { lease: 1 },
    ];
    for (const options of wrong)
      await refused("INVALID_OPTION", `createGroup(${JSON.stringify(options)})`, () => feed.createGroup("g", options));
    for (const name of ["", long, "\ud800", 7])
      await refused("INVALID_ARGUMENT", `createGroup(${JSON.stringify(name)})`, () => feed.createGroup(name as string));
    same("groups", await feed.groups(), []);
  }),

  claim("wrong options of a fetch are refused, and nothing is delivered", async (subject) => {
    const group = await groupOver(subject, many(1));
    const wrong: readonly object[] = [
      {},
      { member: "" },
      { member: long },
      { member: "m", limit: 0 },
      { member: "m", limit: 65_537 },
      { member: "m", leaseSeconds: -1 },
      { member: "m", waitSeconds: -1 },
      { member: "m", waitSeconds: 86_401 },
      { member: "m", signal: {} },
      { member: "m", count: 1 },
    ];
    for (const options of wrong)
      await refused("INVALID_OPTION", `fetch(${JSON.stringify(options)})`, () => group.fetch(options as FetchOptions));
    same("what is there", await fetched(group), [1]);
  }),

  claim("wrong arguments of a message's calls are refused, and its delivery stays", async (subject) => {
    const group = await groupOver(subject, many(1));
    const [message] = await group.fetch({ member: "m" });
    await refused("INVALID_OPTION", "nack", () => message?.nack({ delaySeconds: -1 }));
    await refused("INVALID_OPTION", "nack", () => message?.nack({ reason: long }));
    await refused("INVALID_OPTION", "nack", () => message?.nack({ delay: 1 } as object));
    await refused("INVALID_ARGUMENT", "extend", () => message?.extend(0));
    await refused("INVALID_ARGUMENT", "extend", () => message?.extend(null as unknown as number));
    await refused("INVALID_ARGUMENT", "park", () => message?.park(long));
    await refused("INVALID_ARGUMENT", "park", () => message?.park(undefined as unknown as string));
    await refused("INVALID_ARGUMENT", "leave", () => group.leave(""));
    await refused("INVALID_ARGUMENT", "replay", () => group.replay([0]));
    await refused("INVALID_OPTION", "parked", () => group.parked({ limit: 0 }));
    const [ofAnother] = await (await subject.feed.createGroup("h")).fetch({ member: "m" });
    for (const wrong of [undefined, {}, [{}], [message, ofAnother], [undefined]])
      await refused("INVALID_ARGUMENT", "ack", () => group.ack(wrong as FeedMessage<unknown>[]));
    for (const to of [undefined, null, "last", {}, { sequence: 0 }])
      await refused("INVALID_OPTION", "seek", () => group.seek(to as FeedStart));
    for (const options of [null, 7, { order: "stream" }, { start: "end" }])
      await refused("INVALID_OPTION", "update", () => group.update(options as GroupOptions));
    await message?.ack();
    await refused("INVALID_ARGUMENT", "an acknowledged one of another group", () =>
      group.ack([ofAnother].flatMap((one) => one ?? [])),
    );
    same("committed", (await group.info()).committed, 1);
  }),
];
