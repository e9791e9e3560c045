import type { Journal } from "@ehdb/journal";
import type { EngineState, EngineStats } from "./api.ts";
import type { Counters } from "./counters.ts";
import type { Opened } from "./engine.ts";
import type { ErrorsByCode } from "./error-counts.ts";
import { noLookups } from "./part/lookup-counts.ts";
import type { Pins } from "./pins.ts";
import type { Run } from "./run.ts";
import type { StateGauges } from "./state-gauges.ts";

/** What replication will count. */
const notYet = {
  uploads: 0,
  upload_bytes: 0,
  replica_writes: 0,
  read_fallbacks: 0,
  parts_local_only: 0,
  parts_under_replicated: 0,
} as const satisfies Partial<EngineStats>;

export interface Counted {
  readonly opened: Opened;
  readonly state: EngineState;
  readonly run: Run;
  readonly counters: Counters;
  readonly errors: ErrorsByCode;
  readonly pins: Pins;
  readonly gauges: StateGauges;
}

export function engineStats({ opened, state, run, counters, errors, pins, gauges }: Counted): EngineStats {
  const { sealed, options, journal, reserve } = opened;
  const manifest = sealed.manifestStats;
  const { cache, counts: lookups = noLookups() } = sealed.context;
  const { generations } = run.store.view;
  const logs = [...run.store.byId.values()].filter(({ order }) => order === "by-sort");
  const { dedupeWindow } = options;
  return {
    ...counters,
    ...notYet,
    ...gauges.values,
    errors,
    not_open: state === "open" ? 0 : 1,
    journal_errors: failuresOf(journal),
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
    merges_behind: run.merger.behind,
    pins: pins.counts.pins,
    oldest_pin_seconds: pins.counts.oldestMillis / 1000,
    pins_expired: pins.counts.expired,
    parts_retired: pins.waiting,
    reserve_bytes: reserve.bytes,
    reserve_used: reserve.used,
    unsealed_generations: generations.length,
    unsealed_bytes: sum(generations.map(({ chunks }) => chunks.bytes)),
    block_cache_bytes: cache.stats.bytes,
    block_cache_hits: cache.stats.hits,
    block_cache_misses: cache.stats.misses,
  };
}

function failuresOf(journal: Journal): number {
  const { writeErrors, readErrors, corruptions, removeErrors } = journal.stats();
  return writeErrors + readErrors + corruptions + removeErrors;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
