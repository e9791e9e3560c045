import { EhdbError } from "@ehdb/contracts";
import type { PlacedEvent } from "./imported-event.ts";
import { idReused } from "./refusals.ts";

const heldEvents = 4096;
const heldBytes = 16 * 1024 * 1024;

export interface Brought {
  readonly events: readonly PlacedEvent[];
  readonly outOfOrder: number;
}

/** The events of an import in order of position, and each what may follow the one before it. */
export function inOrder(given: readonly PlacedEvent[], isCounted: boolean, dedupeWindow: number): Brought {
  const { events, outOfOrder } = isCounted ? sorted(given) : { events: given, outOfOrder: 0 };
  const versions = new Map<string, number>();
  const ids = new Map<string, number>();
  let before: PlacedEvent | undefined;
  for (const placed of events) {
    const { stream, version, position, time, event } = placed;
    if (position === before?.position) throw twice(position);
    if (before !== undefined && position < before.position) throw outOfOrderAt(position, before.position);
    const next = (versions.get(stream) ?? version - 1) + 1;
    if (version !== next) {
      const message = `version ${version} of stream "${stream}" at position ${position} comes where ${next} is next`;
      throw new EhdbError("INVALID_ARGUMENT", message, { stream, position, version, expected: next });
    }
    if (before !== undefined && time < before.time)
      throw new EhdbError("INVALID_ARGUMENT", `the time falls at position ${position}`, { position });
    const id = JSON.stringify([stream, event.id]);
    const known = ids.get(id);
    if (event.isIdGiven && known !== undefined && position - known <= dedupeWindow) throw idReused(stream, event.id);
    versions.set(stream, version);
    ids.set(id, position);
    before = placed;
  }
  return { events, outOfOrder };
}

/** As far as late ones find their place. */
function sorted(given: readonly PlacedEvent[]): Brought {
  const events: PlacedEvent[] = [];
  let held: PlacedEvent[] = [];
  let [outOfOrder, highest] = [0, 0];
  for (const placed of given) {
    const passed = events.at(-1)?.position ?? 0;
    if (placed.position < passed) throw outOfOrderAt(placed.position, passed);
    if (placed.position < highest) outOfOrder++;
    highest = Math.max(highest, placed.position);
    held = [...held, placed].sort((a, b) => a.position - b.position);
    while (
      held.length > heldEvents ||
      held.reduce((sum, { event }) => sum + Buffer.byteLength(event.data ?? ""), 0) > heldBytes
    )
      events.push(held.shift() as PlacedEvent);
  }
  return { events: [...events, ...held], outOfOrder };
}

function twice(position: number): EhdbError {
  return new EhdbError("INVALID_ARGUMENT", `position ${position} comes twice: each event has its own`, { position });
}

function outOfOrderAt(position: number, before: number): EhdbError {
  const message = `position ${position} comes behind ${before}: sort what is imported by its positions`;
  return new EhdbError("OUT_OF_ORDER", message, { position, before });
}
