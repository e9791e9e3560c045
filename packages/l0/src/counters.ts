/** Plain counters since open; `EngineStats` says what they mean. */
export interface Counters {
  appends: number;
  out_of_order_appends: number;
  commits: number;
  conflicts: number;
  dedupe_hits: number;
  ingest_append_failed: number;
  ingest_decode_failed: number;
  recovered_active_records: number;
  seals: number;
  seal_failed: number;
  sealed_bytes: number;
  merges: number;
  merge_failed: number;
  parts_merged: number;
  merged_bytes: number;
  records_superseded: number;
  records_erased: number;
  records_dropped: number;
  parts_dropped: number;
  reads: number;
  cold_loads: number;
  read_errors: number;
  scrub_damage: number;
}

export function noCounts(): Counters {
  return {
    appends: 0,
    out_of_order_appends: 0,
    commits: 0,
    conflicts: 0,
    dedupe_hits: 0,
    ingest_append_failed: 0,
    ingest_decode_failed: 0,
    recovered_active_records: 0,
    seals: 0,
    seal_failed: 0,
    sealed_bytes: 0,
    merges: 0,
    merge_failed: 0,
    parts_merged: 0,
    merged_bytes: 0,
    records_superseded: 0,
    records_erased: 0,
    records_dropped: 0,
    parts_dropped: 0,
    reads: 0,
    cold_loads: 0,
    read_errors: 0,
    scrub_damage: 0,
  };
}
