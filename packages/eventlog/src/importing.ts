import { EhdbError, isEhdbError } from "@ehdb/contracts";
import type { ImportedRecord, ImportEventsResult, ImportOptions } from "@ehdb/contracts";
import { dataset } from "./datasets.ts";
import { bytesOf } from "./encoding.ts";
import { EVENT_OVERHEAD_BYTES, writeEvent } from "./event-bytes.ts";
import { assertBatches, importRequest, placedEvents } from "./imported-event.ts";
import type { ImportBatches, PlacedEvent } from "./imported-event.ts";
import type { WritingContext } from "./log-context.ts";
import { MadeIds } from "./made-ids.ts";
import { closed } from "./refusals.ts";

const noId = (): string => "";
const given = new Uint8Array();

/** Fills the log from outside; `closing` ends it. */
export async function importEvents(
  context: WritingContext,
  batches: ImportBatches,
  options: ImportOptions | undefined,
  closing: AbortSignal,
): Promise<ImportEventsResult> {
  const { disorder, signal } = importRequest(options);
  assertBatches(batches);
  const source = new EventSource(context, batches);
  const signals = signal === undefined ? [closing] : [closing, signal];
  try {
    const result = await context.engine.import(dataset.events, source.records(), {
      disorder,
      signal: AbortSignal.any(signals),
    });
    const { records: events, outOfOrder, first: firstPosition, last: position } = result;
    return { events, outOfOrder, firstPosition, position };
  } catch (error) {
    if (source.thrown !== undefined && source.thrown.error === error) throw error;
    if (closing.aborted && signal?.aborted !== true && isEhdbError(error, "ABORTED")) throw closed();
    throw inWordsOfEvents(error);
  }
}

/** Events as the records that they're stored as. */
class EventSource {
  /** What it ended with. */
  thrown: { readonly error: unknown } | undefined;
  readonly #context: WritingContext;
  readonly #batches: ImportBatches;
  readonly #ids: MadeIds;

  constructor(context: WritingContext, batches: ImportBatches) {
    this.#context = context;
    this.#batches = batches;
    this.#ids = new MadeIds(context.host.random);
  }

  async *records(): AsyncGenerator<readonly ImportedRecord[]> {
    const { schemas } = this.#context;
    try {
      for await (const batch of this.#batches)
        yield placedEvents(batch, schemas, noId).map((placed) => this.#recordOf(placed));
    } catch (error) {
      this.thrown = { error };
      throw error;
    }
  }

  #recordOf({ event, stream, version, position, time }: PlacedEvent): ImportedRecord {
    const { isIdGiven } = event;
    const bytes = Buffer.allocUnsafe(bytesOf(event) + EVENT_OVERHEAD_BYTES);
    const end = writeEvent(bytes, 0, event, 0, 1, isIdGiven ? given : this.#ids.next());
    const payload = bytes.subarray(0, end);
    return { sort: position, key: stream, version, time, id: isIdGiven ? event.id : undefined, payload };
  }
}

/** What the engine refuses, told of events. */
function inWordsOfEvents(error: unknown): unknown {
  if (!isEhdbError(error)) return error;
  const { sort: position, key: stream, id, version, expected, before, last } = error.data;
  const told = (message: string, data: EhdbError["data"]): EhdbError => new EhdbError(error.code, message, data, error);
  const at = `the event at position ${String(position)}`;
  switch (error.code) {
    case "ALREADY_EXISTS":
      return told(`the log has had events up to position ${String(last)}: import into a new one`, { position: last });
    case "LOCKED":
      return told("another import into this log is under way: wait until it's done", {});
    case "OUT_OF_ORDER":
      return told(`${at} comes behind ${String(before)}: sort what is imported by its positions`, { position, before });
    case "ID_REUSED":
      return told(`${at} has the id ${JSON.stringify(id)} of that at ${String(before)} in stream "${String(stream)}"`, {
        stream,
        id,
        position,
      });
    case "INVALID_ARGUMENT":
      if (expected !== undefined) {
        const message = `${at} is version ${String(version)} of stream "${String(stream)}", where ${String(expected)} comes next: a stream's versions follow each other`;
        return told(message, { stream, position, version, expected });
      }
      if (before !== undefined) return told(`${at} is older than the one before it: times don't fall`, { position });
      return position === undefined ? error : told(`position ${String(position)} comes twice`, { position });
    default:
      return error;
  }
}
