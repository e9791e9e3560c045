import { MIB } from "@ehdb/contracts";
import type { LogCheckpoint, LogRecord, RecordedEvent } from "@ehdb/contracts";
import { decodeData } from "./encoding.ts";
import { dataAt, layoutOf, metadataAt, ownIdAt, typeAt } from "./event-bytes.ts";
import type { EventLayout } from "./event-bytes.ts";
import type { Page } from "./event-stream.ts";
import type { EventPredicate } from "./filter.ts";
import { recordedEvent } from "./lazy-event.ts";
import type { StoredEvent } from "./lazy-event.ts";
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
  let taken: TakenRecord[] = [];
  let bytes = 0;
  for (const record of records) {
    if (selection.left === 0) break;
    const payload = asBuffer(record.payload);
    const layout = layoutOf(record, payload);
    const type = typeAt(payload, layout);
    if (selection.wants !== undefined && !selection.wants({ type, stream: record.key })) continue;
    if (selection.isAnyStream) {
      if (record.sort < floor.firstPosition) continue;
      const facts = streams.peek(record.key) ?? (await streams.load(record.key));
      if (record.version < facts.firstVersion) continue;
    }
    taken.push({ record, payload, layout, type });
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

interface TakenRecord {
  readonly record: LogRecord;
  readonly payload: Buffer;
  readonly layout: EventLayout;
  readonly type: string;
}

/** One copy for all of them: an event that is kept keeps its page's bytes. */
function pageOf(
  { upcasters }: LogContext,
  taken: readonly TakenRecord[],
  bytes: number,
  checkpoint: LogCheckpoint,
): Page {
  const copy = Buffer.allocUnsafeSlow(bytes);
  const events: RecordedEvent[] = [];
  let at = 0;
  for (const { record, payload, layout, type } of taken) {
    copy.set(payload, at);
    const stored = new StoredPayload(record, copy.subarray(at, at + payload.length), layout, type);
    events.push(recordedEvent(stored, upcasters));
    at += payload.length;
  }
  return { events, checkpoint };
}

class StoredPayload implements StoredEvent {
  readonly id: string;
  readonly stream: string;
  readonly version: number;
  readonly position: number;
  readonly time: number;
  readonly type: string;
  readonly #bytes: Buffer;
  readonly #layout: EventLayout;

  constructor(record: LogRecord, bytes: Buffer, layout: EventLayout, type: string) {
    this.id = record.id ?? ownIdAt(bytes, layout) ?? "";
    this.stream = record.key;
    this.version = record.version;
    this.position = record.sort;
    this.time = record.time;
    this.type = type;
    this.#bytes = bytes;
    this.#layout = layout;
  }

  readData(): unknown {
    return decodeData(dataAt(this.#bytes, this.#layout));
  }

  readMetadata(): unknown {
    return decodeData(metadataAt(this.#bytes, this.#layout));
  }
}

export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
