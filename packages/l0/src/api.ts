import type { DatasetSpec, Engine, ErrorCode, LogDataset, MapDataset } from "@ehdb/contracts";
import type { Host } from "@ehdb/host";
import type { CloseReport, Durability, KeyRing } from "@ehdb/journal";
import type { BackupOptions, BackupReport } from "./care/backup.ts";
import type { ScrubOptions, VerifyEngineOptions } from "./care/verify-engine.ts";
import type { StoreReport } from "./care/verify-store.ts";

export type { CloseReport } from "@ehdb/journal";

export interface EngineOptions {
  /** The engine's own directory; made when missing. */
  readonly dir: string;
  /** `false`: NOT_FOUND when there is no store in `dir`, and nothing is made. Default true. */
  readonly create?: boolean;
  /** What it holds. More may be added at a later open; one that is there keeps its order, and may be left out. At most 255. */
  readonly datasets: readonly DatasetSpec[];
  /** Default: this machine. */
  readonly host?: Host;
  /** Default `sync`. In `batch` and `async` reads see what was handed to the system, and a power failure can take that back. */
  readonly durability?: Durability;
  /** A generation is sealed when it holds so many bytes: 64 KiB to 256 MiB, default 8 MiB. Three times as much waits in memory at most. */
  readonly sealMaxBytes?: number;
  /** … or so many commits: default 65 536. */
  readonly sealMaxCommits?: number;
  /** … or when its first commit is so old: default never. */
  readonly sealMaxAgeSeconds?: number;
  /** An id is known for so many further records of its dataset: 0 to 16 777 216, default 65 536. */
  readonly dedupeWindow?: number;
  /** Plain blocks of parts that stay in memory: default 64 MiB. */
  readonly blockCacheBytes?: number;
  /** Of parts. Default `none`; `deflate` takes a third of the space of JSON, and the time of reading grows several times. */
  readonly compression?: "none" | "deflate";
  /** AES-256-GCM of journal and parts. Default: not encrypted. */
  readonly encryption?: KeyRing;
  /** Appended bytes that may wait in memory for the disk. Default 32 MiB. */
  readonly maxInFlightBytes?: number;
  /** Space kept aside so that recovery can finish on a full disk. Default 1 MiB. */
  readonly reserveBytes?: number;
  /**
   * Space kept aside so that seals and the manifest can finish on a full disk: 0 to 1 GiB, default twice `sealMaxBytes`, and 1 MiB.
   * While the disk has no room for it, the store takes in only what the journal has room for already. 0: seals then wait for space.
   */
  readonly sealReserveBytes?: number;
  /** Old manifests that are kept; 0 keeps all. Default 32. */
  readonly manifestRetain?: number;
  /**
   * Merges run by themselves, a second at a time at most. `false`: only `runPendingMerges()`, `merge()` and `scavenge()` merge, and only
   * `sealAged()` looks at the age of what isn't sealed. Default true.
   */
  readonly background?: boolean;
  /** Of a map every version is kept for so many newer revisions of the store, and then the newest one: 0 to 2^53 - 1, default 16 384. */
  readonly historyRevisions?: number;
  /** A read or a snapshot that isn't used for so long is let go, and says so when it's used again (COMPACTED): 1 to 604 800, default 300. */
  readonly pinIdleSeconds?: number;
  /** `true` holds the thread during each sync of a commit. Default false. */
  readonly blockingSync?: boolean;
  /** How long `open` waits for another process to let go of the directory, in milliseconds. Default 0: LOCKED at once. */
  readonly lockTimeoutMillis?: number;
}

/**
 * `open`; `no-space`: commits throw NO_SPACE until there is room; `stalled`: what is committed can't be sealed, and commits throw why
 * (IO_ERROR, WORKER_FAILED) until it can; `poisoned`: until `reopen()`; `read-only`: opened on a full disk;
 * `corrupt`: what is on disk is damaged, commits throw CORRUPT, reads of the rest go on.
 */
export type EngineState = "open" | "no-space" | "stalled" | "poisoned" | "read-only" | "corrupt" | "closed";

/** How far commits are. `sealed <= durable <= accepted`. */
export interface EngineHeads {
  /** The last commit that was taken in. Only expectations look at it. */
  readonly accepted: number;
  readonly durable: number;
  /** The last commit that is in parts. */
  readonly sealed: number;
}

