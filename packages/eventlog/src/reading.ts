import { throwIfAborted } from "@ehdb/contracts";
import type { LogRecord } from "@ehdb/contracts";
import type { ReadStreamRequest, ScanRequest } from "./call-options.ts";
import { pagesOf } from "./event-pages.ts";
import type { Page } from "./event-stream.ts";
import type { LogContext } from "./log-context.ts";
import { placeAfter } from "./place.ts";
import { compacted } from "./refusals.ts";
import { versionAfter } from "./stream-records.ts";

/** The events of a stream, as of now. */
export async function* streamPages(
  context: LogContext,
  stream: string,
  request: ReadStreamRequest,
): AsyncGenerator<Page, void> {
  const { isForwards, from, limit, signal } = request;
  const { events, streams, engine } = context;
  context.assertOpen();
  throwIfAborted(signal, "readStream()");
  const { firstVersion } = await streams.load(stream);
  const firstPosition = events.first;
  const { epoch } = engine.recovery;
  const selection = { wants: undefined, isAnyStream: false, left: limit };
  if (limit === 0) return;
  if (isForwards) {
    const least = Math.max(from ?? 1, firstVersion);
    const first = await versionAfter(events, stream, firstPosition - 1, least);
    for await (const records of events.read(stream, { from: first })) {
      yield* pagesOf(context, records, selection, epoch);
      if (selection.left === 0) return;
    }
    return;
  }
  for await (const records of events.read(stream, backwards(from))) {
    const kept = whilst(records, ({ version, sort }) => version >= firstVersion && sort >= firstPosition);
    yield* pagesOf(context, kept, selection, epoch);
    if (kept.length < records.length || selection.left === 0) return;
  }
}

/** The wanted events of the log, as of now. */
export async function* logPages(context: LogContext, request: ScanRequest): AsyncGenerator<Page, void> {
  const { isForwards, after, before, limit, filter, wants, signal } = request;
  const { events, engine } = context;
  context.assertOpen();
  throwIfAborted(signal, "scan()");
  const firstPosition = events.first;
  if (before !== undefined && before < firstPosition) throw compacted(before, firstPosition);
  const start = placeAfter(context, after);
  const { epoch } = engine.recovery;
  const selection = { wants, isAnyStream: true, left: limit };
  if (limit === 0) return;
  const { stream } = filter;
  const source = isForwards ? recordsAfter(context, stream, start) : recordsBefore(context, stream, before);
  for await (const records of source) {
    const kept = isForwards ? records : whilst(records, ({ sort }) => sort >= firstPosition);
    yield* pagesOf(context, kept, selection, epoch);
    if (kept.length < records.length || selection.left === 0) return;
  }
}

/** Records of the log, or of one stream only, behind a position. */
async function* recordsAfter(
  { events }: LogContext,
  stream: string | undefined,
  position: number,
): AsyncGenerator<readonly LogRecord[], void> {
  if (stream === undefined) yield* events.scan({ from: position + 1 });
  else yield* events.read(stream, { from: await versionAfter(events, stream, position, 1) });
}

/** The same backwards, from before a position, or from the end. */
async function* recordsBefore(
  { events }: LogContext,
  stream: string | undefined,
  position: number | undefined,
): AsyncGenerator<readonly LogRecord[], void> {
  const before = position === undefined || position > events.last ? undefined : position;
  if (before === 1) return;
  if (stream === undefined) yield* events.scan(backwards(before === undefined ? undefined : before - 1));
  else if (before === undefined) yield* events.read(stream, backwards(undefined));
  else {
    const version = await versionAfter(events, stream, before - 1, 1);
    if (version > 1) yield* events.read(stream, backwards(version - 1));
  }
}

function backwards(from: number | undefined): { direction: "backwards"; from?: number } {
  return from === undefined ? { direction: "backwards" } : { direction: "backwards", from };
}

/** The first ones of which it is true. */
function whilst<T>(list: readonly T[], isSo: (item: T) => boolean): readonly T[] {
  const end = list.findIndex((item) => !isSo(item));
  return end < 0 ? list : list.slice(0, end);
}
