import { EhdbError, isEhdbError, throwIfAborted } from "@ehdb/contracts";
import type { AppendResult, ErrorData } from "@ehdb/contracts";
import { openEventLog } from "@ehdb/eventlog";
import type { DurableEventLog } from "@ehdb/eventlog";
import { inspectStore } from "@ehdb/l0";
import type { Command } from "../command.ts";
import { eventIn } from "../event-lines.ts";
import type { ImportedEvent, ImportedLine as Line } from "../event-lines.ts";
import { exit } from "../exit-codes.ts";
import { hasPlace, importKept, isEmptyLog } from "../kept-import.ts";
import type { Kept } from "../kept-import.ts";
import type { CommonOptions, Session } from "../session.ts";
import { list } from "../table.ts";
import { lockedTold } from "../writable.ts";
import { writingKeys } from "../writing-keys.ts";

interface Options extends CommonOptions {
  readonly append?: boolean;
  readonly renumber?: boolean;
}

/** The largest there is: the ids of so many newest events are known. */
const mostWindow = 2 ** 24;
/** Appends on their way at once. */
const mostPending = 1024;

export const importEvents: Command<Options> = {
  name: "import",
  isWriter: true,
  summary: "takes in events from JSON Lines, as `ehdb export` writes them",
  about:
    "Into a new store, or with --append into one that is there. Into a new one events keep what they had: position, version, time and id, with the gaps that erased and hidden events have left; all lines are imported or none, and new events go on behind the last. That wants lines in order of position that say all three, as an export does. With --append, with --renumber, and when the first line doesn't say them, positions, versions and times are given anew, in the order of the lines. Events with ids may be appended again: one is known, and not stored twice, while it's one of the 16 777 216 newest events and no program with a smaller dedupeWindow has merged its id away. Those without an id are stored each time.",
  args: [
    ["<file>", "JSON Lines; - for standard input"],
    ["<dir>", "the new store's directory"],
  ],
  examples: [
    { line: "ehdb import events.jsonl ./copy", says: "makes a store of an export, with all places kept" },
    { line: "ehdb import events.jsonl ./anew --renumber", says: "the same without gaps: places and times are new" },
    { line: "ehdb export ./store --stream order-1 | ehdb import - ./orders", says: "a store of one stream" },
    { line: "ehdb import events.jsonl ./store --append", says: "into a store that is there" },
  ],
  options: (parser) => {
    parser.option("--append", "the store may be there already; positions, versions and times are given anew");
    parser.option("--renumber", "gives positions, versions and times anew, also in a new store");
  },
  async run(session, [file = "", dir = ""], { append = false, renumber = false }) {
    await assertPlace(session, dir, append);
    const events = eventsIn(session.io.lines(file));
    const done = new Imported();
    try {
      // Before a store is made: what can't be read, or isn't events at all, leaves nothing behind.
      const first = await firstOf(events);
      throwIfAborted(session.signal, "the import");
      const lines = from(first, events);
      const isKept = !append && !renumber && first !== undefined && hasPlace(first);
      if (isKept) done.keeps(await importKept(session, dir, lines));
      else await importAll(session, dir, lines, done);
    } finally {
      await events.return();
    }
    const facts = { dir, ...done.facts };
    await session.answer(facts, () =>
      list([
        ["events", facts.events],
        ["known already", facts.duplicates],
        ["without an id", facts.withoutId],
        ["places", facts.keepsPlaces ? "kept" : "given anew"],
        ["with another position", facts.otherPosition],
        ["with another version", facts.otherVersion],
      ]),
    );
    return exit.fine;
  },
};

class Imported {
  readonly facts = {
    events: 0,
    duplicates: 0,
    withoutId: 0,
    keepsPlaces: false,
    otherPosition: 0,
    otherVersion: 0,
  };

  keeps({ events, withoutId }: Kept): void {
    Object.assign(this.facts, { events, withoutId, keepsPlaces: true });
  }

