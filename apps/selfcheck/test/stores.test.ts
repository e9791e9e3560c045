import { EhdbError } from "@ehdb/contracts";
import type { Batches, LogDataset, LogRecord, NewEvent } from "@ehdb/contracts";
import { openEventLog, referenceEventLog } from "@ehdb/eventlog";
import { openEngine } from "@ehdb/l0";
import type { EngineStats } from "@ehdb/l0";
import { expect, test } from "vitest";
import { keepEventLogRules } from "../src/eventlog/event-rules.ts";
import { killedLog } from "../src/eventlog/killed-log.ts";
import { killStore } from "../src/kills.ts";
import { killedEngine } from "../src/l0/killed-engine.ts";
import { eventLogVerb } from "../src/verbs/eventlog.ts";
import { l0Verb } from "../src/verbs/l0.ts";
import type { Verb, VerbContext } from "../src/verb.ts";
import { failedSteps, runVerb } from "./in-process.ts";
import { replacing, tamperedLog, tampers } from "./tampered.ts";

const PLANTED = 77;
const dropping = tampers["drops an event"]?.(PLANTED) ?? (() => []);

/** Opens of a directory are counted, and one of them gives a log that drops an event. */
function tamperedAt(directory: string, open: number): VerbContext["openEventLog"] {
  let opens = 0;
  return async (options) => {
    const log = await openEventLog(options);
    if (!options.dir.endsWith(directory)) return log;
    opens += 1;
    return opens === open ? tamperedLog(log, "scan", dropping) : log;
  };
}

async function* without(batches: Batches<LogRecord>, sort: number): AsyncGenerator<readonly LogRecord[]> {
  for await (const records of batches) yield records.filter((record) => record.sort !== sort);
}

/** The part of a verb that kills, alone. */
const logKills: Verb = {
  name: "kills",
  summary: "",
  run: async (context, checks) => {
    const { source } = await context.events();
    await killStore(context, checks, killedLog(context, source, await referenceEventLog()));
  },
};
const engineKills: Verb = {
  name: "kills",
  summary: "",
  run: async (context, checks) => {
    const { source } = await context.events();
    await killStore(context, checks, killedEngine(context, source));
  },
};

test("an event log that is right is equal, and says how many events came back", async () => {
  const report = await runVerb(eventLogVerb);
  expect(failedSteps(report)).toEqual([]);
  expect(report).toMatchObject({
    verb: "eventlog",
    ok: true,
    storage_backend: "l0",
    durable_replay_records: 300,
    durable_replay_ok: true,
  });
  const rules = report.steps.find(({ name }) => name === "rules of the contract, kept");
  expect(rules?.count).toBeGreaterThan(100);
});

test("an event that is missing after a reopen makes the verb not equal, and the facts say so", async () => {
  const report = await runVerb(eventLogVerb, { openEventLog: tamperedAt("/log", 2) }, { kills: 0 });
  expect(report).toMatchObject({
    ok: false,
    outcome: "not equal",
    durable_replay_records: 299,
    durable_replay_ok: false,
  });
  expect(failedSteps(report)[0]).toContain("the whole log, opened again: position 77: event ");
});

test("an acknowledged event that is missing after a kill makes the verb not equal", async () => {
  const report = await runVerb(logKills, { openEventLog: tamperedAt("/killed", 1) });
  expect(report).toMatchObject({ ok: false, outcome: "not equal" });
  expect(failedSteps(report)[0]).toMatch(
    /^acknowledged, found once, byte for byte: after kill 1: .*comes where its event/,
  );
});

test("an append that is stored again when it's repeated after a kill makes the verb not equal", async () => {
  const report = await runVerb(logKills, {
    openEventLog: async (options) =>
      replacing(await openEventLog(options), {
        append: (original) => (stream: never, events: never) =>
          original(stream, (events as NewEvent[]).map((event) => ({ ...event, id: `${event.id}'` })) as never),
      }),
  });
  expect(failedSteps(report)[0]).toMatch(/repeated: .*"isDuplicate":false.* instead of .*"isDuplicate":true/);
});

test("a commit that is missing after a kill makes the verb not equal", async () => {
  const report = await runVerb(engineKills, {
    openEngine: async (options) =>
      replacing(await openEngine(options), {
        log: (original) => (name: never) =>
          replacing(original(name) as LogDataset, {
            scan:
              (scan) =>
              (...given: never[]) =>
                without(scan(...given) as Batches<LogRecord>, PLANTED),
          }),
      }),
  });
  expect(report.outcome).toBe("not equal");
  expect(failedSteps(report)[0]).toContain("acknowledged, found once, byte for byte: after kill 1");
});

test("a rule that an event log breaks makes the verb not equal, and is named", async () => {
  const rules: Verb = { name: "rules", summary: "", run: keepEventLogRules };
  const report = await runVerb(rules, {
    openEventLog: async (options) => replacing(await openEventLog(options), { consumers: () => async () => [] }),
  });
  expect(report.outcome).toBe("not equal");
  expect(failedSteps(report)).toHaveLength(1);
  expect(failedSteps(report)[0]).toMatch(/^rules of the contract, kept: ".*consumer/);
});

test("a directory that somebody else has open is unavailable, not invalid, and says so", async () => {
  const locked = async (): Promise<never> => {
    throw new EhdbError("LOCKED", "the directory is in use by another process");
  };
  for (const verb of [eventLogVerb, l0Verb]) {
    const report = await runVerb(verb, { openEventLog: locked, openEngine: locked });
    expect(report).toMatchObject({ ok: false, outcome: "unavailable" });
    expect(failedSteps(report).join()).toMatch(/LOCKED: .*in use by another process.*nothing was judged/);
  }
});

test("an engine that is right is equal", async () => {
  const report = await runVerb(l0Verb);
  expect(failedSteps(report)).toEqual([]);
  expect(report).toMatchObject({ ok: true, outcome: "ok" });
});

test("an error that the engine counted makes the verb not equal, and is named", async () => {
  const counting: VerbContext["openEngine"] = async (options) =>
    replacing(await openEngine(options), {
      stats: (original) => () => ({ ...(original() as EngineStats), seal_failed: 1 }),
    });
  const report = await runVerb(l0Verb, { openEngine: counting }, { kills: 0 });
  expect(report.outcome).toBe("not equal");
  expect(failedSteps(report)[0]).toBe("counters of errors are 0: seal_failed 1");
});

test("without kills the stores' verbs do the rest, and say that nobody was killed", async () => {
  const report = await runVerb(l0Verb, {}, { kills: 0, events: 1 });
  expect(failedSteps(report)).toEqual([]);
  expect(report.steps.map(({ name }) => name)).toContain("not killed");
});
