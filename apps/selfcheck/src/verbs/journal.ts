import { join } from "node:path";
import { MIB } from "@ehdb/contracts";
import type { Journal } from "@ehdb/journal";
import type { Checks } from "../checks.ts";
import { Comparison } from "../comparison.ts";
import type { EventSource } from "../event-source.ts";
import { mibPerSecond, rounded } from "../figures.ts";
import { follow } from "../follow.ts";
import { runLoad } from "../load.ts";
import { tellFigures } from "../load-figures.ts";
import { LoadPlan } from "../load-plan.ts";
import { replayAll, replayStatedLoad } from "../replay.ts";
import { needRoom } from "../room.ts";
import type { Verb, VerbContext } from "../verb.ts";

interface Bench {
  readonly context: VerbContext;
  readonly checks: Checks;
  readonly source: EventSource;
  readonly plan: LoadPlan;
  /** Events by number, with the sequence they were acknowledged at. */
  readonly acknowledged: Map<number, number>;
}

export const journalVerb: Verb = {
  name: "journal",
  summary: "appends the events from several writers at once, and reads all back in every way there is",

  async run(context, checks) {
    const { source, origin } = await context.events();
    const { events } = context.options;
    await needRoom(context, events * source.meanBytes);
    checks.step({
      name: "events",
      count: events,
      value: Math.round(source.meanBytes),
      unit: "bytes each",
      message: origin,
    });
    const bench: Bench = {
      context,
      checks,
      source,
      plan: new LoadPlan(events, source.maxBytes),
      acknowledged: new Map(),
    };
    // Everything else as a user gets it: the figures are those of the defaults.
    const options = { dir: join(context.directory, "log"), host: context.host };
    const journal = await context.openJournal(options);
    try {
      await appendAndFollow(bench, journal);
      await readBack(bench, journal, "read back, byte for byte (scan)");
      await replayAll(context, checks, "replay", journal, { events, bytes: journal.stats().appendedBytes });
      await verify(bench, journal);
    } finally {
      const { state } = await journal.close();
      checks.step({ name: "closed", value: state, ok: state === "clean" });
    }
    const started = context.host.clock.monotonic();
    const again = await context.openJournal(options);
    const millis = context.host.clock.monotonic() - started;
    try {
      checks.step({ name: "opened again", value: rounded(millis), unit: "ms" });
      await readBack(bench, again, "read back after that");
    } finally {
      await again.close();
    }
    await replayStatedLoad(context, checks);
  },
};

async function appendAndFollow(bench: Bench, journal: Journal): Promise<void> {
  const { context, checks, source, plan, acknowledged } = bench;
  const { clock } = context.host;
  const latencies: number[] = [];
  const total = context.options.events;
  const follower = follow(journal, new Comparison(source, plan), clock, context.signal);
  const started = clock.monotonic();
  try {
    await runLoad({
      journal,
      source,
      plan,
      clock,
      round: 0,
      signal: context.signal,
      onAcknowledged: ({ numbers, sequence, millis }) => {
        if (numbers.length === 1) latencies.push(millis);
        numbers.forEach((number, i) => acknowledged.set(number, sequence + i));
        context.progress(acknowledged.size, total);
      },
    });
  } catch (error) {
    follower.cancel();
    throw error;
  }
  const millis = clock.monotonic() - started;
  const bytes = journal.stats().appendedBytes;
  const how = `${plan.writers} writers at once, ${rounded(millis / 1000)} s, ${journal.stats().syncs} syncs, ${journal.stats().rolls} rolls`;
  tellFigures(checks, { what: "append", latencies, events: total, millis, how });
  checks.step({ name: "sustained, bytes", count: total, value: mibPerSecond(bytes, millis), unit: "MiB/s" });
  const followed = await follower.upTo(total);
  followed.finish(acknowledged);
  checks.step({
    name: "followed live (tail)",
    count: followed.seen.size,
    ok: followed.problems.none,
    message: followed.problems.text,
  });
}

async function readBack(bench: Bench, journal: Journal, name: string): Promise<void> {
  const { context, checks, source, plan, acknowledged } = bench;
  const comparison = new Comparison(source, plan);
  for await (const records of journal.scan({ signal: context.signal }).batches()) {
    for (const record of records) comparison.see(record);
    context.progress(comparison.seen.size, acknowledged.size);
  }
  comparison.finish(acknowledged);
  checks.step({ name, count: comparison.seen.size, ok: comparison.problems.none, message: comparison.problems.text });
}

async function verify(bench: Bench, journal: Journal): Promise<void> {
  const { context, checks } = bench;
  const report = await journal.verify({ signal: context.signal, onProgress: context.progress });
  const first = report.damage[0];
  const message = first === undefined ? undefined : `${first.file}, byte ${first.offset}: ${first.reason}`;
  checks.step({
    name: "verified, every byte",
    count: report.records,
    value: rounded(report.bytes / MIB),
    unit: "MiB",
    ok: report.ok,
    message,
  });
}
