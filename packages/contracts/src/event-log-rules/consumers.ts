import { afterReopening, claim, refused, same } from "./claim.ts";
import { fill, iteratorOf, numbered, positions, take } from "./events.ts";
import type { EventLogRule } from "./subject.ts";

export const consumerRules: readonly EventLogRule[] = [
  claim(
    "a consumer begins at 0, and goes on behind what it has acknowledged",
    async (log) => {
      await fill(log, "s", "s", "s", "s");
      const consumer = log.consumer("c");
      same("name and place", [consumer.name, await consumer.committed()], ["c", 0]);
      const begun = iteratorOf(consumer.tail());
      same("at first", positions(await take(begun, 2)), [1, 2]);
      await begun.return?.();
      same("without an ack", positions(await take(iteratorOf(consumer.tail()), 1)), [1]);
      same("ack", await consumer.ack(3), 3);
      same("another handle", await log.consumer("c").committed(), 3);
      const tail = log.consumer("c").tail();
      const iterator = iteratorOf(tail);
      same("behind it", positions(await take(iterator, 1)), [4]);
      const live = iterator.next();
      await fill(log, "s");
      const next = await live;
      same("live", next.done === true ? "the end" : next.value.position, 5);
      same("checkpoint", tail.checkpoint, { position: 5, epoch: log.epoch });
    },
    "consumers",
  ),

  claim(
    "an acknowledgement never moves back",
    async (log) => {
      await log.append("s", numbered(5));
      const consumer = log.consumer("c");
      const results = [await consumer.ack(2), await consumer.ack(4), await consumer.ack(1), await consumer.ack(0)];
      same("results", results, [2, 4, 4, 4]);
      const atOnce = await Promise.all([consumer.ack(5), consumer.ack(3)]);
      same("made at once", atOnce, [5, 5]);
      same("committed", await consumer.committed(), 5);
    },
    "consumers",
  ),

  claim(
    "beyond the end nothing is acknowledged",
    async (log) => {
      const consumer = log.consumer("c");
      await refused("OUT_OF_RANGE", "1 of an empty log", () => consumer.ack(1));
      await fill(log, "s", "s");
      await consumer.ack(1);
      const { data } = await refused("OUT_OF_RANGE", "3 of 2", () => consumer.ack(3));
      same("what it says", [data["position"], data["last"]], [3, 2]);
      same("committed", await consumer.committed(), 1);
      for (const position of [-1, 1.5, Number.NaN, "1"]) {
        await refused("INVALID_ARGUMENT", `ack(${position})`, () => consumer.ack(position as number));
      }
    },
    "consumers",
  ),

  claim(
    "consumers know nothing of each other, and are listed by name with their lag",
    async (log) => {
      await log.append("s", numbered(6));
      same("at first", await log.consumers(), []);
      await log.consumer("b").ack(6);
      await log.consumer("a").ack(2);
      await log.consumer("c").ack(0);
      await log.consumer("d").committed();
      const expected = [
        { name: "a", committed: 2, lag: 4 },
        { name: "b", committed: 6, lag: 0 },
        { name: "c", committed: 0, lag: 6 },
      ];
      same("consumers", await log.consumers(), expected);
    },
    "consumers",
  ),

  claim(
    "a consumer that was deleted begins at 0 again",
    async (log) => {
      await fill(log, "s", "s");
      const consumer = log.consumer("c");
      await consumer.ack(2);
      await log.consumer("other").ack(1);
      await consumer.delete();
      await consumer.delete();
      same("committed", await consumer.committed(), 0);
      same("the others", await log.consumers(), [{ name: "other", committed: 1, lag: 1 }]);
      same("its events", positions(await take(iteratorOf(consumer.tail()), 2)), [1, 2]);
      same("an older ack", await consumer.ack(1), 1);
    },
    "consumers",
  ),

  claim(
    "a consumer's tail takes filters, tells when it's caught up, and ends with its signal",
    async (log) => {
      await fill(log, "a", "b", "a", "b");
      const consumer = log.consumer("c");
      await consumer.ack(1);
      const stop = new AbortController();
      const told: number[] = [];
      const onCaughtUp = (at: { position: number }): void => {
        told.push(at.position);
        stop.abort();
      };
      const tail = consumer.tail({ stream: "a", signal: stop.signal, onCaughtUp });
      const iterator = iteratorOf(tail);
      same("events", positions(await take(iterator, 1)), [3]);
      await refused("ABORTED", "the next", () => iterator.next());
      same("where it caught up", [told, tail.checkpoint.position], [[4], 4]);
    },
    "consumers",
  ),

  claim(
    "what was acknowledged is so after the log was opened again",
    async (log, subject) => {
      await fill(log, "s", "s", "s");
      await log.consumer("a").ack(2);
      await log.consumer("b").ack(3);
      await log.consumer("b").delete();
      await afterReopening(subject, async (again) => {
        same("consumers", await again.consumers(), [{ name: "a", committed: 2, lag: 1 }]);
        same("the rest", positions(await take(iteratorOf(again.consumer("a").tail()), 1)), [3]);
      });
    },
    "consumers",
    "persistence",
  ),
];
