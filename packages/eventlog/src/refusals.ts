import { EhdbError, isEhdbError } from "@ehdb/contracts";
import type { Expectation, LogCheckpoint } from "@ehdb/contracts";

/** What the contract says of a stream whose state isn't what an append or a delete expects. */
export function conflict(stream: string, expected: Expectation, actual: number, isDeleted: boolean): EhdbError {
  const state = actual === 0 ? "was never appended to" : `is at version ${actual}${isDeleted ? " and deleted" : ""}`;
  const message = `stream "${stream}" ${state}, expected was ${expected}: read it, decide anew, then call again`;
  return new EhdbError("CONFLICT", message, { stream, expected, actual, isDeleted });
}

export function idReused(stream: string, id: string): EhdbError {
  const message = `id "${id}" stands in stream "${stream}" with other content, or with other events: a repeated append must be the same as the first`;
  return new EhdbError("ID_REUSED", message, { stream, id });
}

/** What comes after `position` was reclaimed. */
export function compacted(position: number, firstPosition: number): EhdbError {
  const message = `what comes after position ${position} was reclaimed: go on after ${firstPosition - 1}, and know that events in between are gone`;
  return new EhdbError("COMPACTED", message, { position, firstPosition });
}

/** What a reader's engine says of a read that was overtaken, in the words of an event log; any other error as it is. */
export function overtaken(error: unknown): unknown {
  if (!isEhdbError(error, "COMPACTED")) return error;
  const { from, key, version, first } = error.data;
  if (typeof first !== "number") return error;
  if (typeof from === "number") return compacted(from - 1, first);
  const message = `version ${String(version)} of stream "${String(key)}" was reclaimed while it was read: read again, and know that events are gone`;
  return new EhdbError("COMPACTED", message, { stream: key, version, firstPosition: first }, error);
}

export function beyondTheEnd(position: number, last: number): EhdbError {
  const message = `position ${position} is beyond the end: the log ends at ${last}`;
  return new EhdbError("OUT_OF_RANGE", message, { position, last });
}

/** What the checkpoint says was seen isn't in this log. */
export function truncated({ position, epoch }: LogCheckpoint, last: number): EhdbError {
  const message = `position ${position}, seen in epoch ${epoch}, is not in this log: a crash took it back, or the log is another one. Reconcile what was made of it, then go on from an earlier place; the log ends at ${last}`;
  return new EhdbError("TRUNCATED", message, { position, epoch, last });
}

export function beyondTheStream(stream: string, beforeVersion: number, version: number): EhdbError {
  const message = `stream "${stream}" ends at version ${version}, so it can be truncated before ${version + 1} at most, not before ${beforeVersion}`;
  return new EhdbError("OUT_OF_RANGE", message, { stream, beforeVersion, version });
}

export function importing(): EhdbError {
  return new EhdbError(
    "LOCKED",
    "the log is being imported, and takes nothing else meanwhile: wait until that is done",
  );
}

export function alreadyOpen(): EhdbError {
  const message =
    "an event log is open on this engine already: share that one, or close it first. Two would not know of each other's truncations";
  return new EhdbError("INVALID_ARGUMENT", message);
}

export function closed(): EhdbError {
  return new EhdbError("CLOSED", "the event log is closed: open it again");
}
