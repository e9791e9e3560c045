import { MIB } from "@ehdb/contracts";
import type { LogCheckpoint, LogRecord, RecordedEvent } from "@ehdb/contracts";
import { checkEvent, StoredContent, typeOf } from "./event-bytes.ts";
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

/** Events of some records, in their order, with the place behind each page. They hold copies: the records are views. */
export async function* pagesOf(
  context: LogContext,
  records: readonly LogRecord[],
  selection: Selection,
  epoch: number,
): AsyncGenerator<Page, void> {
  const { streams, floor } = context;
  const { wants, isAnyStream } = selection;
  let taken: LogRecord[] = [];
  let bytes = 0;
  for (const record of records) {
    if (selection.left === 0) break;
    const payload = asBuffer(record.payload);
    checkEvent(record, payload);
    if (wants !== undefined && !wants({ type: typeOf(payload, 0), stream: record.key })) continue;
    if (isAnyStream) {
      if (record.sort < floor.firstPosition) continue;
      const facts = streams.peek(record.key) ?? (await streams.load(record.key));
      if (record.version < facts.firstVersion) continue;
    }
    taken.push(record);
    bytes += payload.length;
    selection.left--;
    if (bytes < pageBytes) continue;
    yield pageOf(context, taken, bytes, { position: record.sort, epoch });
    taken = [];
    bytes = 0;
  }
  const position = records.at(-1)?.sort ?? 0;
  yield pageOf(context, taken, bytes, { position, epoch });
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
    const place = { stream: key, version, position: sort, time };
    events.push(recordedEvent(place, new StoredContent(copy, at, end, id), upcasters));
    at = end;
  }
  return { events, checkpoint };
}

export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
