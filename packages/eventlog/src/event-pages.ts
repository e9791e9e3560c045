import type { LogCheckpoint, LogRecord, RecordedEvent } from "@ehdb/contracts";
import { checkEvent, ownIdOf, StoredContents, typeOf } from "./event-bytes.ts";
import type { Page } from "./event-stream.ts";
import type { EventPredicate } from "./filter.ts";
import { asBuffer, keptBytes } from "./kept-bytes.ts";
import { recordedEvent } from "./lazy-event.ts";
import type { LogContext } from "./log-context.ts";

/** Which records are shown: those that are wanted, and not hidden when the page is made. */
export interface Selection {
  readonly wants: EventPredicate | undefined;
  /** Whether streams are looked at one by one; otherwise who reads has left out what is hidden. */
  readonly isAnyStream: boolean;
  /** At most so many; what is taken is counted off. */
  left: number;
}

/** Events of some records, in their order, with the place behind them. What comes before one that can't be read is shown. */
export async function* pagesOf(
  context: LogContext,
  records: readonly LogRecord[],
  selection: Selection,
  epoch: number,
): AsyncGenerator<Page, void> {
  const taken: LogRecord[] = [];
  let position = 0;
  let memory: Uint8Array | undefined;
  let bytes: Buffer = noBytes;
  try {
    for (const record of records) {
      if (selection.left === 0) break;
      if (record.memory !== memory) {
        memory = record.memory;
        bytes = asBuffer(memory);
      }
      checkEvent(record, bytes);
      const isShown = shows(context, selection, record, bytes);
      const isWanted = typeof isShown === "boolean" ? isShown : await isShown;
      position = record.sort;
      if (!isWanted) continue;
      taken.push(record);
      selection.left--;
    }
  } catch (error) {
    if (taken.length > 0) yield pageOf(context, taken, { position, epoch });
    throw error;
  }
  yield pageOf(context, taken, { position: records.at(-1)?.sort ?? 0, epoch });
}

const noBytes = Buffer.alloc(0);

function shows(
  { streams, events }: LogContext,
  { wants, isAnyStream }: Selection,
  { key, sort, version, start }: LogRecord,
  bytes: Buffer,
): boolean | Promise<boolean> {
  if (wants !== undefined && !wants({ type: typeOf(bytes, start), stream: key })) return false;
  if (!isAnyStream) return true;
  if (sort < events.first) return false;
  const facts = streams.peek(key);
  if (facts !== undefined) return version >= facts.firstVersion;
  return streams.load(key).then(({ firstVersion }) => version >= firstVersion);
}

function pageOf({ upcasters }: LogContext, records: readonly LogRecord[], checkpoint: LogCheckpoint): Page {
  const events: RecordedEvent[] = [];
  for (const { first, last, bytes, shift } of keptBytes(records)) {
    const contents = new StoredContents(bytes);
    for (let i = first; i < last; i++) {
      const { id, key, version, sort, time, start, end } = records[i] as LogRecord;
      const at = start - shift;
      const place = {
        id: id ?? ownIdOf(bytes, at),
        stream: key,
        version,
        position: sort,
        time,
        type: typeOf(bytes, at),
      };
      events.push(recordedEvent(place, contents, at, end - shift, upcasters));
    }
  }
  return { events, checkpoint };
}
