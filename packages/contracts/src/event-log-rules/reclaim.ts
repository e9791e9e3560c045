import type { ReclaimOptions } from "../event-log.ts";
import { afterReopening, claim, refused, same } from "./claim.ts";
import { fill, iteratorOf, numbered, positions, range, read, scanned, take } from "./events.ts";
import type { EventLogRule } from "./subject.ts";

export const reclaimRules: readonly EventLogRule[] = [
  claim(
    "a reclaim by count keeps the newest positions, and below them nothing is read",
    async (log) => {
      await fill(log, "s", "t", "s", "t", "s");
      same("first position", await log.reclaim({ maxEvents: 2 }), 4);
      same("the log's", [log.firstPosition, log.position], [4, 5]);
      same(
        "scan",
        [await scanned(log), await scanned(log, { direction: "backwards" })],
        [
          [4, 5],
          [5, 4],
        ],
      );
      same("streams", [await read(log, "s"), await read(log, "t")], [[3], [2]]);
      same("info", (await log.streamInfo("s")).firstVersion, 3);
      same("subscription", positions(await take(iteratorOf(log.subscribe()), 2)), [4, 5]);
    },
    "reclaim",
  ),

  claim(
    "to go on from below the first position is refused, and says where it is",
    async (log) => {
      await log.append("s", numbered(5));
      await log.reclaim({ maxEvents: 2 });
      const calls: Readonly<Record<string, () => Promise<unknown>>> = {
        scan: () => scanned(log, { after: 2 }),
        "scan from 0": () => scanned(log, { after: 0 }),
        "scan from a checkpoint": () => scanned(log, { after: { position: 2, epoch: log.epoch } }),
        "scan backwards": () => scanned(log, { direction: "backwards", before: 3 }),
        subscribe: () => iteratorOf(log.subscribe({ after: 2 })).next(),
      };
      for (const [what, call] of Object.entries(calls)) {
        const { data } = await refused("COMPACTED", what, call);
        same(`what ${what} says`, data["firstPosition"], 4);
      }
      same("right before it", await scanned(log, { after: 3 }), [4, 5]);
      same("backwards before it", await scanned(log, { direction: "backwards", before: 4 }), []);
    },
    "reclaim",
  ),

  claim(
    "a reclaim by age keeps what isn't older",
    async (log, { advance }) => {
      await log.append("s", numbered(2));
      await advance(1000);
      await log.append("s", numbered(2));
      same("all young enough", await log.reclaim({ maxAgeSeconds: 3600 }), 1);
      await advance(800);
      same("two too old", await log.reclaim({ maxAgeSeconds: 1.5 }), 3);
      same("scan", await scanned(log), [3, 4]);
    },
    "reclaim",
  ),

  claim(
    "a reclaim of what is acknowledged waits for the slowest consumer",
    async (log) => {
      await log.append("s", numbered(9));
      same("without consumers", await log.reclaim({ acknowledged: true }), 1);
      await log.consumer("fast").ack(8);
      await log.consumer("slow").ack(3);
      await log.consumer("new").ack(0);
      same("with one at 0", await log.reclaim({ acknowledged: true }), 1);
      await log.consumer("new").delete();
      same("with one at 3", await log.reclaim({ acknowledged: true }), 4);
      await log.consumer("slow").ack(9);
      same("with one at 8", await log.reclaim({ acknowledged: true }), 9);
    },
    "reclaim",
    "consumers",
  ),

  claim(
    "what anything keeps is kept",
    async (log) => {
      await log.append("s", numbered(9));
      await log.consumer("c").ack(4);
      same("acknowledged", await log.reclaim({ acknowledged: true, maxEvents: 2 }), 5);
      same("age", await log.reclaim({ maxEvents: 2, maxAgeSeconds: 3600 }), 5);
      same("count", await log.reclaim({ acknowledged: true, maxEvents: 9 }), 5);
    },
    "reclaim",
    "consumers",
  ),

  claim(
    "the first position never falls",
    async (log) => {
      same("of an empty log", await log.reclaim({ maxEvents: 0 }), 1);
      await log.append("s", numbered(5));
      same("3", await log.reclaim({ maxEvents: 3 }), 3);
      same("back", await log.reclaim({ maxEvents: 100 }), 3);
      same("scan", await scanned(log), [3, 4, 5]);
    },
    "reclaim",
  ),

  claim(
    "when all was reclaimed positions and versions go on",
    async (log) => {
      await log.append("s", numbered(3));
      same("first position", await log.reclaim({ maxEvents: 0 }), 4);
      same("scan", [await scanned(log), await read(log, "s")], [[], []]);
      const info = { stream: "s", version: 3, firstVersion: 4, isDeleted: false };
      same("info", await log.streamInfo("s"), info);
      await refused("CONFLICT", "none", () => log.append("s", numbered(1), { expect: "none" }));
      const { version, position } = await log.append("s", numbered(1), { expect: 3 });
      same("the next", [version, position, await scanned(log)], [4, 4, [4]]);
    },
    "reclaim",
  ),

  claim(
    "a subscription that a reclaim overtakes ends, and never goes on behind a gap",
    async (log) => {
      await fill(log, "s");
      const iterator = iteratorOf(log.subscribe());
      await take(iterator, 1);
      await log.append("s", numbered(2_000));
      await log.reclaim({ maxEvents: 1 });
      let last = 1;
      // What it had read ahead may still come.
      const { data } = await refused("COMPACTED", "the events", async () => {
        for (;;) for (const { position } of await take(iterator, 1)) same("the next position", position, ++last);
      });
      same("what it says", data["firstPosition"], 2_001);
    },
    "reclaim",
  ),

  claim(
    "a consumer below the first position is told, and goes on once it acknowledges what is gone",
    async (log) => {
      await log.append("s", numbered(9));
      const consumer = log.consumer("c");
      await consumer.ack(2);
      await log.reclaim({ maxEvents: 3 });
      await refused("COMPACTED", "its tail", () => iteratorOf(consumer.tail()).next());
      await consumer.ack(log.firstPosition - 1);
      same("the rest", positions(await take(iteratorOf(consumer.tail()), 3)), range(7, 9));
      const another = iteratorOf(log.consumer("new").tail());
      same("a new one", positions(await take(another, 1)), [7]);
    },
    "reclaim",
    "consumers",
  ),

  claim(
    "a reclaim must say what is kept",
    async (log) => {
      await fill(log, "s");
      for (const options of [{}, { acknowledged: false }]) {
        await refused("INVALID_ARGUMENT", JSON.stringify(options), () => log.reclaim(options));
      }
      const wrong = [{ maxEvents: -1 }, { maxEvents: 1.5 }, { maxAgeSeconds: -1 }, { maxAgeSeconds: Infinity }];
      for (const options of [...wrong, { acknowledged: "yes" }]) {
        const call = (): Promise<unknown> => log.reclaim(options as ReclaimOptions);
        await refused("INVALID_OPTION", JSON.stringify(options), call);
      }
      same("scan", await scanned(log), [1]);
    },
    "reclaim",
  ),

  claim(
    "what was reclaimed is gone after the log was opened again, and counting goes on",
    async (log, subject) => {
      await log.append("s", numbered(4));
      await log.reclaim({ maxEvents: 0 });
      await afterReopening(subject, async (again) => {
        same("positions", [again.firstPosition, again.position], [5, 4]);
        const { version, position } = await again.append("s", numbered(1), { expect: 4 });
        same("the next", [version, position, await scanned(again)], [5, 5, [5]]);
      });
    },
    "reclaim",
    "persistence",
  ),
];
