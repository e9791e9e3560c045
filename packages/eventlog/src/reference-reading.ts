import { throwIfAborted } from "@ehdb/contracts";
import type { LogCheckpoint } from "@ehdb/contracts";
import type { ReadStreamRequest, ScanRequest } from "./call-options.ts";
import { decodeData } from "./encoding.ts";
import type { Page } from "./event-stream.ts";
import { lazyEvent } from "./lazy-event.ts";
import type { KeptEvent, ReferenceState } from "./reference-state.ts";
import { beyondTheEnd, compacted, truncated } from "./refusals.ts";
import type { EventPredicate } from "./filter.ts";
import type { Upcasters } from "./upcasters.ts";

/** Events at once: few enough that a reader who stops early has hardly paid for more. */
const pageEvents = 256;

/** The wanted events of a stream, as of now. */
export function streamEvents(state: ReferenceState, stream: string, request: ReadStreamRequest): readonly KeptEvent[] {
  const { isForwards, from, limit } = request;
  const readable = state.eventsOf(stream).filter((event) => state.isReadable(event));
  const list = isForwards
    ? readable.filter((event) => event.version >= (from ?? 1))
    : readable.filter((event) => event.version <= (from ?? Infinity)).reverse();
  return list.slice(0, limit);
}

/** The wanted events of the log, as of now. */
export function logEvents(state: ReferenceState, request: ScanRequest): readonly KeptEvent[] {
  const { isForwards, after, before, limit, wants } = request;
  if (before !== undefined && before < state.firstPosition) throw compacted(before, state.firstPosition);
  const start = startAfter(state, after);
  const wanted = state.events.filter((event) => state.isReadable(event) && wants?.(event) !== false);
  const list = isForwards
    ? wanted.filter((event) => event.position > start)
    : wanted.filter((event) => event.position < (before ?? Infinity)).reverse();
  return list.slice(0, limit);
}

/** The position after which a read goes on. */
export function startAfter(state: ReferenceState, after: LogCheckpoint | number | undefined): number {
  if (after === undefined) return state.firstPosition - 1;
  const position = typeof after === "number" ? after : after.position;
  if (typeof after === "object") {
    const lost = after.epoch > state.epoch || (position > state.position && after.epoch < state.epoch);
    const seen = position === 0 ? undefined : state.events.find((event) => event.position >= position);
    if (lost || (seen !== undefined && seen.epoch > after.epoch)) throw truncated(after, state.position);
  }
  if (position > state.position) throw beyondTheEnd(position, state.position);
  if (position + 1 < state.firstPosition) throw compacted(position, state.firstPosition);
  return position;
}

/** Of the events after a position the first that are wanted, and how far that was; `undefined` when there are none after it. */
export function nextWanted(
  state: ReferenceState,
  after: number,
  wants: EventPredicate | undefined,
): { readonly events: readonly KeptEvent[]; readonly through: number } | undefined {
  if (after + 1 < state.firstPosition) throw compacted(after, state.firstPosition);
  if (after >= state.position) return undefined;
  const events: KeptEvent[] = [];
  let through = after;
  for (const event of state.events.slice(state.events.findIndex(({ position }) => position > after))) {
    if (events.length === pageEvents) break;
    through = event.position;
    if (state.isReadable(event) && wants?.(event) !== false) events.push(event);
  }
  return { events, through };
}

/** A list as pages. */
export async function* pagesOf(
  list: () => readonly KeptEvent[],
  upcasters: Upcasters,
  signal: AbortSignal | undefined,
  what: string,
): AsyncGenerator<Page, void> {
  const events = list();
  for (let at = 0; at < events.length; at += pageEvents) {
    throwIfAborted(signal, what);
    yield pageOf(events.slice(at, at + pageEvents), { position: 0, epoch: 0 }, upcasters);
  }
}

export function pageOf(events: readonly KeptEvent[], checkpoint: LogCheckpoint, upcasters: Upcasters): Page {
  const read = events.map((event) => {
    const { id, stream: key, version, position: sort, time, type, data, metadata } = event;
    const contents = {
      idAt: (): string => id,
      typeAt: (): string => type,
      dataAt: (): unknown => (data instanceof Uint8Array ? Uint8Array.from(data) : decodeData(data)),
      metadataAt: (): unknown => decodeData(metadata),
    };
    return lazyEvent({ id, key, version, sort, time }, contents, 0, 0, upcasters);
  });
  return { events: read, checkpoint };
}
