import type { EventLog, ImportedEvent } from "../event-log.ts";
import { MAX_SEQUENCE } from "../limits.ts";
import { afterReopening, claim, holds, refused, same } from "./claim.ts";
import { all, fill, iteratorOf, read, scanned, take } from "./events.ts";
import type { EventLogRule } from "./subject.ts";

/** `position stream@version`; its time is its position, and more. */
function imported(line: string, more: Partial<ImportedEvent> = {}): ImportedEvent {
  const [place = "", stream = "", version = ""] = line.split(/[ @]/);
  const position = Number(place);
  return {
    stream,
    version: Number(version),
    position,
    time: 1000 + position,
    type: "counted",
    data: { n: position },
    ...more,
  };
}

const some = ["3 a@2", "4 b@7", "9 a@3", "10 c@1"];
const bring = (log: EventLog, lines: readonly string[] = some) => log.import([lines.map((line) => imported(line))]);

const linesOf = async (log: EventLog): Promise<string[]> =>
  (await all(log.scan())).map(({ position, stream, version }) => `${position} ${stream}@${version}`);

/** A source that waits before its end. */
function waiting(lines: readonly string[]): {
  readonly batches: AsyncIterable<readonly ImportedEvent[]>;
  readonly waits: Promise<void>;
  readonly end: () => void;
} {
  let tell: () => void = () => undefined;
  let end: () => void = () => undefined;
  const waits = new Promise<void>((resolve) => (tell = resolve));
  const ended = new Promise<void>((resolve) => (end = resolve));
  const batches = async function* (): AsyncGenerator<readonly ImportedEvent[]> {
    for (const line of lines) yield [imported(line)];
    tell();
    await ended;
  };
  return { batches: batches(), waits, end };
}

function ruleOf(name: string, check: (log: EventLog) => Promise<void>): EventLogRule {
  return claim(name, check, "import");
}

