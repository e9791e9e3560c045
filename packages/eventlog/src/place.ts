import { isEhdbError } from "@ehdb/contracts";
import type { LogCheckpoint } from "@ehdb/contracts";
import type { LogContext } from "./log-context.ts";
import { beyondTheEnd, compacted, truncated } from "./refusals.ts";

/** The position behind which a read goes on. TRUNCATED, OUT_OF_RANGE, COMPACTED. */
export function placeAfter(context: LogContext, after: LogCheckpoint | number | undefined): number {
  const { first, last } = context.events;
  if (after === undefined) return first - 1;
  const position = typeof after === "number" ? after : after.position;
  if (typeof after === "object") assertContinues(context, after);
  if (position > last) throw beyondTheEnd(position, last);
  if (position + 1 < first) throw compacted(position, first);
  return position;
}

/** TRUNCATED when what was seen isn't in this log. */
export function assertContinues({ engine, events }: LogContext, checkpoint: LogCheckpoint): void {
  const { position, epoch } = checkpoint;
  if (epoch > engine.recovery.epoch || (epoch === 0 && position > 0)) throw truncated(checkpoint, events.last);
  if (position === 0) return;
  try {
    events.assertContinues(position, epoch);
  } catch (error) {
    if (isEhdbError(error, "TRUNCATED")) throw truncated(checkpoint, events.last);
    if (isEhdbError(error, "OUT_OF_RANGE")) throw beyondTheEnd(position, events.last);
    throw error;
  }
}
