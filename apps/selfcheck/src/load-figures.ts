import type { Checks } from "./checks.ts";
import { perSecond, rounded } from "./figures.ts";
import { appendLatencyLevel, appendRateLevel } from "./levels.ts";
import { percentile } from "./percentile.ts";

export interface LoadFigures {
  /** What is made durable: an append, a commit. */
  readonly what: string;
  /** Of those with one event, in milliseconds. */
  readonly latencies: readonly number[];
  readonly events: number;
  readonly millis: number;
  /** Under which conditions, for people. */
  readonly how: string;
}

/** A load's figures, held against their service levels. */
export function tellFigures(checks: Checks, { what, latencies, events, millis, how }: LoadFigures): void {
  const count = latencies.length;
  checks.step({ name: `durable ${what}, p50`, count, value: rounded(percentile(latencies, 0.5)), unit: "ms" });
  checks.step({
    name: `durable ${what}, p99`,
    count,
    value: rounded(percentile(latencies, 0.99)),
    unit: "ms",
    level: appendLatencyLevel,
  });
  checks.step({
    name: "sustained",
    count: events,
    value: perSecond(events, millis),
    unit: "events/s",
    level: appendRateLevel,
    message: how,
  });
}
