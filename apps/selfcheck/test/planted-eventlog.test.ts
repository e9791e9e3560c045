import type { AppendOptions, AppendResult, EventLog, NewEvent } from "@ehdb/contracts";
import { EhdbError } from "@ehdb/contracts";
import { referenceEventLog } from "@ehdb/eventlog";
import { describe, expect, test } from "vitest";
import { AppendPlan } from "../src/append-plan.ts";
import { EventCalls } from "../src/eventlog/event-calls.ts";
import { EventFollower } from "../src/eventlog/event-follower.ts";
import { runEventLoad } from "../src/eventlog/event-load.ts";
import { checkReference, expectedOf } from "../src/eventlog/expected-log.ts";
import { compareStreams, compareWhole } from "../src/eventlog/log-comparison.ts";
import { replayCalls } from "../src/eventlog/reference-replay.ts";
import { quietContext, smallEvents } from "./small-events.ts";
import { replacing, tamperedLog, tampers } from "./tampered.ts";

const EVENTS = 400;
const PLANTED = 123;

/** Everything that is checked of a log in one process, and what of it isn't as it must be. */
async function check(tamper: (log: EventLog) => EventLog): Promise<Record<string, string>> {
  const source = smallEvents();
  const { host, signal } = quietContext;
  const log = tamper(await referenceEventLog());
  const reference = await referenceEventLog();
  const follower = new EventFollower(log, host.clock, signal, source);
  const load = await runEventLoad({
    log,
    source,
    plan: new AppendPlan(source, EVENTS, "cut by stream"),
    round: 0,
    clock: host.clock,
    onAppended: () => undefined,
  });
  const answers = await replayCalls(reference, source, load.calls);
  const expected = await expectedOf(reference, source);
  const findings = {
    answers,
    refused: load.refused.problems,
    stale: load.stale.problems,
    repeated: load.repeated.problems,
    followed: (await follower.compare(expected.events, log.position)).problems,
    reference: (await checkReference(reference, source)).problems,
    whole: (await compareWhole(quietContext, log, expected, source)).problems,
    streams: (await compareStreams(quietContext, log, expected, source)).problems,
  };
  expect(load.stale.count).toBeGreaterThan(10);
  expect(load.repeated.count).toBeGreaterThan(10);
  await log.close();
  return Object.fromEntries(
    Object.entries(findings).flatMap(([name, { text }]) => (text === undefined ? [] : [[name, text]])),
  );
}

type Append = (stream: string, events: readonly NewEvent[], options: AppendOptions) => Promise<AppendResult>;
const appending = (make: (append: Append) => Append) => (log: EventLog) =>
  replacing(log, { append: (original) => make(original as Append) });

test("a log that does what it must has no problem", async () => {
  expect(await check((log) => log)).toEqual({});
});

describe.each([
  ["scan", "whole"],
  ["readStream", "streams"],
  ["subscribe", "followed"],
] as const)("a %s that isn't right is found out as %s, and only there", (read, step) => {
  test.each(Object.entries(tampers))("%s", async (_, tamper) => {
    const found = await check((log) => tamperedLog(log, read, tamper(PLANTED)));
    expect(Object.keys(found)).toEqual([step]);
    expect(found[step]).toContain(`position ${PLANTED}`);
  });
});

test("an append that says another version is found out", async () => {
  let calls = 0;
  const found = await check(
    appending((append) => async (...given) => {
      const result = await append(...given);
      calls += 1;
      return calls === 50 ? { ...result, version: result.version + 1 } : result;
    }),
  );
  expect(found["answers"]).toMatch(/"version":\d+.* instead of .*"version":\d+/);
});

test("a stale version that is taken is found out", async () => {
  const found = await check(
    appending(
      (append) =>
        async (stream, events, { expect: _, ...others }) =>
          append(stream, events, others),
    ),
  );
  expect(Object.keys(found)).toContain("stale");
  expect(Object.keys(found)).toContain("answers");
  expect(found["stale"]).toMatch(/isDuplicate.*instead of CONFLICT/);
});

test("a refusal that names another version than there is is found out", async () => {
  const found = await check(
    appending((append) => async (...given) => {
      try {
        return await append(...given);
      } catch (error) {
        if (!(error instanceof EhdbError) || error.code !== "CONFLICT") throw error;
        const { data, message } = error;
        throw new EhdbError("CONFLICT", message, { ...data, actual: Number(data["actual"]) - 1 });
      }
    }),
  );
  expect(Object.keys(found).toSorted()).toEqual(["answers", "stale"]);
});

test("a repeated append that is stored twice is found out", async () => {
  let made = 0;
  const found = await check(
    appending((append) => (stream, events, options) => {
      made += 1;
      const expectation = typeof options.expect === "number" ? "any" : options.expect;
      if (typeof options.expect === "number") return append(stream, events, options);
      const again = events.map((event) => ({ ...event, id: `${event.id}-${made}` }));
      return append(stream, again, { ...options, expect: expectation ?? "any" });
    }),
  );
  expect(Object.keys(found)).toContain("repeated");
});

test("an append that is refused for no reason is found out", async () => {
  let calls = 0;
  const found = await check(
    appending((append) => async (stream, events, options) => {
      calls += 1;
      if (calls > 30 && calls < 60 && options.expect === "any")
        throw new EhdbError("CONFLICT", "no", { stream, expected: 1, actual: 2, isDeleted: false });
      return append(stream, events, options);
    }),
  );
  expect(Object.keys(found)).toContain("refused");
});

test("a reference that gives other bytes than were appended is found out", async () => {
  const source = smallEvents();
  const reference = await referenceEventLog();
  await new EventCalls(reference, source).append({ stream: source.stream(0), numbers: [0] }, "any");
  expect((await checkReference(reference, source)).problems.text).toBeUndefined();
  const tamper = tampers["changes a byte of the data"]?.(1) ?? (() => []);
  expect((await checkReference(tamperedLog(reference, "scan", tamper), source)).problems.count).toBe(1);
});
