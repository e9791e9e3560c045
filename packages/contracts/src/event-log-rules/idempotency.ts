import type { Expectation } from "../engine.ts";
import { isEhdbError } from "../errors.ts";
import type { EventLog, NewEvent } from "../event-log.ts";
import { afterReopening, claim, holds, refused, same } from "./claim.ts";
import { identified, numbered, read } from "./events.ts";
import type { EventLogRule } from "./subject.ts";

type Options = Parameters<EventLog["append"]>[2];

/** Appends, has something happen, appends again: the first result must come back, and nothing be stored. */
async function repeated(
  log: EventLog,
  events: readonly NewEvent[],
  options: Options,
  between: () => Promise<unknown> = async () => undefined,
  again: Options = options,
): Promise<void> {
  const first = await log.append("s", events, options);
  await between();
  const { position } = log;
  const second = await log.append("s", events, again);
  same("the second result", second, { ...first, isDuplicate: true });
  same("the log's position after it", log.position, position);
}

async function reused(log: EventLog, what: string, events: readonly NewEvent[], options?: Options): Promise<void> {
  const { position } = log;
  await refused("ID_REUSED", what, () => log.append("s", events, options));
  same("the log's position after it", log.position, position);
}

/** A window may be larger than it must be, so that what is beyond it may still be known; but nothing is stored. */
async function refusedOrKnown(
  log: EventLog,
  what: string,
  events: readonly NewEvent[],
  expect: Expectation,
  mayBeKnown: boolean,
): Promise<void> {
  const { position } = log;
  const [outcome] = await Promise.allSettled([log.append("s", events, { expect })]);
  if (outcome.status === "fulfilled") {
    holds(mayBeKnown && outcome.value.isDuplicate, `${what}: went well`);
  } else if (!isEhdbError(outcome.reason, "CONFLICT", "ID_REUSED")) {
    throw new Error(`${what}: ${String(outcome.reason)} instead of CONFLICT`, { cause: outcome.reason });
  }
  same(`the log's position after ${what}`, log.position, position);
}

/** Appends so many events elsewhere. */
async function elsewhere(log: EventLog, count: number): Promise<void> {
  for (let left = count; left > 0; left -= 10_000) await log.append("elsewhere", numbered(Math.min(left, 10_000)));
}

