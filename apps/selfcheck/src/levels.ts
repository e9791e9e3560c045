import type { Level } from "./report.ts";

/** The service levels of one shard. */
export const appendLatencyLevel: Level = { text: "<= 10 ms", atMost: 10 };
export const appendRateLevel: Level = { text: ">= 200/s", atLeast: 200 };
/** Stated for events of `STATED_EVENT_BYTES`: with larger ones the same bytes a second are fewer events. */
export const replayLevel: Level = { text: ">= 100 000/s", atLeast: 100_000 };
export const STATED_EVENT_BYTES = 400;
