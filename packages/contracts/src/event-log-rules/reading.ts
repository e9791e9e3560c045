import { claim, holds, refused, same } from "./claim.ts";
import { all, fill, iteratorOf, numbered, range, read, take, versions } from "./events.ts";
import type { RecordedEvent } from "../event-log.ts";
import type { EventLogRule } from "./subject.ts";

const whole = (event: RecordedEvent): unknown => {
  const { id, stream, version, position, time, type, data, metadata } = event;
  return [id, stream, version, position, time, type, data, metadata];
};

export const readingRules: readonly EventLogRule[] = [
  claim("a stream is read from its first event, or backwards from its last", async (log) => {
    await fill(log, "s", "t", "s", "t", "s");
    same("by default", await read(log, "s"), [1, 2, 3]);
    same("forwards", await read(log, "s", { direction: "forwards" }), [1, 2, 3]);
    same("backwards", await read(log, "s", { direction: "backwards" }), [3, 2, 1]);
  }),

  claim("a read begins with the version that was asked for, and gives no more than was asked for", async (log) => {
    await log.append("s", numbered(5));
    for (const from of range(1, 8)) {
      for (const limit of [0, 1, 2, 5, 100, undefined]) {
        const options = { from, ...(limit === undefined ? {} : { limit }) };
        const forwards = range(from, 5).slice(0, limit);
        same(`forwards from ${from}, ${limit}`, await read(log, "s", options), forwards);
        const backwards = range(1, Math.min(from, 5)).reverse().slice(0, limit);
        same(
          `backwards from ${from}, ${limit}`,
          await read(log, "s", { ...options, direction: "backwards" }),
          backwards,
        );
      }
    }
  }),

  claim("a stream that isn't there is empty", async (log) => {
    await fill(log, "s");
    for (const name of ["t", "ss", "S"]) {
      same(name, await read(log, name), []);
      same(`${name} backwards`, await read(log, name, { direction: "backwards", from: 7 }), []);
      const info = { stream: name, version: 0, firstVersion: 1, isDeleted: false };
      same(`info of ${name}`, await log.streamInfo(name), info);
    }
    const info = { stream: "s", version: 1, firstVersion: 1, isDeleted: false };
    same("info of s", await log.streamInfo("s"), info);
  }),

  claim("batches give what single events give, and none is empty", async (log) => {
    for (let i = 0; i < 10; i++) await log.append("s", numbered(70, i * 70));
    for (const direction of ["forwards", "backwards"] as const) {
      const seen: number[] = [];
      for await (const batch of log.readStream("s", { direction }).batches()) {
        holds(batch.length > 0, "a batch is empty");
        seen.push(...versions(batch));
      }
      same(direction, seen, await read(log, "s", { direction }));
    }
    for await (const batch of log.readStream("nothing").batches()) holds(false, `a batch of ${batch.length}`);
    for await (const batch of log.readStream("nothing").lazyBatches()) holds(false, `a batch of ${batch.length}`);
  }),

  claim("lazy batches give the same events, whole as often as they are asked", async (log) => {
    for (let i = 0; i < 5; i++) {
      await log.append("s", [...numbered(70, i * 70), { type: "told", metadata: { by: "a" }, data: Uint8Array.of(i) }]);
      await log.append("t", { id: `${i}`, type: "given", data: "é" }, { expect: i });
    }
    const reads = [
      () => log.scan(),
      () => log.scan({ direction: "backwards", types: ["told", "given"] }),
      () => log.readStream("s", { from: 7, limit: 100 }),
    ];
    for (const open of reads) {
      const lazy: RecordedEvent[] = [];
      for await (const batch of open().lazyBatches()) {
        holds(batch.length > 0, "a batch is empty");
        lazy.push(...batch);
      }
      const wanted = (await all(open())).map(whole);
      same("the first time", lazy.map(whole), wanted);
      same("again", lazy.map(whole), wanted);
      same("as JSON", JSON.stringify(lazy), JSON.stringify(await all(open())));
    }
  }),

  claim("a stream of events is iterated once", async (log) => {
    await fill(log, "s");
    const streams = [() => log.readStream("s"), () => log.scan()];
    for (const open of streams) {
      const read = open();
      await all(read);
      await refused("INVALID_ARGUMENT", "a second time", () => all(read));
      await refused("INVALID_ARGUMENT", "by batches after events", () => read.batches()[Symbol.asyncIterator]().next());
      const batched = open();
      for await (const batch of batched.batches()) same("batch", versions(batch), [1]);
      await refused("INVALID_ARGUMENT", "by events after batches", () => all(batched));
      const lazy = open();
      for await (const batch of lazy.lazyBatches()) same("lazy batch", versions(batch), [1]);
      await refused("INVALID_ARGUMENT", "by batches after lazy ones", () =>
        lazy.batches()[Symbol.asyncIterator]().next(),
      );
    }
  }),

  claim("a read ends where the log ended when it began", async (log) => {
    await log.append("s", numbered(3));
    for (const stream of [log.readStream("s"), log.scan()]) {
      const iterator = iteratorOf(stream);
      const [first] = await take(iterator, 1);
      const end = log.position;
      await log.append("s", numbered(2));
      const seen = first === undefined ? [] : [first.position];
      for (let next = await iterator.next(); next.done !== true; next = await iterator.next())
        seen.push(next.value.position);
      same("positions", seen, range(1, end));
    }
  }),

  claim("a read ends with its signal, and gives no event after that", async (log) => {
    await log.append("s", numbered(10));
    for (const open of [log.readStream.bind(log, "s"), log.scan.bind(log)]) {
      const stop = new AbortController();
      const iterator = iteratorOf(open({ signal: stop.signal }));
      await take(iterator, 2);
      stop.abort();
      await refused("ABORTED", "the next event", () => iterator.next());
      same("after the error", (await iterator.next()).done, true);
      await refused("ABORTED", "a read with an aborted signal", () => all(open({ signal: AbortSignal.abort() })));
    }
  }),

  claim("a read may be left early", async (log) => {
    await log.append("s", numbered(10));
    const iterator = iteratorOf(log.readStream("s"));
    await take(iterator, 1);
    await iterator.return?.();
    same("after it was left", (await iterator.next()).done, true);
    for await (const { version } of log.scan()) if (version === 3) break;
    same("another read", await read(log, "s"), range(1, 10));
  }),

  claim("options of reads that make no sense are refused", async (log) => {
    await fill(log, "s");
    const wrong: Readonly<Record<string, unknown>>[] = [
      { from: 0 },
      { from: -1 },
      { from: 1.5 },
      { from: "1" },
      { limit: -1 },
      { limit: Number.NaN },
      { direction: "forward" },
      { signal: {} },
    ];
    for (const options of wrong) {
      const call = (): Promise<unknown> => all(log.readStream("s", options));
      await refused("INVALID_OPTION", JSON.stringify(options), call);
    }
  }),

  claim("calls for the next event that don't wait for each other are answered in order", async (log) => {
    await log.append("s", numbered(4));
    const iterator = iteratorOf(log.readStream("s"));
    const results = await Promise.all(range(1, 6).map(() => iterator.next()));
    const seen = results.map((result) => (result.done === true ? "end" : result.value.version));
    same("answers", seen, [1, 2, 3, 4, "end", "end"]);
  }),
];
