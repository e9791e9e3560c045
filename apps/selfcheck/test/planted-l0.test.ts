import { EhdbError } from "@ehdb/contracts";
import type { Batches, Commit, Engine, LogDataset, LogRecord, MapDataset, MapRecord } from "@ehdb/contracts";
import { expect, test } from "vitest";
import { AppendPlan } from "../src/append-plan.ts";
import { runCommitLoad } from "../src/l0/commit-load.ts";
import { compareEngines } from "../src/l0/engine-comparison.ts";
import { referenceOf, replayCommits } from "../src/l0/reference-commits.ts";
import { quietContext, smallEvents } from "./small-events.ts";
import { replacing } from "./tampered.ts";

const EVENTS = 400;
const PLANTED = 123;

/** Everything that is checked of an engine in one process, and what of it isn't as it must be. */
async function check(tamper: (engine: Engine) => Engine): Promise<Record<string, string>> {
  const source = smallEvents();
  const engine = tamper(referenceOf());
  const reference = referenceOf();
  const load = await runCommitLoad({
    engine,
    source,
    plan: new AppendPlan(source, EVENTS, "whole"),
    round: 0,
    clock: quietContext.host.clock,
    onCommitted: () => undefined,
  });
  const findings = {
    answers: await replayCommits(reference, source, load.calls),
    refused: load.refused.problems,
    stale: load.stale.problems,
    repeated: load.repeated.problems,
    compared: (await compareEngines(engine, reference, source)).problems,
  };
  expect(load.stale.count).toBeGreaterThan(10);
  expect(load.repeated.count).toBeGreaterThan(10);
  return Object.fromEntries(
    Object.entries(findings).flatMap(([name, { text }]) => (text === undefined ? [] : [[name, text]])),
  );
}

type Tamper<T> = (records: readonly T[]) => readonly T[];

async function* tampered<T>(batches: Batches<T>, tamper: Tamper<T>): AsyncGenerator<readonly T[]> {
  for await (const records of batches) yield tamper(records);
}

const reading = (original: (...args: never[]) => unknown, tamper: Tamper<LogRecord & MapRecord>) =>
  ((...args: never[]) => tampered(original(...args) as Batches<LogRecord & MapRecord>, tamper)) as unknown;

/** An engine of which one way to read one dataset isn't right. */
const tamperedEngine =
  (kind: "log" | "map", method: string, tamper: Tamper<LogRecord & MapRecord>) =>
  (engine: Engine): Engine =>
    replacing(engine, {
      [kind]: (original) => (name: never) => {
        const dataset = original(name) as LogDataset | MapDataset;
        return replacing<LogDataset | MapDataset>(dataset, { [method]: (read) => reading(read, tamper) });
      },
    });

const isPlanted = ({ sort }: LogRecord): boolean => sort === PLANTED;
const isLatest = ({ key }: MapRecord): boolean => key === "busy";
const bytes = Buffer.from("changed");

test("an engine that does what it must has no problem", async () => {
  expect(await check((engine) => engine)).toEqual({});
});

test.each<[string, "log" | "map", string, Tamper<LogRecord & MapRecord>]>([
  ["a scan that drops a record", "log", "scan", (records) => records.filter((one) => !isPlanted(one))],
  [
    "a scan that gives one twice",
    "log",
    "scan",
    (records) => records.flatMap((one) => (isPlanted(one) ? [one, one] : [one])),
  ],
  ["a scan that turns batches around", "log", "scan", (records) => records.toReversed()],
  [
    "another version",
    "log",
    "read",
    (records) => records.map((one) => (isPlanted(one) ? { ...one, version: one.version + 1 } : one)),
  ],
  [
    "another revision",
    "log",
    "read",
    (records) => records.map((one) => (isPlanted(one) ? { ...one, revision: one.revision + 1 } : one)),
  ],
  [
    "other bytes",
    "log",
    "read",
    (records) => records.map((one) => (isPlanted(one) ? { ...one, payload: bytes } : one)),
  ],
  ["a map that drops a value", "map", "scan", (records) => records.filter((one) => !isLatest(one))],
  [
    "a map with other bytes",
    "map",
    "scan",
    (records) => records.map((one) => (isLatest(one) ? { ...one, payload: bytes } : one)),
  ],
])("%s is found out by comparing, and only there", async (_, kind, method, tamper) => {
  expect(Object.keys(await check(tamperedEngine(kind, method, tamper)))).toEqual(["compared"]);
});

test("a map that gives an old value is found out", async () => {
  const old = { key: "busy", revision: 1, time: 0, payload: bytes };
  const found = await check((engine) =>
    replacing(engine, {
      map: (original) => (name: never) => {
        const isStaged = engine.revision < EVENTS / 2;
        const map = original(name) as MapDataset;
        return isStaged
          ? map
          : replacing(map, { get: () => async (key: never) => (key === "busy" ? old : map.get(key)) });
      },
    }),
  );
  expect(Object.keys(found)).toEqual(["compared"]);
});

test("a commit that says another revision is found out", async () => {
  let calls = 0;
  const found = await check((engine) =>
    replacing(engine, {
      commit:
        (original) =>
        async (...given: never[]) => {
          const commit = (await original(...given)) as Commit;
          calls += 1;
          return calls === 50 ? { ...commit, revision: commit.revision + 1 } : commit;
        },
    }),
  );
  expect(Object.keys(found)).toContain("answers");
});

test("a refusal that names another revision than there is is found out", async () => {
  const found = await check((engine) =>
    replacing(engine, {
      commit:
        (original) =>
        async (...given: never[]) => {
          try {
            return await (original(...given) as Promise<Commit>);
          } catch (error) {
            if (!(error instanceof EhdbError)) throw error;
            throw new EhdbError(error.code, error.message, { ...error.data, actual: 0 });
          }
        },
    }),
  );
  expect(Object.keys(found).toSorted()).toEqual(["answers", "stale"]);
});
