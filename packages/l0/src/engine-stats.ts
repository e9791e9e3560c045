import type { EngineStats } from "./api.ts";
import type { Counters } from "./counters.ts";
import type { Opened } from "./engine.ts";
import { noLookups } from "./part/lookup-counts.ts";
import type { Pins } from "./pins.ts";
import type { Run } from "./run.ts";

export function engineStats(
  counters: Counters,
  run: Run,
  { sealed, options, recovered }: Opened,
  pins: Pins,
): EngineStats {
  const manifest = sealed.manifestStats;
  const { cache, counts: lookups = noLookups() } = sealed.context;
  const { generations } = run.store.view;
  const logs = [...run.store.byId.values()].filter(({ order }) => order === "by-sort");
  const { dedupeWindow } = options;
  return {
    ...counters,
    recovered_active_records: recovered.report.replayedRecords,
    dedupe_window_records: sum(logs.map(({ nextSort }) => Math.min(dedupeWindow, nextSort - 1))),
    dedupe_window_evictions: sum(logs.map(({ nextSort }) => Math.max(0, nextSort - 1 - dedupeWindow))),
    parts_pruned: lookups.pruned,
    parts_bloom_pruned: lookups.bloomPruned,
    parts_scanned: lookups.scanned,
    manifest_versions_pruned: manifest.versionsPruned,
    manifest_versions_retained: manifest.versionsRetained,
    manifest_errors: manifest.errors,
    manifest_parts: sealed.state.parts.size,
    orphans_reclaimed: sealed.reclaimed.files,
    orphan_bytes: sealed.reclaimed.bytes,
    reclaim_failed: sealed.reclaimed.failed,
    pins: pins.counts.pins,
    oldest_pin_seconds: pins.counts.oldestMillis / 1000,
    pins_expired: pins.counts.expired,
    parts_retired: pins.waiting,
    unsealed_generations: generations.length,
    unsealed_bytes: sum(generations.map(({ chunks }) => chunks.bytes)),
    block_cache_bytes: cache.stats.bytes,
    block_cache_hits: cache.stats.hits,
    block_cache_misses: cache.stats.misses,
  };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
