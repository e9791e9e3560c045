import { MIB } from "@ehdb/contracts";
import type { Level } from "./report.ts";

/** The service levels of one shard. */
export const appendLatencyLevel: Level = { text: "<= 10 ms", atMost: 10 };
export const appendRateLevel: Level = { text: ">= 200/s", atLeast: 200 };

const REPLAY_EVENTS_PER_SECOND = 100_000;
const REPLAY_EVENT_BYTES = 400;

/**
 * Replay is stated as 100 000 events of 400 bytes a second. Larger events are held to the same bytes a second,
 * smaller ones to the same events a second: whichever asks less of the log than the stated load does not.
 */
export function replayLevel(meanEventBytes: number): Level {
  const bytesPerEvent = Math.min(meanEventBytes, REPLAY_EVENT_BYTES);
  const atLeast = (REPLAY_EVENTS_PER_SECOND * bytesPerEvent) / MIB;
  return { text: `>= ${atLeast.toFixed(1)} MiB/s`, atLeast };
}

/** Said beside the figure, so that nobody compares it with another size of event. */
export function replayNote(meanEventBytes: number): string {
  return meanEventBytes > REPLAY_EVENT_BYTES
    ? "level: 100 000/s of 400 bytes, as bytes a second"
    : "level: 100 000/s, as bytes a second of these events";
}