export const importingRules: readonly EventLogRule[] = [
  ruleOf("an import keeps positions with their gaps, versions, times, ids and contents", async (log) => {
    const given = some.map((line, i) =>
      imported(
        line,
        i === 1 ? { id: "an id", data: Uint8Array.from([1, 2]), metadata: { by: "x" } } : { id: `id-${i}` },
      ),
    );
    const result = await log.import([given.slice(0, 1), given.slice(1)]);
    same("the result", result, { events: 4, outOfOrder: 0, firstPosition: 3, position: 10 });
    const found = await all(log.scan());
    for (const [i, event] of given.entries()) {
      const { id, stream, version, position, time, type, data, metadata } = found[i] ?? event;
      same(
        `event ${i}`,
        { id, stream, version, position, time, type, data, metadata },
        { metadata: undefined, ...event },
      );
    }
    same("how many", found.length, 4);
    same("the ends", [log.firstPosition, log.position], [1, 10]);
    same("backwards", await scanned(log, { direction: "backwards" }), [10, 9, 4, 3]);
    same("after a gap", await scanned(log, { after: 5 }), [9, 10]);
    same("a stream", [await read(log, "a"), await read(log, "b", { from: 7 })], [[2, 3], [7]]);
    same("what is known of it", await log.streamInfo("b"), {
      stream: "b",
      version: 7,
      firstVersion: 7,
      isDeleted: false,
    });
  }),

  ruleOf("what was read from a log can be imported as it is", async (log) => {
    await bring(log);
    const read = await all(log.scan());
    same(
      "places",
      read.map(({ position }) => position),
      [3, 4, 9, 10],
    );
    await refused("ALREADY_EXISTS", "into the same one", () => log.import([read]));
  }),

  ruleOf("appends go on behind what was imported, and expectations count it", async (log) => {
    await bring(log);
    const { version, position, time } = await log.append("a", { type: "next" }, { expect: 3 });
    same("the next", [version, position], [4, 11]);
    holds(time >= 1010, `the time is ${time}`);
    same("a new stream", (await log.append("d", { type: "next" }, { expect: "none" })).position, 12);
    const conflict = await refused("CONFLICT", "a stream that is there", () =>
      log.append("b", { type: "next" }, { expect: "none" }),
    );
    same("what is there", conflict.data["actual"], 7);
    same("the log", await linesOf(log), [...some, "11 a@4", "12 d@1"]);
  }),

  claim(
    "an imported event can be appended again with its id, and several aren't taken for one append",
    async (log) => {
      await log.import([[imported("3 a@2", { id: "x" }), imported("4 a@3", { id: "y" })]]);
      const event = { id: "x", type: "counted", data: { n: 3 } };
      for (const expect of ["any", 1] as const) {
        const again = await log.append("a", event, { expect });
        same(`with ${expect}`, [again.isDuplicate, again.version, again.position], [true, 2, 3]);
      }
      await refused("ID_REUSED", "other content", () => log.append("a", { ...event, data: { n: 4 } }));
      await refused("ID_REUSED", "both at once", () =>
        log.append("a", [event, { id: "y", type: "counted", data: { n: 4 } }]),
      );
      same("another stream", (await log.append("b", event)).isDuplicate, false);
    },
    "import",
    "dedupe",
  ),

  ruleOf("nothing of an import can be read before all of it can, and appends wait for its end", async (log) => {
    const { batches, waits, end } = waiting(some);
    const importing = log.import(batches);
    await Promise.race([waits, importing]);
    same("meanwhile", [await linesOf(log), log.position], [[], 0]);
    same("a stream", (await log.streamInfo("a")).version, 0);
    await refused("LOCKED", "an append", () => log.append("a", { type: "next" }));
    await refused("LOCKED", "another import", () => bring(log));
    end();
    await importing;
    same("then", await linesOf(log), some);
  }),

  ruleOf("a subscription that waited gets what was imported, and what comes behind", async (log) => {
    const events = iteratorOf(log.subscribe());
    const [next] = await Promise.all([take(events, 5), bring(log).then(() => fill(log, "a"))]);
    same(
      "places",
      next.map(({ position }) => position),
      [3, 4, 9, 10, 11],
    );
    await events.return?.();
  }),

  ruleOf("disorder is refused with the two positions, or counted and put in order", async (log) => {
    const given = ["4 b@7", "3 a@2", "10 c@1", "9 a@3"].map((line) => imported(line));
    const error = await refused("OUT_OF_ORDER", "disorder", () => log.import([given]));
    same("the two", [error.data["position"], error.data["before"]], [3, 4]);
    same("what is left", [await linesOf(log), log.position], [[], 0]);
    same("counted", (await log.import([given], { disorder: "count" })).outOfOrder, 2);
    same("the log", await linesOf(log), some);
  }),

  ruleOf("what can't be an event at its place is refused, and leaves nothing", async (log) => {
    const wrong: readonly (readonly [string, readonly unknown[]])[] = [
      ...[0, 1.5, -1, MAX_SEQUENCE, "1", undefined].flatMap((value) => [
        [`position ${String(value)}`, [{ ...imported("1 a@1"), position: value }]] as const,
        [`version ${String(value)}`, [{ ...imported("1 a@1"), version: value }]] as const,
      ]),
      ...[-1, 0.5, 8.64e15 + 1, "1", undefined].map(
        (value) => [`time ${String(value)}`, [{ ...imported("1 a@1"), time: value }]] as const,
      ),
      ["a position twice", [imported("1 a@1"), imported("1 b@1")]],
      ["a version that isn't the next", [imported("1 a@1"), imported("2 a@3")]],
      ["a time that falls", [imported("1 a@1"), imported("2 a@2", { time: 1 })]],
      ["no stream", [{ ...imported("1 a@1"), stream: "" }]],
      ["no type", [{ ...imported("1 a@1"), type: undefined }]],
      ["a property that there isn't", [{ ...imported("1 a@1"), dat: 1 }]],
      ["data that JSON doesn't have", [imported("1 a@1", { data: 1n })]],
      ["no event", [undefined]],
    ];
    for (const [what, events] of wrong) {
      await refused("INVALID_ARGUMENT", what, () => log.import([events as readonly ImportedEvent[]]));
      same(`${what}: what is left`, [await linesOf(log), log.position], [[], 0]);
    }
    await refused("INVALID_ARGUMENT", "no source", () => log.import(undefined as never));
    await refused("INVALID_ARGUMENT", "no batch", () => log.import([1] as never));
    await refused("INVALID_OPTION", "an option", () => log.import([], { disordr: "count" } as never));
    const twice = [imported("1 a@1", { id: "x" }), imported("2 a@2", { id: "x" })];
    const error = await refused("ID_REUSED", "an id twice", () => log.import([twice]));
    same("which", [error.data["stream"], error.data["id"]], ["a", "x"]);
    same("none at all", (await log.import([])).events, 0);
    same("then", (await bring(log)).events, 4);
  }),

  ruleOf("a log that ever had an event isn't imported into", async (log) => {
    await fill(log, "s");
    const error = await refused("ALREADY_EXISTS", "one event", () => bring(log));
    same("where it stands", error.data["position"], 1);
  }),

  ruleOf("an import ends with its signal, with the log's close, and with what its source throws", async (log) => {
    const thrown = new Error("no more");
    const throwing = function* (): Iterable<readonly ImportedEvent[]> {
      yield [imported("1 a@1")];
      throw thrown;
    };
    const error = await log.import(throwing()).catch((caught: unknown) => caught);
    holds(error === thrown, "it isn't what the source has thrown");
    const controller = new AbortController();
    const given = waiting(some);
    const aborted = refused("ABORTED", "given up", () => log.import(given.batches, { signal: controller.signal }));
    await Promise.race([given.waits, aborted]);
    controller.abort();
    await aborted;
    await refused("ABORTED", "before", () => log.import([], { signal: controller.signal }));
    same("what is left", [await linesOf(log), log.position], [[], 0]);
    const other = waiting(some);
    const closed = refused("CLOSED", "closed", () => log.import(other.batches));
    await Promise.race([other.waits, closed]);
    await log.close();
    await closed;
    await refused("CLOSED", "after", () => log.import([]));
  }),

  claim(
    "what was imported is there when the log is opened again, and goes on",
    async (log, subject) => {
      await bring(log);
      const { epoch } = log;
      await afterReopening(subject, async (again) => {
        same("the log", await linesOf(again), some);
        same("after a checkpoint", await scanned(again, { after: { position: 4, epoch } }), [9, 10]);
        same("the next", (await again.append("a", { type: "next" }, { expect: 3 })).position, 11);
      });
    },
    "import",
    "persistence",
  ),
];