export interface EngineRecovery {
  readonly epoch: number;
  /** Records of commits that the journal held beyond what is sealed, read into memory. */
  readonly replayedRecords: number;
  readonly replayedCommits: number;
  readonly millis: number;
}

export interface DurableEngine extends Engine {
  readonly state: EngineState;
  readonly dir: string;
  /** Given when the store was made, the same for ever. */
  readonly storeId: string;
  readonly heads: EngineHeads;
  /** What the last open or reopen found. */
  readonly recovery: EngineRecovery;
  setDurability(durability: Durability): void;
  /** Syncs all commits that were called before, in every mode; resolves with the durable revision. */
  flush(): Promise<number>;
  /** Resolves when a commit would be taken in without waiting for room. */
  ready(options?: { readonly signal?: AbortSignal }): Promise<void>;
  /** Seals all commits that were called before, and resolves when they are in parts. */
  seal(): Promise<void>;
  /**
   * What there is now, for reads that are to see one moment. It keeps memory and files: release it; one that isn't used for
   * `pinIdleSeconds` is let go, and its reads are COMPACTED.
   */
  snapshot(): Snapshot;
  /** Makes one part of all that a dataset has in parts, or of each dataset. What newer entries hide, and what was erased, goes. */
  merge(options?: { readonly dataset?: string }): Promise<void>;
  /** Merges what is due, as the background does; resolves with the number of merges. */
  runPendingMerges(): Promise<number>;
  /** Seals what is older than `sealMaxAgeSeconds`, as the background does; resolves with whether there was anything. */
  sealAged(): Promise<boolean>;
  /**
   * What lies below a position of a log can't be read any more, and goes: a whole number up to the log's last readable position and one
   * more. It's durable when it resolves; then the parts that lie below go, with the next merges what lies in others. Floors never fall.
   */
  raiseFloor(dataset: string, position: number): Promise<void>;
  /** Raises the floor of a log over as many of its oldest parts as every limit that is given lets go; resolves with the log's first position. */
  retain(dataset: string, limits: RetentionLimits): Promise<number>;
  /**
   * Erases: seals all, merges each dataset into one part without what was erased, deleted or hidden by newer entries, whatever
   * `historyRevisions` says, and removes what that leaves behind. What a pin still reads goes when it's released.
   */
  scavenge(): Promise<void>;
  /** Removes files of parts that a crash or an error left behind; an open does the same. */
  reclaimOrphans(): Promise<{ readonly files: number; readonly bytes: number }>;
  /**
   * Copies the store as it is now into a directory that is empty or missing, while it goes on: parts get a second name where the file system
   * can give one, the rest is copied. Until it's whole it stands beside, as `<to>.unfinished-<id>`. ALREADY_EXISTS, NO_SPACE, IO_ERROR,
   * CORRUPT, ABORTED, COMPACTED (it took more than `pinIdleSeconds` over one file).
   */
  backup(to: string, options?: BackupOptions): Promise<BackupReport>;
  /**
   * Reads all that the store has on disk, whatever is cached, and says what is wrong; the rest goes on meanwhile. It doesn't reject
   * for damage: ABORTED, KEY_MISSING, IO_ERROR, CLOSED.
   */
  verify(options?: VerifyEngineOptions): Promise<StoreReport>;
  /** The same at a pace: for rot to be found before it's met. */
  scrub(options?: ScrubOptions): Promise<StoreReport>;
  /** After POISONED, or to retry a read-only open: waits for all I/O in flight, then recovers in place. Where it's stalled it waits for the next try to seal, and rejects with why that failed. */
  reopen(): Promise<EngineRecovery>;
  stats(): EngineStats;
  /** Counts what the store takes on disk anew, in memory. By itself that is done whenever something else is sealed, not with each commit. */
  refreshStateGauges(): void;
  close(): Promise<CloseReport>;
  /** Closes, and throws the report's `reason` when it wasn't poisoned before: nobody else would tell it. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** What is kept of a log, whole parts at a time; every limit that is given holds. */
export interface RetentionLimits {
  /** Of the files of its parts. */
  readonly maxBytes?: number;
  readonly maxRecords?: number;
  /** Since the part's last record. */
  readonly maxAgeSeconds?: number;
}

/** Reads of one moment. */
export interface Snapshot {
  readonly revision: number;
  log(name: string): LogDataset;
  map(name: string): MapDataset;
  /** Idempotent. */
  release(): void;
  [Symbol.dispose](): void;
}

/**
 * Counters since open, and gauges. 0 in a counter of errors means healthy, as in `not_open`. Names as operators read them, prefix `ehdb_l0_`;
 * `prometheusText` gives them as text. All are there from the start.
 */
export interface EngineStats {
  /** Gauge: 0 while `state` is `open`, else 1. */
  readonly not_open: number;
  /** Of each code, the calls that threw it or rejected with it, reads included. An open that fails has nobody to count for it. */
  readonly errors: Readonly<Record<ErrorCode, number>>;
  /** Records and operations taken in, imported ones included. */
  readonly appends: number;
  /** Imported records that came behind one with a higher sort key, of imports that are done: what commits append is always in order. */
  readonly out_of_order_appends: number;
  readonly commits: number;
  readonly conflicts: number;
  readonly dedupe_hits: number;
  /** Of the store's whole life. */
  readonly dedupe_window_evictions: number;
  /** Gauge. */
  readonly dedupe_window_records: number;
  /** Commits that the journal refused. */
  readonly ingest_append_failed: number;
  /** Writes, syncs, reads and removals of the journal that failed, and damage found in it: also those that no caller waited for. */
  readonly journal_errors: number;
  /** Batches that were refused as they were stated: INVALID_ARGUMENT, TOO_LARGE. */
  readonly ingest_decode_failed: number;
  /** Records that the open and reopens read back from the journal. */
  readonly recovered_active_records: number;
  readonly seals: number;
  readonly seal_failed: number;
  readonly sealed_bytes: number;
  readonly merges: number;
  readonly merge_failed: number;
  /** Parts that merges made others of, and the bytes of these. */
  readonly parts_merged: number;
  readonly merged_bytes: number;
  /** Records that merges left out: of a map what newer ones hide, of a log what was erased, and what lay below its floor. */
  readonly records_superseded: number;
  readonly records_erased: number;
  readonly records_dropped: number;
  /** Parts of which nothing but the last versions of keys and known ids was left. */
  readonly parts_dropped: number;
  /** Files of parts that nothing named any more, removed; and those that couldn't be. */
  readonly orphans_reclaimed: number;
  readonly orphan_bytes: number;
  readonly reclaim_failed: number;
  readonly reads: number;
  /** Parts that a scan left out by their range, that a lookup left out by their bloom filter, and that either looked into. */
  readonly parts_pruned: number;
  readonly parts_bloom_pruned: number;
  readonly parts_scanned: number;
  readonly cold_loads: number;
  /** Reads that met a failing disk or damage. */
  readonly read_errors: number;
  /** Damaged places that `verify()` and `scrub()` found, each time that they found them. */
  readonly scrub_damage: number;
  readonly manifest_versions_pruned: number;
  readonly manifest_errors: number;
  /** Gauges. */
  readonly manifest_versions_retained: number;
  readonly manifest_parts: number;
  /** On disk, as of the last change of what is sealed: the parts in force, the journal with the space made ahead, and the manifests. */
  readonly parts_bytes: number;
  readonly journal_bytes: number;
  readonly manifest_bytes: number;
  /** Parts more than merges keep up with: for each of them seals are spaced out further, and commits wait for seals. 0 is healthy. */
  readonly merges_behind: number;
  /** Reads and snapshots that keep what they read from, and how long the oldest one has. */
  readonly pins: number;
  readonly oldest_pin_seconds: number;
  /** Counter: those that stood still for too long and were let go. */
  readonly pins_expired: number;
  /** Parts that were merged and that a pin still keeps. */
  readonly parts_retired: number;
  /** What is kept aside on disk for a full one; less than asked for while it's being made, or the disk is full. */
  readonly reserve_bytes: number;
  /** Counter: writes of seals and of the manifest that were done with it. */
  readonly reserve_used: number;
  readonly unsealed_generations: number;
  readonly unsealed_bytes: number;
  readonly block_cache_bytes: number;
  readonly block_cache_hits: number;
  readonly block_cache_misses: number;
  /** 0: replication's, which there isn't yet. Parts copied elsewhere and their bytes, writes to replicas, reads that went to one. */
  readonly uploads: number;
  readonly upload_bytes: number;
  readonly replica_writes: number;
  readonly read_fallbacks: number;
  /** Gauges, 0: replication's as well. Parts without a copy, and with fewer than are wanted. Its histogram `replicated_lag` is in the text only. */
  readonly parts_local_only: number;
  readonly parts_under_replicated: number;
}
