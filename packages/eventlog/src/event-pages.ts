import { MIB } from "@ehdb/contracts";
import type { LogCheckpoint, LogRecord, RecordedEvent } from "@ehdb/contracts";
import { checkEvent, ownIdOf, StoredContent, typeOf } from "./event-bytes.ts";
import type { Page } from "./event-stream.ts";
import type { EventPredicate } from "./filter.ts";
import { recordedEvent } from "./lazy-event.ts";
import type { LogContext } from "./log-context.ts";

/** A page is cut when it holds so much, so that few large events come at once. */
const pageBytes = MIB;

/** Which records are shown: those that are wanted, and not hidden when the page is made. */
export interface Selection {
  readonly wants: EventPredicate | undefined;
  /** Whether streams are looked at one by one; otherwise who reads has left out what is hidden. */
  readonly isAnyStream: boolean;
  /** At most so many; what is taken is counted off. */
  left: number;
}

/**
 * Events of some records, in their order, with the place behind each page. They hold copies: the records are views. What comes before one
 * that can't be read is shown.
 */
export async function* pagesOf(
  context: LogContext,
  records: readonly LogRecord[],
  selection: Selection,
  epoch: number,
): AsyncGenerator<Page, void> {
  let taken: LogRecord[] = [];
  let bytes = 0;
  let position = 0;
  const page = (): Page => {
    const made = pageOf(context, taken, bytes, { position, epoch });
    taken = [];
    bytes = 0;
    return made;
  };
  try {
    for (const record of records) {
      if (selection.left === 0) break;
      const payload = asBuffer(record.payload);
      checkEvent(record, payload);
      const isShown = shows(context, selection, record, payload);
      const isWanted = typeof isShown === "boolean" ? isShown : await isShown;
      position = record.sort;
      if (!isWanted) continue;
      taken.push(record);
      bytes += payload.length;
      selection.left--;
      if (bytes >= pageBytes) yield page();
    }
  } catch (error) {
    if (taken.length > 0) yield page();
    throw error;
  }
  position = records.at(-1)?.sort ?? 0;
  yield page();
}

function shows(
  { streams, floor }: LogContext,
  { wants, isAnyStream }: Selection,
  { key, sort, version }: LogRecord,
  payload: Buffer,
): boolean | Promise<boolean> {
  if (wants !== undefined && !wants({ type: typeOf(payload, 0), stream: key })) return false;
  if (!isAnyStream) return true;
  if (sort < floor.firstPosition) return false;
  const facts = streams.peek(key);
  if (facts !== undefined) return version >= facts.firstVersion;
  return streams.load(key).then(({ firstVersion }) => version >= firstVersion);
}

/** One copy for all of them: an event that is kept keeps its page's bytes. */
function pageOf(
  { upcasters }: LogContext,
  records: readonly LogRecord[],
  bytes: number,
  checkpoint: LogCheckpoint,
): Page {
  const copy = Buffer.allocUnsafeSlow(bytes);
  const events: RecordedEvent[] = [];
  let at = 0;
  for (const { id, key, version, sort, time, payload } of records) {
    copy.set(payload, at);
    const end = at + payload.length;
    const place = { id: id ?? ownIdOf(copy, at), stream: key, version, position: sort, time };
    events.push(recordedEvent(place, new StoredContent(copy, at, end), upcasters));
    at = end;
  }
  return { events, checkpoint };
}

export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
