import { join } from "node:path";
import { MIB } from "@ehdb/contracts";
import type { EventLog } from "@ehdb/contracts";
import { referenceEventLog } from "@ehdb/eventlog";
import type { DurableEventLog, EventLogOptions } from "@ehdb/eventlog";
import type { Checks } from "../checks.ts";
import { comparedEvents } from "../compared-events.ts";
import { AppendPlan } from "../append-plan.ts";
import { EventFollower } from "../eventlog/event-follower.ts";
import { runEventLoad } from "../eventlog/event-load.ts";
import type { EventLoad } from "../eventlog/event-load.ts";
import { keepEventLogRules } from "../eventlog/event-rules.ts";
import { checkReference, expectedOf } from "../eventlog/expected-log.ts";
import { killedLog } from "../eventlog/killed-log.ts";
import { compareLogs } from "../eventlog/log-comparison.ts";
import { replayCalls } from "../eventlog/reference-replay.ts";
import { replayStatedEvents } from "../eventlog/stated-replay.ts";
import type { EventSource } from "../event-source.ts";
import { rounded } from "../figures.ts";
import { tellFinding } from "../finding.ts";
import { killStore } from "../kills.ts";
import { tellFigures } from "../load-figures.ts";
import type { Verb, VerbContext } from "../verb.ts";

/** What all of it is held against, and with what. */
interface Bench {
  readonly context: VerbContext;
  readonly checks: Checks;
  readonly source: EventSource;
  readonly events: number;
  /** In memory: what the log must say. */
  readonly reference: EventLog;
}

export const eventLogVerb: Verb = {
  name: "eventlog",
  alias: "durable-eventlog",
  summary: "fills an event log from several writers, kills some, and compares every stream with the reference",
  facts: { storage_backend: "l0", durable_replay_records: 0, durable_replay_ok: false },

  async run(context, checks) {
    const { source, events } = await comparedEvents(context, checks);
    const bench = { context, checks, source, events, reference: await newReference(context) };
    // As a user gets it: the figures are those of the defaults.
    const options = { dir: join(context.directory, "log"), host: context.host };
    const log = await context.openEventLog(options);
    try {
      await fill(bench, log);
    } finally {
      await log.close();
    }
    await openAgain(bench, options);
    await killStore(context, checks, killedLog(context, source, await newReference(context)));
    await keepEventLogRules(context, checks);
    await replayStatedEvents(context, checks);
  },
};

/** What is repeated here is repeated soon: within this window, which it takes the reference less time to look through. */
const newReference = ({ host }: VerbContext): Promise<EventLog> => referenceEventLog({ host, dedupeWindow: 1024 });

/** The load with its figures, and two followers; then all that is there, at once. */
async function fill(bench: Bench, log: DurableEventLog): Promise<void> {
  const { context, checks, source, events, reference } = bench;
  const { clock } = context.host;
  const latencies: number[] = [];
  const followers = [new EventFollower(log, clock, context.signal, source)];
  let [acknowledged, millis] = [0, 0];
  let load: EventLoad;
  const started = clock.monotonic();
  try {
    load = await runEventLoad({
      log,
      source,
      clock,
      round: 0,
      plan: new AppendPlan(source, events, "cut by stream"),
      signal: context.signal,
      onAppended: ({ numbers }, _, took) => {
        if (numbers.length === 1) latencies.push(took);
        acknowledged += numbers.length;
        if (followers.length === 1 && acknowledged * 2 >= events) {
          followers.push(new EventFollower(log, clock, context.signal));
        }
        context.progress(acknowledged, events);
      },
    });
    millis = clock.monotonic() - started;
  } catch (error) {
    for (const follower of followers) follower.cancel();
    throw error;
  }
  const { seals, sealed_bytes: sealedBytes } = log.engine.stats();
  const how = `8 writers and 2 followers at once, ${rounded(millis / 1000)} s, ${seals} generations sealed, ${rounded(sealedBytes / MIB)} MiB`;
  tellFigures(checks, { what: "append", latencies, events: acknowledged, millis, how });
  tellFinding(checks, "appended as expected", { ...load.refused, count: acknowledged });
  tellFinding(checks, "refused with the true version", load.stale);
  tellFinding(checks, "repeated, and not stored twice", load.repeated);
  const problems = await replayCalls(reference, source, load.calls);
  tellFinding(checks, "each answer as the reference's", { count: load.calls.length, problems });
  const expected = await expectedOf(reference, source);
  for (const [index, follower] of followers.entries()) {
    const name = index === 0 ? "followed from the start" : "caught up half-way, then followed";
    tellFinding(checks, name, await follower.compare(expected.events, log.position));
  }
  tellFinding(checks, "the reference, byte for byte", await checkReference(reference, source));
  await compareLogs(context, checks, "at once", log, expected, source);
}

/** The same after a close, when some of it is hidden, and when all of it is in parts. */
async function openAgain({ context, checks, source, reference }: Bench, options: EventLogOptions): Promise<void> {
  const { clock } = context.host;
  const started = clock.monotonic();
  const log = await context.openEventLog(options);
  try {
    checks.step({ name: "opened again", value: rounded(clock.monotonic() - started), unit: "ms" });
    const before = await expectedOf(reference, source);
    const { count, problems } = await compareLogs(context, checks, "opened again", log, before, source);
    checks.tell({
      durable_replay_records: count,
      durable_replay_ok: problems.none && count === before.events.length,
    });
    for (const each of [log, reference]) await hideSome(each, source);
    await log.engine.seal();
    const { manifest_parts: parts } = log.engine.stats();
    checks.step({ name: "truncated, deleted, then sealed", value: parts, unit: "parts", ok: parts > 0 });
    await compareLogs(context, checks, "sealed", log, await expectedOf(reference, source), source);
  } finally {
    await log.close();
  }
}

/** Half of the first stream, and all of the last. */
async function hideSome(log: EventLog, { streams }: EventSource): Promise<void> {
  const [first = "", last = ""] = [streams[0], streams.at(-1)];
  const { version } = await log.streamInfo(first);
  await log.truncateStream(first, Math.max(1, Math.ceil(version / 2)));
  if (last !== first) await log.deleteStream(last);
}
