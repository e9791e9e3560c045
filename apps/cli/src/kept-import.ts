import { EhdbError, isEhdbError } from "@ehdb/contracts";
import type { ImportedEvent } from "@ehdb/contracts";
import { eventLogReaderOn, openEventLog } from "@ehdb/eventlog";
import { openEngineReader } from "@ehdb/l0";
import { isEventLog } from "./event-log.ts";
import type { ImportedLine } from "./event-lines.ts";
import type { Session } from "./session.ts";
import { lockedTold } from "./writable.ts";
import { writingKeys } from "./writing-keys.ts";

const batchLines = 256;

export interface Kept {
  readonly events: number;
  readonly withoutId: number;
}

/** Whether a line says all of where its event was. */
export function hasPlace({ imported: { position, version, time } }: ImportedLine): boolean {
  return position !== undefined && version !== undefined && time !== undefined;
}

/** Whether there is an event log that never had an event: what an import that failed has left. */
export async function isEmptyLog(session: Session, dir: string): Promise<boolean> {
  try {
    await using reader = await openEngineReader({ dir, host: session.io.host, ...session.encryption });
    return isEventLog(reader) && (await eventLogReaderOn(reader)).position === 0;
  } catch (error) {
    if (isEhdbError(error)) return false;
    throw error;
  }
}

/** All lines or none, each event at the place that it had. */
export async function importKept(session: Session, dir: string, lines: AsyncIterable<ImportedLine>): Promise<Kept> {
  const encryption = await writingKeys(session, dir);
  // Ids come as the store had them; what a program's window tells of them it tells later.
  const options = { dir, host: session.io.host, dedupeWindow: 0, background: false, ...encryption };
  const log = await lockedTold(dir, "import the events in it", () => openEventLog(options));
  const batches = new Batches(lines);
  try {
    const { events } = await log.import(batches.all(), { signal: session.signal });
    return { events, withoutId: batches.withoutId };
  } catch (error) {
    throw batches.told(error);
  } finally {
    await log.close();
  }
}

/** Lines some at a time; and where an event came from that is refused. */
class Batches {
  withoutId = 0;
  readonly #lines: AsyncIterable<ImportedLine>;
  #next: ImportedLine[] = [];
  /** What is being taken in. */
  #given: readonly ImportedLine[] = [];

  constructor(lines: AsyncIterable<ImportedLine>) {
    this.#lines = lines;
  }

  async *all(): AsyncGenerator<readonly ImportedEvent[]> {
    for await (const line of this.#lines) {
      if (!hasPlace(line)) throw noPlace(line);
      if (line.imported.event.id === undefined) this.withoutId++;
      this.#next.push(line);
      if (this.#next.length === batchLines) yield this.#taken();
    }
    yield this.#taken();
  }

  /** With the line's number, and what has become of all of them. */
  told(error: unknown): unknown {
    if (!isEhdbError(error)) return error;
    const { position } = error.data;
    const line = this.#given.findLast(({ imported }) => imported.position === position)?.line ?? error.data["line"];
    const where = line === undefined || error.data["line"] !== undefined ? "" : `line ${line}: `;
    const left = error.code === "OUTCOME_UNKNOWN" ? "" : ". Nothing is imported: then import again, from the start";
    const data = { ...error.data, ...(line !== undefined && { line }) };
    return new EhdbError(error.code, `${where}${error.message}${left}`, data, error);
  }

  #taken(): ImportedEvent[] {
    this.#given = this.#next;
    this.#next = [];
    return this.#given.map(({ imported: { stream, position = 0, version = 0, time = 0, event } }) => ({
      ...event,
      // That there is none is said: an event that lost it is refused.
      data: event.data,
      stream,
      position,
      version,
      time,
    }));
  }
}

function noPlace({ line }: ImportedLine): EhdbError {
  const message = `line ${line} doesn't say position, version and time, as those before it do. Import with --renumber to give all of them anew`;
  return new EhdbError("INVALID_ARGUMENT", message, { line });
}
