import { afterReopening, claim, holds, refused, same } from "./claim.ts";
import { all, fill, iteratorOf, numbered, range, read, scanned, take } from "./events.ts";
import type { EventLogRule } from "./subject.ts";

export const closingRules: readonly EventLogRule[] = [
  claim("a closed log refuses every call", async (log) => {
    await fill(log, "s");
    const [scan, subscription] = [log.scan(), log.subscribe()];
    await log.close();
    const calls: Readonly<Record<string, () => unknown>> = {
      append: () => log.append("s", numbered(1)),
      readStream: () => all(log.readStream("s")),
      streamInfo: () => log.streamInfo("s"),
      scan: () => all(log.scan()),
      "a scan that was asked for before": () => all(scan),
      subscribe: () => iteratorOf(log.subscribe()).next(),
      "a subscription that was asked for before": () => iteratorOf(subscription).next(),
    };
    for (const [what, call] of Object.entries(calls)) await refused("CLOSED", what, call);
    same("position", log.position, 1);
  }),

  claim(
    "a closed log refuses consumers",
    async (log) => {
      const consumer = log.consumer("c");
      await log.close();
      await refused("CLOSED", "committed", () => consumer.committed());
      await refused("CLOSED", "ack", () => consumer.ack(0));
      await refused("CLOSED", "tail", () => iteratorOf(consumer.tail()).next());
      await refused("CLOSED", "delete", () => consumer.delete());
      await refused("CLOSED", "consumers", () => log.consumers());
    },
    "consumers",
  ),

  claim(
    "a closed log refuses truncations and deletes",
    async (log) => {
      await log.close();
      await refused("CLOSED", "truncateStream", () => log.truncateStream("s", 1));
      await refused("CLOSED", "deleteStream", () => log.deleteStream("s"));
    },
    "truncation",
  ),

  claim(
    "a closed log refuses a reclaim",
    async (log) => {
      await log.close();
      await refused("CLOSED", "reclaim", () => log.reclaim({ maxEvents: 1 }));
    },
    "reclaim",
  ),

  claim("closing twice is closing once, and so is disposing", async (log) => {
    await Promise.all([log.close(), log.close()]);
    await log.close();
    await log[Symbol.asyncDispose]();
    await refused("CLOSED", "append", () => log.append("s", numbered(1)));
  }),

  claim("disposing closes", async (log) => {
    await log[Symbol.asyncDispose]();
    await refused("CLOSED", "append", () => log.append("s", numbered(1)));
  }),

  claim("appends that were made before the close are finished", async (log) => {
    const appends = range(1, 5).map((n) => log.append("s", numbered(1, n)));
    const closing = log.close();
    await refused("CLOSED", "one made after", () => log.append("s", numbered(1)));
    same(
      "versions",
      (await Promise.all(appends)).map((result) => result.version),
      range(1, 5),
    );
    await closing;
  }),

  claim("the close ends subscriptions, while they wait and between two events", async (log) => {
    await fill(log, "s", "s");
    const waiting = iteratorOf(log.subscribe({ after: "end" })).next();
    const behind = iteratorOf(log.subscribe());
    await take(behind, 2);
    const outcomes = Promise.allSettled([waiting]);
    await log.close();
    const [outcome] = await outcomes;
    same("what waited", outcome.status, "rejected");
    await refused("CLOSED", "what waited", () => waiting);
    await refused("CLOSED", "the one behind", () => behind.next());
  }),

  claim(
    "everything is there when the log is opened again, and goes on",
    async (log, subject) => {
      const first = { id: "an id", type: "placed", data: { n: 1 }, metadata: { actor: "alice" } };
      await log.append("a", first, { expect: "none" });
      await log.append("b", [{ type: "placed", data: Uint8Array.from([7]) }, { type: "paid" }]);
      const before = (await all(log.scan())).map((event) => JSON.stringify(event));
      const { epoch } = log;
      await afterReopening(subject, async (again) => {
        holds(again.epoch > epoch, `the epoch was ${epoch} and is ${again.epoch}`);
        same("position", again.position, 3);
        same(
          "events",
          (await all(again.scan())).map((event) => JSON.stringify(event)),
          before,
        );
        const { version, position, time } = await again.append("b", numbered(1), { expect: 2 });
        same("the next", [version, position], [3, 4]);
        const last = JSON.parse(before.at(-1) ?? "{}") as { time: number };
        holds(time >= last.time, `time fell from ${last.time} to ${time}`);
        same("read", [await scanned(again), await read(again, "b")], [range(1, 4), range(1, 3)]);
      });
    },
    "persistence",
  ),
];
