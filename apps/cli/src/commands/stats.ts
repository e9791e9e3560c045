import { invalidOption } from "@ehdb/contracts";
import { eventLogReaderOn } from "@ehdb/eventlog";
import type { EventLogReader } from "@ehdb/eventlog";
import { inspectStore, openEngineReader, prometheusText } from "@ehdb/l0";
import type { EngineReader } from "@ehdb/l0";
import { store } from "../command.ts";
import type { Command } from "../command.ts";
import { isEventLog } from "../event-log.ts";
import { exit } from "../exit-codes.ts";
import type { CommonOptions, Session } from "../session.ts";
import { grouped, list, size, table } from "../table.ts";

interface StatsOptions extends CommonOptions {
  readonly prometheus?: boolean;
}

export const stats: Command<StatsOptions> = {
  name: "stats",
  summary: "where a store stands now: commits, positions, consumers, disk",
  about: `Reads what the writer has stated durable. A writer may be at work: one that is idle is shown about 50 ms late.
--prometheus prints the gauges that can be told from outside, in the text format 0.0.4 and under the engine's own names.
What an engine has counted since it was opened only its program knows: prometheusText(engine.stats()) there.`,
  args: [store],
  examples: [
    { line: "ehdb stats ./store", says: "tables" },
    { line: "ehdb stats ./store --json", says: "numbers for a monitor" },
    { line: "ehdb stats ./store --prometheus", says: "gauges for Prometheus" },
  ],
  options: (parser) => parser.option("--prometheus", "gauges as text for Prometheus"),
  async run(session, [dir = ""], { prometheus = false }) {
    if (prometheus) {
      if (session.json) throw invalidOption("--json", true, "left out: --prometheus is a format of its own");
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
  const { disk, sealedThrough, datasets: sealed } = await inspectStore(options);
  await using reader = await openEngineReader(options);
  const eventLog = isEventLog(reader) ? await eventLogFacts(reader) : undefined;
  return {
    dir: reader.dir,
    storeId: reader.storeId,
    epoch: reader.epoch,
    revision: reader.revision,
    sealedThrough,
    unsealed: reader.stats(),
    datasets: sealed.map(({ name, order, parts, bytes }) => ({
      name,
      order,
      parts,
      bytes,
      ...placesOf(reader, name, order),
    })),
    ...(eventLog === undefined ? {} : { eventLog }),
    disk,
  };
}

/** Only what is so whoever looks: what a program has counted isn't known here, and isn't said to be 0. */
async function gauges(session: Session, dir: string): Promise<string> {
  const { datasets, manifests, journal } = await inspectStore({ dir, host: session.io.host, ...session.encryption });
  return prometheusText({
    manifest_parts: sum(datasets.map(({ parts }) => parts)),
    manifest_versions_retained: manifests.filter(({ isInForce }) => !isInForce).length,
    parts_bytes: sum(datasets.map(({ bytes }) => bytes)),
    journal_bytes: sum(journal.segments.map(({ bytes }) => bytes)),
    manifest_bytes: sum(manifests.map(({ bytes }) => bytes)),
  });
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
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

async function eventLogFacts(reader: EngineReader) {
  const log: EventLogReader = await eventLogReaderOn(reader);
  const { position, firstPosition } = log;
  return { position, firstPosition, consumers: await log.consumers() };
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
