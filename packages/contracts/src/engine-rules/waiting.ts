import type { Engine } from "../engine.ts";
import { isEhdbError } from "../errors.ts";
import { claim, errorOf, refused, same, turns } from "./claim.ts";
import type { EngineRule } from "./claim.ts";
import { append, bytes, everything, logLines, mapLines, put } from "./record.ts";

/** Every call that an open engine answers. */
function calls(engine: Engine): Readonly<Record<string, () => unknown>> {
  const [log, map] = [engine.log("events"), engine.map("state")];
  return {
    commit: () => append(engine, "a", "late"),
    "a commit of nothing": () => engine.commit(() => undefined),
    log: () => engine.log("events"),
    map: () => engine.map("state"),
    news: () => engine.news(0),
    version: () => log.version("a"),
    scan: () => everything(log.scan()),
    read: () => everything(log.read("a")),
    assertContinues: () => log.assertContinues(1, engine.epoch),
    get: () => map.get("a"),
    "scan of a map": () => everything(map.scan()),
  };
}

export const waitingRules: readonly EngineRule[] = [
  claim("news is there at once when more than the revision can be read", async (engine) => {
    await append(engine, "a", "one");
    await put(engine, "a", "two");
    await engine.news(0);
    await engine.news(1);
  }),

  claim("news comes with the next commit, for all who wait, and not before", async (engine) => {
    await append(engine, "a", "one");
    const heard: number[] = [];
    const waits = [1, 1, 2].map(async (revision) => {
      await engine.news(revision);
      heard.push(revision);
      return engine.revision > revision;
    });
    await refused("INVALID_ARGUMENT", "a commit of nothing", () => engine.commit(() => undefined));
    await turns();
    same("before", heard, []);
    await append(engine, "a", "two");
    same("the first two", await Promise.all(waits.slice(0, 2)), [true, true]);
    await turns();
    same("then", heard, [1, 1]);
    await put(engine, "a", "three");
    same("the third", await waits[2], true);
  }),

  claim("news of what is no revision is refused", async (engine) => {
    for (const wrong of [-1, 0.5, Number.NaN]) await refused("INVALID_ARGUMENT", `${wrong}`, () => engine.news(wrong));
  }),

  claim("a commit whose signal is aborted writes nothing, and says ABORTED with the reason", async (engine) => {
    const reason = new Error("of the caller");
    const signal = AbortSignal.abort(reason);
    const stage = () => engine.commit((batch) => batch.append("events", "a", bytes("one")), { signal });
    const error = await refused("ABORTED", "the commit", stage);
    same("the cause is the reason", error.cause === reason, true);
    same("what is stored", [engine.revision, await logLines(engine)], [0, []]);
  }),

  claim(
    "a commit whose signal is aborted while it waits is there as a whole, or ABORTED and not there",
    async (engine) => {
      const controller = new AbortController();
      const { signal } = controller;
      const commits = Array.from({ length: 10 }, (_, i) =>
        engine.commit(
          (batch) => {
            batch.append("events", "a", bytes(`${i}`));
            batch.put("state", `${i}`, bytes("x"));
          },
          { signal },
        ),
      );
      controller.abort();
      const settled = await Promise.allSettled(commits);
      const there = settled.flatMap(({ status }, i) => (status === "fulfilled" ? [i] : []));
      for (const outcome of settled) {
        if (outcome.status === "fulfilled") continue;
        same("the error is ABORTED", isEhdbError(outcome.reason, "ABORTED"), true);
      }
      same(
        "the log",
        await logLines(engine),
        there.map((i, place) => `${place + 1} a@${place + 1} ${i}`),
      );
      same(
        "the map",
        await mapLines(engine),
        there.map((i) => `${i}=x`),
      );
      await append(engine, "a", "the next");
    },
  ),

  claim("a read whose signal is aborted ends with ABORTED at its next step", async (engine) => {
    for (let i = 0; i < 10; i++) await append(engine, "a", `${i}`);
    await put(engine, "a", "one");
    const [log, map] = [engine.log("events"), engine.map("state")];
    const aborted = AbortSignal.abort();
    await refused("ABORTED", "a scan", () => everything(log.scan({ signal: aborted })));
    await refused("ABORTED", "a read", () => everything(log.read("a", { signal: aborted })));
    await refused("ABORTED", "a scan of a map", () => everything(map.scan({ signal: aborted })));

    const controller = new AbortController();
    const iterator = log.scan({ signal: controller.signal })[Symbol.asyncIterator]();
    await iterator.next();
    controller.abort();
    await refused("ABORTED", "a scan under way", () => iterator.next());
  }),

  claim("a closed engine answers every call with CLOSED", async (engine) => {
    await append(engine, "a", "one");
    await put(engine, "a", "two");
    const all = calls(engine);
    await engine.close();
    for (const [what, call] of Object.entries(all)) await refused("CLOSED", what, call);
  }),

  claim("a close takes effect with its call, and finishes the commits called before it", async (engine) => {
    const committed = append(engine, "a", "one");
    const closing = engine.close();
    await refused("CLOSED", "a commit called after", () => append(engine, "a", "two"));
    await closing;
    same("the one before", (await committed).appended, [{ sort: 1, version: 1 }]);
  }),

  claim("a read that was begun is CLOSED with the engine", async (engine) => {
    for (let i = 0; i < 10; i++) await append(engine, "a", `${i}`);
    const log = engine.log("events");
    const notBegun = log.scan()[Symbol.asyncIterator]();
    const begun = log.scan()[Symbol.asyncIterator]();
    await begun.next();
    await engine.close();
    await refused("CLOSED", "one not begun", () => notBegun.next());
    await refused("CLOSED", "one under way", () => begun.next());
  }),

  claim("a close is news", async (engine) => {
    const waiting = engine.news(engine.revision);
    await engine.close();
    same("whoever waited is told", await errorOf(() => waiting), undefined);
  }),

  claim("a close may be repeated, and leaves epoch, revision and last as they were", async (engine) => {
    await append(engine, "a", "one");
    const log = engine.log("events");
    const before = [engine.epoch, engine.revision, log.last];
    await Promise.all([engine.close(), engine.close()]);
    await engine.close();
    same("after", [engine.epoch, engine.revision, log.last], before);
    same("the epoch is a whole number from 1", Number.isSafeInteger(engine.epoch) && engine.epoch >= 1, true);
  }),
];
