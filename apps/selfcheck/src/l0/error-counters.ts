import type { DurableEngine, EngineStats } from "@ehdb/l0";

const counters = [
  "ingest_append_failed",
  "ingest_decode_failed",
  "journal_errors",
  "seal_failed",
  "merge_failed",
  "reclaim_failed",
  "read_errors",
  "manifest_errors",
] as const satisfies (keyof EngineStats)[];

export const errorCounters: number = counters.length;

/** What the engine counted as gone wrong; undefined when it's nothing. */
export function errorsOf(engine: DurableEngine): string | undefined {
  const stats = engine.stats();
  const counted = counters.filter((name) => stats[name] !== 0).map((name) => `${name} ${stats[name]}`);
  return counted.length === 0 ? undefined : counted.join(", ");
}
