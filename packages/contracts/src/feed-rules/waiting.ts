import { claim, groupOver, holds, lastingClaim, fetched, figures, many, refused, same, sequences } from "./claim.ts";
import type { FeedRule } from "./subject.ts";

export const waitingRules: readonly FeedRule[] = [
  claim("a fetch that waits ends with the first message", async (subject) => {
    const group = await groupOver(subject, []);
    const waiting = group.fetch({ member: "m", waitSeconds: 60 });
    await subject.append({ subject: "a" });
    same("what came", sequences(await waiting), [1]);
  }),

  claim("a fetch that waits ends with nothing when its time is over", async (subject) => {
    const group = await groupOver(subject, []);
    let isOver = false;
    const waiting = group.fetch({ member: "m", waitSeconds: 1.5 }).finally(() => {
      isOver = true;
    });
    await subject.advance(1_000);
    holds(!isOver, "it ended too early");
    await subject.advance(1_000);
    same("nothing", await waiting, []);
  }),

  claim(
    "a fetch that waits hears of leases that are over, delays that end, and whatever makes room",
    async (subject) => {
      const group = await groupOver(subject, many(1), { leaseSeconds: 1, maxInFlight: 1 });
      const wait = async (): Promise<number[]> => sequences(await group.fetch({ member: "n", waitSeconds: 60 }));
      await group.fetch({ member: "m" });
      const lease = wait();
      await subject.advance(1_000);
      same("a lease", await lease, [1]);
      const [again] = await Promise.all([wait(), group.leave("n")]);
      same("a goodbye", again, [1]);
      await subject.append({ subject: "a" });
      const room = wait();
      await group.seek({ sequence: 2 });
      same("a seek", await room, [2]);
      await group.pause();
      await group.leave("n");
      const resumed = wait();
      await group.resume();
      same("a resume", await resumed, [2]);
    },
  ),

  claim("a fetch that waits ends by its signal", async (subject) => {
    const group = await groupOver(subject, []);
    const stop = new AbortController();
    const waiting = group.fetch({ member: "m", waitSeconds: 60, signal: stop.signal });
    stop.abort();
    await refused("ABORTED", "fetch", () => waiting);
    await refused("ABORTED", "one whose signal was aborted before", () =>
      group.fetch({ member: "m", signal: stop.signal }),
    );
    await subject.append({ subject: "a" });
    same("nothing was taken", await fetched(group), [1]);
  }),

  claim("a close ends what waits, and every call after it", async (subject) => {
    const { feed } = subject;
    const group = await groupOver(subject, many(1));
    const [message] = await group.fetch({ member: "m" });
    const waiting = refused("CLOSED", "a fetch that waits", () => group.fetch({ member: "m", waitSeconds: 60 }));
    await feed.close();
    await waiting;
    await feed.close();
    for (const [what, call] of Object.entries({
      createGroup: () => feed.createGroup("h"),
      group: () => feed.group("g"),
      groups: () => feed.groups(),
      deleteGroup: () => feed.deleteGroup("g"),
      fetch: () => group.fetch({ member: "m" }),
      ack: () => message?.ack(),
      "ack of several": () => group.ack([]),
      nack: () => message?.nack(),
      extend: () => message?.extend(),
      park: () => message?.park("no"),
      info: () => group.info(),
      update: () => group.update({}),
      seek: () => group.seek("first"),
      pause: () => group.pause(),
      resume: () => group.resume(),
      leave: () => group.leave("m"),
      parked: () => group.parked(),
      replay: () => group.replay(),
      discard: () => group.discard(),
    }))
      await refused("CLOSED", what, call);
  }),

  claim("a fetch that was called before a close gives what there is", async (subject) => {
    const group = await groupOver(subject, many(2));
    const fetching = group.fetch({ member: "m" });
    const closing = subject.feed.close();
    same("fetched", sequences(await fetching), [1, 2]);
    await closing;
  }),

  lastingClaim("groups are there after a close and an open, with what is out and what is parked", async (subject) => {
    const group = await groupOver(subject, many(5), { leaseSeconds: 10, subjects: ["a"], maxInFlight: 4 });
    const messages = await group.fetch({ member: "m", limit: 4 });
    await messages[1]?.ack();
    await messages[2]?.park("no");
    await messages[3]?.nack({ delaySeconds: 20 });
    const [info, parked] = [await group.info(), await group.parked()];
    await subject.feed.close();
    const { feed } = await subject.reopen();
    const again = await feed.group("g");
    same("what it says", await again.info(), info);
    same(
      "what is parked",
      (await again.parked()).map(({ sequence, deliveries, reason, parkedAt }) => [
        sequence,
        deliveries,
        reason,
        parkedAt,
      ]),
      parked.map(({ sequence, deliveries, reason, parkedAt }) => [sequence, deliveries, reason, parkedAt]),
    );
    same("what is out stays out", await fetched(again, "n"), [5]);
    await subject.advance(10_000);
    same("until its lease is over", await fetched(again, "n", 1), [1]);
    await subject.advance(10_000);
    same("and the delay", (await fetched(again, "n")).includes(4), true);
    same("committed", (await figures(again))[0], 0);
    await feed.close();
  }),
];
