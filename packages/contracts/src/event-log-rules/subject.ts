import type { ConformanceRule } from "../conformance.ts";
import type { EventLog, EventLogCapability } from "../event-log.ts";

/**
 * What a rule is checked on: an event log that is empty, of its own, without schemas and upcasters, and the two things that a rule must be
 * able to do around it.
 */
export interface EventLogSubject {
  readonly log: EventLog;
  /** For so many events ids are known at least. A log's own is 65 536; a small one makes rules fast. */
  readonly dedupeWindow: number;
  /** Lets time pass for the log: its clock is moved, or, on a live one, waited for. Rules ask for 2 000 milliseconds at most. */
  readonly advance: (millis: number) => Promise<void>;
  /** Opens the same log again after `log.close()`; without `persistence` a new, empty one. */
  readonly reopen: () => Promise<EventLogSubject>;
}

export type EventLogRule = ConformanceRule<EventLogSubject, EventLogCapability>;
