import { eventLogReaderOn } from "@ehdb/eventlog";
import type { EventLogReader } from "@ehdb/eventlog";
import { inspectStore, openEngineReader } from "@ehdb/l0";
import type { EngineReader } from "@ehdb/l0";
import { store } from "../command.ts";
import type { Command } from "../command.ts";
import { isEventLog } from "../event-log.ts";
import { exit } from "../exit-codes.ts";
import type { Session } from "../session.ts";
import { grouped, list, size, table } from "../table.ts";

export const stats: Command = {
  name: "stats",
  summary: "where a store stands now: commits, positions, consumers, disk",
  about:
    "Reads what the writer has stated durable. A writer may be at work: one that is idle is shown about 50 ms late.",
  args: [store],
  examples: [
    { line: "ehdb stats ./store", says: "tables" },
    { line: "ehdb stats ./store --json", says: "numbers for a monitor" },
  ],
  async run(session, [dir = ""]) {
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