export const idempotencyRules: readonly EventLogRule[] = [
  claim("an append with an exact version can be repeated, also after later ones", async (log) => {
    await log.append("s", numbered(2));
    const later = (): Promise<unknown> => log.append("s", numbered(3));
    await repeated(log, identified("a", 3), { expect: 2 }, later);
  }),

  claim("an append with `none` can be repeated, also after later ones", async (log) => {
    const later = (): Promise<unknown> => log.append("s", numbered(1));
    await repeated(log, identified("a", 2), { expect: "none" }, later);
  }),

  claim("with an exact version it can be repeated for ever", async (log, { dedupeWindow }) => {
    await log.append("s", numbered(1));
    await repeated(log, identified("a", 2), { expect: 1 }, () => elsewhere(log, dedupeWindow + 1));
  }),

  claim("with `none` it can be repeated for ever", async (log, { dedupeWindow }) => {
    await repeated(log, identified("a", 2), { expect: "none" }, () => elsewhere(log, dedupeWindow + 1));
  }),

  claim("beyond the window, other events than those that stand there are refused", async (log, { dedupeWindow }) => {
    await log.append("s", identified("a", 3), { expect: 0 });
    await elsewhere(log, dedupeWindow + 1);
    const others: Readonly<Record<string, readonly NewEvent[]>> = {
      "a part of it": identified("a", 2),
      "more than it": identified("a", 4),
      "other ids": identified("b", 3),
      "no ids": numbered(3),
      "other content": identified("a", 3).map((event) => ({ ...event, data: "other" })),
    };
    for (const [what, events] of Object.entries(others)) {
      await refusedOrKnown(log, `${what}, with its version`, events, 0, false);
      await refusedOrKnown(log, `${what}, with none`, events, "none", false);
    }
    await refusedOrKnown(log, "other ids in another place", identified("b", 3), 1, false);
  }),

  claim(
    "with `any` or `exists` it can be repeated within the window",
    async (log, { dedupeWindow }) => {
      await repeated(log, identified("a", 3), { expect: "any" }, () => log.append("s", numbered(4)));
      await repeated(log, identified("b", 1), { expect: "exists" }, () => log.append("other", numbered(4)));
      await repeated(log, identified("c", 1), {}, () => elsewhere(log, dedupeWindow - 1));
    },
    "dedupe",
  ),

  claim(
    "a repeated append is known whatever it expects the second time",
    async (log) => {
      await repeated(log, identified("a", 1), { expect: "any" }, undefined, { expect: "none" });
      await repeated(log, identified("b", 1), { expect: 1 }, undefined, { expect: "exists" });
      await repeated(log, identified("c", 1), { expect: "exists" }, undefined, { expect: 77 });
    },
    "dedupe",
  ),

  claim(
    "appends of the same events made at once are stored once",
    async (log) => {
      const appends = Array.from({ length: 5 }, () => log.append("s", identified("a", 2)));
      const results = await Promise.all(appends);
      same(
        "results",
        results.map((result) => [result.version, result.isDuplicate]),
        [[2, false], ...Array.from({ length: 4 }, () => [2, true])],
      );
      same("versions", await read(log, "s"), [1, 2]);
    },
    "dedupe",
  ),

  claim(
    "an id in other company is refused: a part, more, another order, a part of two",
    async (log) => {
      const [one, two, three] = identified("a", 3) as [NewEvent, NewEvent, NewEvent];
      const [other] = identified("b", 1) as [NewEvent];
      await log.append("s", [one, two, three]);
      await log.append("s", other);
      await reused(log, "the first two", [one, two]);
      await reused(log, "the last", [three]);
      await reused(log, "with a new one", [one, two, three, ...identified("c", 1)]);
      await reused(log, "with one without an id", [one, two, ...numbered(1, 3)]);
      await reused(log, "in another order", [one, three, two]);
      await reused(log, "two appends as one", [one, two, three, other]);
      await reused(log, "with an exact version that holds", [three], { expect: 4 });
    },
    "dedupe",
  ),

  claim(
    "an id with other content is refused: type, data, metadata, bytes",
    async (log) => {
      const event = { id: "an id", type: "placed", data: { n: 1 }, metadata: { actor: "alice" } };
      const bytes = { id: "bytes", type: "placed", data: Uint8Array.from([1, 2]) };
      const text = { id: "text", type: "placed", data: "AQI=" };
      for (const one of [event, bytes, text]) await log.append("s", one);
      await reused(log, "another type", [{ ...event, type: "Placed" }]);
      await reused(log, "other data", [{ ...event, data: { n: 2 } }]);
      await reused(log, "no data", [{ id: event.id, type: event.type, metadata: event.metadata }]);
      await reused(log, "other metadata", [{ ...event, metadata: { actor: "bob" } }]);
      await reused(log, "no metadata", [{ id: event.id, type: event.type, data: event.data }]);
      await reused(log, "other bytes", [{ ...bytes, data: Uint8Array.from([1, 3]) }]);
      await reused(log, "text for bytes", [{ ...bytes, data: "AQI=" }]);
      await reused(log, "bytes for text", [{ ...text, data: new TextEncoder().encode('"AQI="') }]);
    },
    "dedupe",
  ),

  claim(
    "the same id in another stream is another event",
    async (log) => {
      await log.append("s", { id: "an id", type: "placed" });
      const { isDuplicate, position } = await log.append("t", { id: "an id", type: "paid" });
      same("result", { isDuplicate, position }, { isDuplicate: false, position: 2 });
    },
    "dedupe",
  ),

  claim("events without ids are stored each time", async (log) => {
    await log.append("s", numbered(1));
    const { isDuplicate, version } = await log.append("s", numbered(1));
    same("result", { isDuplicate, version }, { isDuplicate: false, version: 2 });
  }),

  claim(
    "within the window an id is known also after its event was truncated",
    async (log) => {
      await repeated(log, identified("a", 2), { expect: 0 }, () => log.truncateStream("s", 3));
      await repeated(log, identified("b", 2), {}, () => log.truncateStream("s", 4));
    },
    "dedupe",
    "truncation",
  ),

  claim(
    "within the window a repeated append doesn't bring a deleted stream back",
    async (log) => {
      await repeated(log, identified("a", 2), {}, () => log.deleteStream("s"));
      same("versions", await read(log, "s"), []);
      same("deleted", (await log.streamInfo("s")).isDeleted, true);
      await reused(log, "an id of it with other content", [{ id: "a1", type: "other" }]);
    },
    "dedupe",
    "truncation",
  ),

  claim(
    "an append after a delete can be repeated with `none` and with its version",
    async (log, { dedupeWindow }) => {
      await log.append("s", numbered(2));
      await log.deleteStream("s");
      const window = (): Promise<unknown> => elsewhere(log, dedupeWindow + 1);
      await repeated(log, identified("a", 2), { expect: "none" }, window, { expect: 2 });
      const again = await log.append("s", identified("a", 2), { expect: "none" });
      same("result", [again.firstVersion, again.isDuplicate], [3, true]);
    },
    "truncation",
  ),

  claim(
    "beyond the window, what can't be read any more isn't stored a second time",
    async (log, { dedupeWindow }) => {
      await log.append("s", identified("a", 2), { expect: 0 });
      await log.truncateStream("s", 2);
      await elsewhere(log, dedupeWindow + 1);
      await refusedOrKnown(log, "with its version", identified("a", 2), 0, true);
      await refusedOrKnown(log, "with none", identified("a", 2), "none", true);
    },
    "truncation",
  ),

  claim(
    "a repeated append is known after the log was opened again",
    async (log, subject) => {
      const any = await log.append("s", identified("a", 2));
      const exact = await log.append("s", identified("b", 1), { expect: 2 });
      await afterReopening(subject, async (again) => {
        const anyAgain = await again.append("s", identified("a", 2));
        same("with `any`", anyAgain, { ...any, isDuplicate: true });
        const exactAgain = await again.append("s", identified("b", 1), { expect: 2 });
        same("with a version", exactAgain, { ...exact, isDuplicate: true });
        await reused(again, "a part of it", identified("a", 1));
      });
    },
    "dedupe",
    "persistence",
  ),
];
