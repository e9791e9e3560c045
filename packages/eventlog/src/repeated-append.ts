import type { AppendResult, Expectation, LogRecord } from "@ehdb/contracts";
import { bytesOf } from "./encoding.ts";
import type { EncodedEvent } from "./encoding.ts";
import { checkEvent, companyOf, EVENT_OVERHEAD_BYTES, writeEvent } from "./event-bytes.ts";
import { asBuffer } from "./kept-bytes.ts";
import type { LogContext } from "./log-context.ts";
import type { StreamFacts } from "./stream-facts.ts";
import { firstReadable, recordsFrom } from "./stream-records.ts";

const noId = new Uint8Array();

/**
 * What the append got that wrote this version of a stream, when it is this very one, all its events and no others, and they can be
 * read. Ids were given for all of them: nothing else tells a repeat.
 */
export async function repeatedAt(
  context: LogContext,
  stream: string,
  events: readonly EncodedEvent[],
  version: number,
): Promise<AppendResult | undefined> {
  const { firstVersion } = await context.streams.load(stream);
  const records = await appendAt(context, stream, events, version);
  const first = records?.[0];
  return records === undefined || first === undefined || first.version < firstVersion ? undefined : resultOf(records);
}

/**
 * The same for ids that nobody knows any more: the append stands where the expectation says that it would, and can be read. `version`
 * is what the stream was at when the expectation didn't hold: what came behind it isn't an earlier append.
 */
export async function repeatedInPlace(
  context: LogContext,
  stream: string,
  events: readonly EncodedEvent[],
  expect: Expectation,
  version: number,
  { firstVersion }: StreamFacts,
): Promise<AppendResult | undefined> {
  if (expect === "any" || expect === "exists") return undefined;
  const at = expect === "none" ? await firstReadable(context.events, stream, firstVersion) : expect + 1;
  if (at > version) return undefined;
  const records = await appendAt(context, stream, events, at);
  const first = records?.[0];
  if (records === undefined || first?.version !== at) return undefined;
  return first.version >= firstVersion ? resultOf(records) : undefined;
}

async function appendAt(
  { events: log }: LogContext,
  stream: string,
  events: readonly EncodedEvent[],
  version: number,
): Promise<readonly LogRecord[] | undefined> {
  const [record] = await recordsFrom(log, stream, version, 1);
  if (record?.version !== version) return undefined;
  const bytes = asBuffer(record.memory);
  checkEvent(record, bytes);
  const { index, count } = companyOf(bytes, record.start);
  if (count !== events.length) return undefined;
  const records = await recordsFrom(log, stream, version - index, count);
  const isSame = events.every((event, place) => isStoredAs(event, place, count, records[place]));
  return isSame ? records : undefined;
}

function isStoredAs(event: EncodedEvent, index: number, count: number, record: LogRecord | undefined): boolean {
  if (record === undefined || record.id !== event.id) return false;
  const bytes = Buffer.alloc(bytesOf(event) + EVENT_OVERHEAD_BYTES);
  const end = writeEvent(bytes, 0, event, index, count, noId);
  return Buffer.compare(bytes.subarray(0, end), record.payload) === 0;
}

function resultOf(records: readonly LogRecord[]): AppendResult {
  const first = records[0] as LogRecord;
  const last = records.at(-1) as LogRecord;
  return {
    firstVersion: first.version,
    version: last.version,
    firstPosition: first.sort,
    position: last.sort,
    time: first.time,
    isDuplicate: true,
  };
}