  add({ event, position, version }: ImportedEvent, result: AppendResult): void {
    this.facts.events++;
    if (result.isDuplicate) this.facts.duplicates++;
    if (event.id === undefined) this.facts.withoutId++;
    if (position !== undefined && position !== result.position) this.facts.otherPosition++;
    if (version !== undefined && version !== result.version) this.facts.otherVersion++;
  }
}

async function* eventsIn(lines: AsyncIterable<string>): AsyncGenerator<Line, void> {
  let line = 0;
  for await (const text of lines) {
    line++;
    if (text.trim() !== "") yield { line, imported: eventIn(text, line) };
  }
}

async function firstOf(events: AsyncGenerator<Line, void>): Promise<Line | undefined> {
  try {
    const { value } = await events.next();
    return value ?? undefined;
  } catch (error) {
    throw further(error, "Nothing is imported: mend it, and import again");
  }
}

async function* from(first: Line | undefined, others: AsyncIterable<Line>): AsyncGenerator<Line, void> {
  if (first === undefined) return;
  yield first;
  yield* others;
}

async function importAll(session: Session, dir: string, lines: AsyncIterable<Line>, done: Imported): Promise<void> {
  const encryption = await writingKeys(session, dir);
  // Merges forget ids, and what else a program keeps: it does them by itself, with options of its own.
  const options = { dir, host: session.io.host, dedupeWindow: mostWindow, background: false, ...encryption };
  const log = await lockedTold(dir, "append the events in it", () => openEventLog(options));
  try {
    await appendAll(session, log, lines, done);
  } finally {
    await log.close();
  }
}

/** Appends take effect in the order of their calls, so that many may be on their way. */
async function appendAll(
  session: Session,
  log: DurableEventLog,
  lines: AsyncIterable<Line>,
  done: Imported,
): Promise<void> {
  const pending = new Set<Promise<void>>();
  const failed: Failed[] = [];
  /** Of the last event that was on its way. */
  let last = 0;
  try {
    for await (const { line, imported } of lines) {
      await log.ready({ signal: session.signal });
      const call: Promise<void> = log
        .append(imported.stream, imported.event)
        .then(
          (result) => done.add(imported, result),
          (error: Error) => void failed.push({ line, error }),
        )
        .finally(() => pending.delete(call));
      pending.add(call);
      last = line;
      if (pending.size >= mostPending) await Promise.race(pending);
      if (failed.length > 0) break;
    }
    throwIfAborted(session.signal, "the import");
  } catch (error) {
    await Promise.all(pending);
    throw unappended(failed, last) ?? further(error, goOn(last), { stored: last });
  }
  await Promise.all(pending);
  const error = unappended(failed, last);
  if (error !== undefined) throw error;
}

/** How to import what isn't there yet. The lines before again would double those that have no id. */
function goOn(stored: number): string {
  const there = stored === 0 ? "No line is stored" : `Lines up to ${stored} are stored`;
  return `${there}: go on with tail -n +${stored + 1} FILE | ehdb import - DIR --append`;
}

/** The error, with what has become of the lines. */
function further(error: unknown, what: string, data: ErrorData = {}): unknown {
  if (!isEhdbError(error)) return error;
  return new EhdbError(error.code, `${error.message}. ${what}`, { ...error.data, ...data }, error);
}

interface Failed {
  readonly line: number;
  readonly error: Error;
}

/** Of the first line that wasn't stored; others that were on their way are. */
function unappended([first]: readonly Failed[], last: number): Error | undefined {
  if (first === undefined || !isEhdbError(first.error)) return first?.error;
  const { line, error } = first;
  const behind = last > line ? `. Of the lines behind it some are stored, at most up to line ${last}` : "";
  const message = `line ${line} wasn't stored: ${error.message}${behind}. Then import again with --append: events with ids aren't stored twice`;
  return new EhdbError(error.code, message, { ...error.data, line, last }, error);
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
  if (mayBeThere || (await isEmptyLog(session, dir))) return;
  const message = `${dir} holds a store: give another directory, or --append to add to it`;
  throw new EhdbError("ALREADY_EXISTS", message, { dir });
}
