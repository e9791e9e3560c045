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
  const { epoch } = engine.recovery;
  const selection = { wants: undefined, isAnyStream: false, left: limit };
  if (limit === 0) return;
  if (isForwards) {
    for await (const records of events.read(stream, { from: Math.max(from ?? 1, firstVersion) })) {
      yield* pagesOf(context, records, selection, epoch);
      if (selection.left === 0) return;
    }
    return;
  }
  for await (const records of events.read(stream, backwards(from))) {
    const hidden = records.findIndex(({ version }) => version < firstVersion);
    yield* pagesOf(context, hidden < 0 ? records : records.slice(0, hidden), selection, epoch);
    if (hidden >= 0 || selection.left === 0) return;
  }
}

/** The wanted events of the log, as of now. */
export async function* logPages(context: LogContext, request: ScanRequest): AsyncGenerator<Page, void> {
  const { isForwards, after, before, limit, filter, wants, signal } = request;
  const { events, engine } = context;
  context.assertOpen();
  throwIfAborted(signal, "scan()");
  const { first } = events;
  if (before !== undefined && before < first) throw compacted(before, first);
  const start = placeAfter(context, after);
  const { epoch } = engine.recovery;
  const selection = { wants, isAnyStream: true, left: limit };
  if (limit === 0) return;
  const { stream } = filter;
  const source = isForwards ? recordsAfter(context, stream, start) : recordsBefore(context, stream, before);
  for await (const records of source) {
    yield* pagesOf(context, records, selection, epoch);
    if (selection.left === 0) return;
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
