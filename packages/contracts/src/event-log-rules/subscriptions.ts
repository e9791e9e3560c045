import type { LogCheckpoint, RecordedEvent } from "../event-log.ts";
import { claim, holds, refused, same } from "./claim.ts";
import { fill, iteratorOf, numbered, positions, range, read, take } from "./events.ts";
import type { EventLogRule } from "./subject.ts";

export const subscriptionRules: readonly EventLogRule[] = [
  claim("a subscription catches up, then follows, without a gap or a double, while several write", async (log) => {
    const count = 4 * 150;
    // Large and small ones at once: a driver whose commits can overtake each other must not skip what comes late.
    const writer = async (name: string): Promise<void> => {
      for (let n = 0; n < 150; n += 3) {
        const text = "x".repeat(n % 2 === 0 ? 10 : 20_000);
        await Promise.all([
          log.append(name, [{ type: "large", data: text }, { type: "small" }]),
          log.append(`${name}-${n % 5}`, numbered(1, n)),
        ]);
      }
    };
    await log.append("before", numbered(10));
    const writing = Promise.all(["a", "b", "c", "d"].map(writer));
    const readers = [log.subscribe(), log.subscribe(), log.subscribe({ after: 0 })].map(async (subscription) =>
      positions(await take(iteratorOf(subscription), count + 10)),
    );
    for (const seen of await Promise.all(readers)) same("positions", seen, range(1, count + 10));
    await writing;
  }),

  claim("a reader that is slow gets everything, in several batches", async (log) => {
    const subscription = log.subscribe();
    const batches = subscription.batches()[Symbol.asyncIterator]();
    await log.append("s", numbered(1));
    await batches.next();
    for (let i = 0; i < 40; i++) await log.append("s", numbered(250));
    const sizes: number[] = [];
    let last = 1;
    while (last < 10_001) {
      const next: IteratorResult<readonly RecordedEvent[], void> = await batches.next();
      if (next.done === true) throw new Error(`it ended at ${last}`);
      holds(next.value.length > 0, "a batch is empty");
      for (const event of next.value) same("the next position", event.position, ++last);
      sizes.push(next.value.length);
    }
    holds(Math.max(...sizes) <= 5_000, `a batch holds ${Math.max(...sizes)} of 10 000 events`);
  }),

  claim("what a subscription shows can be read", async (log) => {
    const iterator = iteratorOf(log.subscribe());
    const appends = range(1, 50).map((n) => log.append("s", numbered(1, n)));
    for (const [event] of await Promise.all(range(1, 50).map(() => take(iterator, 1)))) {
      holds(event !== undefined && log.position >= event.position, "an event is shown before it can be read");
    }
    same("versions", await read(log, "s"), range(1, 50));
    await Promise.all(appends);
  }),

  claim("a filter leaves out what isn't wanted, and the checkpoint moves over it", async (log) => {
    await fill(log, "a", "b", "a", "b", "b");
    const told = new CaughtUp();
    const subscription = log.subscribe({ stream: "a", onCaughtUp: told.at });
    const iterator = iteratorOf(subscription);
    same("positions", positions(await take(iterator, 2)), [1, 3]);
    const next = iterator.next();
    await told.reaches(5);
    same("the checkpoint that was told", told.last, { position: 5, epoch: log.epoch });
    same("checkpoint", subscription.checkpoint, { position: 5, epoch: log.epoch });
    await fill(log, "b", "c");
    await told.reaches(7);
    await fill(log, "a");
    const live = await next;
    same("live", live.done === true ? "the end" : live.value.position, 8);
    same("checkpoint", subscription.checkpoint, { position: 8, epoch: log.epoch });
  }),

  claim("what is left out moves the checkpoint even if nothing is wanted", async (log) => {
    await log.append("s", numbered(700));
    const told = new CaughtUp();
    const subscription = log.subscribe({ types: ["never"], onCaughtUp: told.at });
    const iterator = iteratorOf(subscription);
    const waiting = iterator.next();
    await told.reaches(700);
    same("checkpoint", subscription.checkpoint.position, 700);
    await iterator.return?.();
    same("the end", (await waiting).done, true);
  }),

  claim("the checkpoint is never ahead of what was delivered", async (log) => {
    await log.append("s", numbered(10));
    const subscription = log.subscribe({ after: 2 });
    same("at first", subscription.checkpoint, { position: 2, epoch: log.epoch });
    const iterator = iteratorOf(subscription);
    for (const position of range(3, 10)) {
      same("event", positions(await take(iterator, 1)), [position]);
      same("checkpoint", subscription.checkpoint, { position, epoch: log.epoch });
    }
  }),

  claim("whoever goes on from a checkpoint gets the rest, and nothing twice", async (log) => {
    await fill(log, "a", "b", "a", "a", "b", "a");
    for (const count of range(1, 4)) {
      const first = log.subscribe({ stream: "a" });
      const begun = iteratorOf(first);
      const before = await take(begun, count);
      await begun.return?.();
      const rest = iteratorOf(log.subscribe({ stream: "a", after: first.checkpoint }));
      const after = await take(rest, 4 - count);
      same(`after ${count}`, positions([...before, ...after]), [1, 3, 4, 6]);
    }
  }),

  claim("it is told when all has been delivered, also of an empty log, and each time anew", async (log) => {
    const told = new CaughtUp();
    const iterator = iteratorOf(log.subscribe({ onCaughtUp: told.at }));
    const waiting = iterator.next();
    await told.reaches(0);
    await log.append("s", numbered(2));
    await waiting;
    same("before the last was delivered", told.last.position, 0);
    await take(iterator, 1);
    const last = iterator.next();
    await told.reaches(2);
    await log.append("s", numbered(1));
    await last;
    same("before it was asked for more", told.last.position, 2);
  }),

  claim('`after: "end"` gives only what comes after the call', async (log) => {
    await fill(log, "s", "s");
    const subscription = log.subscribe({ after: "end" });
    same("checkpoint", subscription.checkpoint.position, 2);
    await fill(log, "s");
    same("the first event", positions(await take(iteratorOf(subscription), 1)), [3]);
  }),

  claim("a place that isn't in the log is refused", async (log) => {
    await fill(log, "s");
    await refused("OUT_OF_RANGE", "after 2 of 1", () => iteratorOf(log.subscribe({ after: 2 })).next());
    const after = { position: 1, epoch: log.epoch + 1 };
    await refused("TRUNCATED", "a later epoch", () => iteratorOf(log.subscribe({ after })).next());
    await refused("INVALID_OPTION", "after -1", () => iteratorOf(log.subscribe({ after: -1 })).next());
  }),

  claim("its signal ends it, while it waits and between two events", async (log) => {
    const waitingFor = new AbortController();
    const waiting = iteratorOf(log.subscribe({ signal: waitingFor.signal })).next();
    waitingFor.abort();
    await refused("ABORTED", "while it waited", () => waiting);
    await log.append("s", numbered(10));
    const stop = new AbortController();
    const iterator = iteratorOf(log.subscribe({ signal: stop.signal }));
    await take(iterator, 2);
    stop.abort();
    await refused("ABORTED", "between two events", () => iterator.next());
    same("after the error", (await iterator.next()).done, true);
    const late = log.subscribe({ signal: AbortSignal.abort() });
    await refused("ABORTED", "before it began", () => iteratorOf(late).next());
  }),

  claim("`return` ends it, also while it waits", async (log) => {
    for (const iterator of [iteratorOf(log.subscribe()), log.subscribe().batches()[Symbol.asyncIterator]()]) {
      const waiting = iterator.next();
      await iterator.return?.();
      same("what waited", (await waiting).done, true);
      same("later calls", (await iterator.next()).done, true);
    }
  }),

  claim("it is iterated once", async (log) => {
    await fill(log, "s");
    const subscription = log.subscribe();
    const iterator = iteratorOf(subscription);
    await take(iterator, 1);
    await refused("INVALID_ARGUMENT", "a second time", () => iteratorOf(subscription).next());
    await iterator.return?.();
    await refused("INVALID_ARGUMENT", "after its end", () => subscription.batches()[Symbol.asyncIterator]().next());
  }),

  claim("what `onCaughtUp` throws ends it", async (log) => {
    const own = new Error("enough");
    const onCaughtUp = (): never => {
      throw own;
    };
    const outcome = await Promise.allSettled([iteratorOf(log.subscribe({ onCaughtUp })).next()]);
    same("outcome", outcome[0], { status: "rejected", reason: own });
  }),
];

/** What a subscription said of having caught up. */
class CaughtUp {
  last: LogCheckpoint = { position: -1, epoch: 0 };
  #wake: () => void = () => undefined;

  readonly at = (checkpoint: LogCheckpoint): void => {
    this.last = checkpoint;
    this.#wake();
  };

  async reaches(position: number): Promise<void> {
    while (this.last.position < position) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}
