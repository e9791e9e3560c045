import type { AppendResult, Expectation } from "@ehdb/contracts";
import type { EncodedData, EncodedEvent } from "./encoding.ts";
import type { KeptAppend, ReferenceState } from "./reference-state.ts";
import { idReused } from "./refusals.ts";

/**
 * What an earlier append of these very events got, when its ids are in the window, or some are and the others can be read. ID_REUSED when one of the ids stands in the
 * stream, within the window, in any other way.
 */
export function duplicateInWindow(
  state: ReferenceState,
  stream: string,
  events: readonly EncodedEvent[],
  dedupeWindow: number,
): AppendResult | undefined {
  const ids = new Set(events.filter((event) => event.isIdGiven).map((event) => event.id));
  if (ids.size === 0) return undefined;
  const since = state.position - dedupeWindow;
  const known = state.eventsOf(stream).findLast((event) => event.position > since && ids.has(event.id));
  if (known === undefined) return undefined;
  const { append } = known;
  // What is only partly in the window is looked up, and can't be when it's hidden.
  const isKnown = append.events.every((event) => event.position > since || state.isReadable(event));
  if (!isKnown || !isSame(append, events)) throw idReused(stream, known.id);
  return { ...known.append.result, isDuplicate: true };
}

/** The same beyond the window: the append stands where the expectation says that it would, and can be read. */
export function duplicateInPlace(
  state: ReferenceState,
  stream: string,
  events: readonly EncodedEvent[],
  expect: Expectation,
): AppendResult | undefined {
  if (expect === "any" || expect === "exists") return undefined;
  const firstVersion = expect === "none" ? state.info(stream).firstVersion : expect + 1;
  const found = state.eventsOf(stream).find(({ version }) => version === firstVersion)?.append;
  if (found === undefined || found.result.firstVersion !== firstVersion || !isSame(found, events)) return undefined;
  if (!found.events.every((event) => state.isReadable(event))) return undefined;
  return { ...found.result, isDuplicate: true };
}

function isSame(append: KeptAppend, events: readonly EncodedEvent[]): boolean {
  return (
    append.events.length === events.length && append.events.every((kept, index) => isSameEvent(kept, events[index]))
  );
}

function isSameEvent(kept: EncodedEvent, event: EncodedEvent | undefined): boolean {
  return (
    event !== undefined &&
    event.isIdGiven &&
    kept.id === event.id &&
    kept.type === event.type &&
    isSameData(kept.data, event.data) &&
    kept.metadata === event.metadata
  );
}

function isSameData(a: EncodedData, b: EncodedData): boolean {
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b) === 0;
  return a === b;
}
