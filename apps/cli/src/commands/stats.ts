import { eventLogReaderOn } from "@ehdb/eventlog";
import type { EventLogReader } from "@ehdb/eventlog";
import { inspectStore, openEngineReader } from "@ehdb/l0";
import type { EngineReader } from "@ehdb/l0";
import { Option } from "commander";
import { store } from "../command.ts";
import type { Command } from "../command.ts";
import { isEventLog } from "../event-log.ts";
import { exit } from "../exit-codes.ts";
import { gaugesText } from "../gauges.ts";
import type { CommonOptions, Session } from "../session.ts";
import { grouped, list, size, table } from "../table.ts";

interface StatsOptions extends CommonOptions {
  readonly prometheus?: boolean;
}

export const stats: Command<StatsOptions> = {
  name: "stats",
  summary: "where a store stands now: commits, positions, consumers, disk",
  about: `Reads what the writer has stated durable. A writer may be at work: one that is idle is shown about 50 ms late.
--prometheus prints the gauges that can be told from outside, in the text format 0.0.4: those of the files under the engine's own names,
ehdb_l0_revision, ehdb_eventlog_position, and ehdb_eventlog_consumer_lag{consumer="NAME"}.
What an engine has counted since it was opened only its program knows: prometheusText(engine.stats()) there.`,
  args: [store],
  examples: [
    { line: "ehdb stats ./store", says: "tables" },
    { line: "ehdb stats ./store --json", says: "numbers for a monitor" },
    { line: "ehdb stats ./store --prometheus", says: "gauges for Prometheus" },
  ],
  options: (parser) =>
    void parser.addOption(new Option("--prometheus", "gauges as text for Prometheus").conflicts("json")),
  async run(session, [dir = ""], { prometheus = false }) {
    if (prometheus) {
      await session.io.out(await gauges(session, dir));
      return exit.fine;
    }
    const facts = await factsOf(session, dir);
    await session.answer(facts, () => text(facts));
    return exit.fine;
  },
};

type Facts = Awaited<ReturnType<typeof factsOf>>;

async function factsOf(session: Session, dir: string) {
  const options = { dir, host: session.io.host, ...session.encryption };
  const { disk } = await inspectStore(options);
  await using reader = await openEngineReader(options);
  const eventLog = await eventLogFacts(reader);
  // One moment from here on: nothing waits.
  const { sealedThrough, datasets, parts, unsealedCommits, unsealedBytes, blockCacheBytes } = reader.stats();
  return {
    dir: reader.dir,
    storeId: reader.storeId,
    epoch: reader.epoch,
    revision: reader.revision,
    sealedThrough,
    unsealed: { parts, unsealedCommits, unsealedBytes, blockCacheBytes },
    datasets: reader.datasets.map(({ name, order }) => ({
      name,
      order,
      ...(datasets[name] ?? { parts: 0, bytes: 0 }),
      ...placesOf(reader, name, order),
    })),
    ...(eventLog === undefined ? {} : { eventLog }),
    disk,
  };
}

async function gauges(session: Session, dir: string): Promise<string> {
  const options = { dir, host: session.io.host, ...session.encryption };
  const facts = await inspectStore(options);
  await using reader = await openEngineReader(options);
  const eventLog = await eventLogFacts(reader);
  return gaugesText(facts, { revision: reader.revision, ...(eventLog === undefined ? {} : { eventLog }) });
}

function placesOf(
  reader: EngineReader,
  name: string,
  order: string,
): { lastRevision: number; first?: number; last?: number } {
  const lastRevision = reader.lastRevision(name);
  if (order === "by-key") return { lastRevision };
  const { first, last } = reader.log(name);
  return { lastRevision, first, last };
}

/** Of the moment that the reader has when it resolves. */
async function eventLogFacts(reader: EngineReader) {
  if (!isEventLog(reader)) return undefined;
  const log: EventLogReader = await eventLogReaderOn(reader);
  const consumers = await log.consumers();
  const { position, firstPosition } = log;
  return { position, firstPosition, consumers };
}

function text({ storeId, epoch, revision, sealedThrough, unsealed, datasets, eventLog, disk }: Facts): string {
  const about = list([
    ["store", storeId],
    ["epoch", epoch],
    ["commits", revision],
    ["of them in parts", sealedThrough],
    ["in the journal only", `${grouped(unsealed.unsealedCommits)}, ${size(unsealed.unsealedBytes)}`],
    ["disk", size(disk.total)],
  ]);
  const rows = datasets.map(({ name, order, first, last, lastRevision, parts, bytes }) => [
    name,
    order,
    first === undefined || last === undefined ? "" : `${grouped(first)} to ${grouped(last)}`,
    lastRevision,
    parts,
    size(bytes),
  ]);
  const of = table(["dataset", "order", "positions:", "last commit:", "parts:", "bytes:"], rows);
  const consumers = eventLog?.consumers ?? [];
  if (consumers.length === 0) return `${about}\n${of}`;
  const lags = consumers.map(({ name, committed, lag }) => [name, committed, lag]);
  return `${about}\n${of}\n${table(["consumer", "acknowledged:", "behind by:"], lags)}`;
}
