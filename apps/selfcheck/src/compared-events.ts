import { MIB } from "@ehdb/contracts";
import type { Checks } from "./checks.ts";
import type { EventSource } from "./event-source.ts";
import { needRoom } from "./room.ts";
import type { VerbContext } from "./verb.ts";

/** A reference keeps everything in memory, and looks through all of it at each call. */
const MOST_EVENTS = 10_000;
const MOST_BYTES = 256 * MIB;
/** Journal, parts, and what kills and rules leave beside them. */
const WRITTEN_TIMES = 2;

export interface ComparedEvents {
  readonly source: EventSource;
  readonly events: number;
}

/** The events that a store is filled with and compared by: as many as wanted, or as a reference can take. Said as a step. */
export async function comparedEvents(context: VerbContext, checks: Checks, share = 1): Promise<ComparedEvents> {
  const { source, origin } = await context.events();
  const wanted = Math.ceil(context.options.events * share);
  const events = Math.min(wanted, MOST_EVENTS, Math.max(1, Math.floor(MOST_BYTES / source.meanBytes)));
  const rest = events < wanted ? `; ${events} of ${wanted}, because the reference keeps them all in memory` : "";
  await needRoom(context, events * source.meanBytes * WRITTEN_TIMES);
  checks.step({
    name: "events",
    count: events,
    value: Math.round(source.meanBytes),
    unit: "bytes each",
    message: origin + rest,
  });
  return { source, events };
}
