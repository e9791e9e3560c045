import type { LogCheckpoint, LogRecord, RecordedEvent } from "@ehdb/contracts";
import { checkEvent, StoredContents, typeOf } from "./event-bytes.ts";
import type { Page } from "./event-stream.ts";
import type { EventPredicate } from "./filter.ts";
import { asBuffer, keptBytes } from "./kept-bytes.ts";
import { lazyEvent } from "./lazy-event.ts";
import type { EventHead } from "./lazy-event.ts";
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
  const { wants, isAnyStream } = selection;
  const candidate = new Candidate();
  let hidden = isAnyStream ? hiddenNow(context) : nothingHidden;
  const lowest = Math.min(records[0]?.sort ?? 0, records.at(-1)?.sort ?? 0);
  let seen: LogRecord | undefined;
  try {
    for (const record of records) {
      if (selection.left === 0) break;
      const bytes = candidate.be(record);
      checkEvent(record, bytes);
      let isShown = wants === undefined || wants(candidate);
      if (isShown && isAnyStream) {
        if (lowest < hidden.before && record.sort < hidden.before) isShown = false;
        else if (hidden.isInStreams) {
          const facts = context.streams.peek(record.key) ?? (await context.streams.load(record.key));
          // Others went on meanwhile, if it waited.
          hidden = hiddenNow(context);
          isShown = record.version >= facts.firstVersion;
        }
      }
      seen = record;
      if (!isShown) continue;
      taken.push(record);
      selection.left--;
    }
  } catch (error) {
    if (taken.length > 0) yield pageOf(context, taken, { position: seen?.sort ?? 0, epoch });
    throw error;
  }
  yield pageOf(context, taken, { position: records.at(-1)?.sort ?? 0, epoch });
}

const noBytes = Buffer.alloc(0);

/** What a filter looks at, of one record after the other: decoded when it does. */
class Candidate {
  #record: LogRecord | undefined;
  #bytes: Buffer = noBytes;

  /** Returns the record's memory. */
  be(record: LogRecord): Buffer {
    if (record.memory !== this.#record?.memory) this.#bytes = asBuffer(record.memory);
    this.#record = record;
    return this.#bytes;
  }

  get type(): string {
    return typeOf(this.#bytes, this.#record?.start ?? 0);
  }

  get stream(): string {
    return this.#record?.key ?? "";
  }
}

/** What isn't shown of any stream, as long as nobody else goes on. */
interface Hidden {
  /** Positions before this one. */
  readonly before: number;
  /** Events of some streams: each is looked at. */
  readonly isInStreams: boolean;
}

const nothingHidden: Hidden = { before: 0, isInStreams: false };

function hiddenNow({ events, streams }: LogContext): Hidden {
  return { before: events.first, isInStreams: !streams.isEmpty };
}

function pageOf({ upcasters }: LogContext, records: readonly LogRecord[], checkpoint: LogCheckpoint): Page {
  const events: RecordedEvent[] = [];
  for (const { first, last, bytes, shift, isOwn } of keptBytes(records)) {
    const contents = new StoredContents(bytes);
    for (let i = first; i < last; i++) {
      const record = records[i] as LogRecord;
      const head = isOwn ? record : headOf(record);
      events.push(lazyEvent(head, contents, record.start - shift, record.end - shift, upcasters));
    }
  }
  return { events, checkpoint };
}

/** Without the record's memory. */
function headOf({ sort, key, version, time, id }: LogRecord): EventHead {
  return { sort, key, version, time, id };
}
