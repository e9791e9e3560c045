import type { DatasetSpec } from "@ehdb/contracts";

/** What an event log keeps in its engine, by names that stay for ever. */
export const dataset = {
  /** A log: events by stream. */
  events: "eventlog.events",
  /** A map, by stream: what outlives its events. */
  streams: "eventlog.streams",
  /** A map, by name: how far each consumer is. */
  consumers: "eventlog.consumers",
} as const;

/** For the `datasets` of an engine that an event log is opened on. */
export const eventLogDatasets: readonly DatasetSpec[] = [
  { name: dataset.events, order: "by-sort" },
  { name: dataset.streams, order: "by-key" },
  { name: dataset.consumers, order: "by-key" },
];
