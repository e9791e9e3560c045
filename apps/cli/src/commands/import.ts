import { EhdbError, isEhdbError, throwIfAborted } from "@ehdb/contracts";
import type { AppendResult } from "@ehdb/contracts";
import { openEventLog } from "@ehdb/eventlog";
import type { DurableEventLog } from "@ehdb/eventlog";
import { inspectStore } from "@ehdb/l0";
import type { Command } from "../command.ts";
import { eventIn } from "../event-lines.ts";
import type { ImportedEvent } from "../event-lines.ts";
import { exit } from "../exit-codes.ts";
import type { CommonOptions, Session } from "../session.ts";
import { list } from "../table.ts";
import { lockedTold } from "../writable.ts";

interface Options extends CommonOptions {
  readonly append?: boolean;
}

/** Appends on their way at once. */
const mostPending = 1024;

export const importEvents: Command<Options> = {
  name: "import",
  summary: "appends events from JSON Lines, as `ehdb export` writes them",
  about:
    "Into a new store, or with --append into one that is there. Ids, streams, types, data and metadata are taken over; positions, versions and times are given anew, in the order of the lines: they come out the same when the lines are all events of a store from its first on, but for the time. Events with ids may be imported again: those that are known aren't stored twice.",
  args: [
    ["<file>", "JSON Lines; - for standard input"],
    ["<dir>", "the new store's directory"],
  ],
  examples: [
    { line: "ehdb import events.jsonl ./copy", says: "makes a store of an export" },
    { line: "ehdb export ./store --stream order-1 | ehdb import - ./orders", says: "a store of one stream" },
    { line: "ehdb import events.jsonl ./store --append", says: "into a store that is there" },
  ],
  options: (parser) => {
    parser.option("--append", "the store may be there already");
  },
  async run(session, [file = "", dir = ""], { append = false }) {
    await assertPlace(session, dir, append);
    const { host } = session.io;
    const instead = "append the events in it";
    const log = await lockedTold(dir, instead, () => openEventLog({ dir, host, ...session.encryption }));
    const done = new Imported();
    try {
      await importAll(session, log, session.io.lines(file), done);
    } finally {
      await log.close();
    }
    const facts = { dir, ...done.facts };
    await session.answer(facts, () =>
      list([
        ["events", facts.events],
        ["known already", facts.duplicates],
        ["with another position", facts.otherPosition],
        ["with another version", facts.otherVersion],
      ]),
    );
    return exit.fine;
  },
};

class Imported {
  readonly facts = { events: 0, duplicates: 0, otherPosition: 0, otherVersion: 0 };

  add({ position, version }: ImportedEvent, result: AppendResult): void {
    this.facts.events++;
    if (result.isDuplicate) this.facts.duplicates++;
    if (position !== undefined && position !== result.position) this.facts.otherPosition++;
    if (version !== undefined && version !== result.version) this.facts.otherVersion++;
  }
}

/** Appends take effect in the order of their calls, so that many may be on their way. */
async function importAll(
  session: Session,
  log: DurableEventLog,
  lines: AsyncIterable<string>,
  done: Imported,
): Promise<void> {
  const pending = new Set<Promise<void>>();
  const failed: unknown[] = [];
  let number = 0;
  try {
    for await (const line of lines) {
      number++;
      if (line.trim() === "") continue;
      const imported = eventIn(line, number);
      await log.ready({ signal: session.signal });
      const call: Promise<void> = log
        .append(imported.stream, imported.event)
        .then(
          (result) => done.add(imported, result),
          (error: unknown) => void failed.push(error),
        )
        .finally(() => pending.delete(call));
      pending.add(call);
      if (pending.size >= mostPending) await Promise.race(pending);
      if (failed.length > 0) break;
    }
    throwIfAborted(session.signal, "the import");
  } finally {
    await Promise.all(pending);
  }
  if (failed.length > 0) throw failed[0];
}

async function assertPlace(session: Session, dir: string, mayBeThere: boolean): Promise<void> {
  const { host } = session.io;
  try {
    await inspectStore({ dir, host, ...session.encryption });
  } catch (error) {
    if (!isEhdbError(error, "NOT_FOUND")) throw error;
    const isEmpty = (await host.files.stat(dir)) === undefined || (await host.files.list(dir)).length === 0;
    if (isEmpty) return;
    throw new EhdbError("ALREADY_EXISTS", `${dir} holds something that isn't a store: give another directory`, { dir });
  }
  if (mayBeThere) return;
  const message = `${dir} holds a store: give another directory, or --append to add to it`;
  throw new EhdbError("ALREADY_EXISTS", message, { dir });
}
