import type { DatasetSpec, LogDataset, MapDataset } from "@ehdb/contracts";
import type { Host } from "@ehdb/host";
import type { DecryptionKeys } from "@ehdb/journal";

export interface EngineReaderOptions {
  /** The engine's directory. */
  readonly dir: string;
  /** Those that are read; the store must have them. Default: all that it has, also those that come later. */
  readonly datasets?: readonly DatasetSpec[];
  /** Default: this machine. */
  readonly host?: Host;
  /** The keys that the store was written with. No current one is needed. */
  readonly encryption?: DecryptionKeys;
  /** How often `news` looks when the file system doesn't tell: 1 to 60 000 milliseconds, default 50. */
  readonly pollMillis?: number;
  /** Plain blocks of parts that stay in memory: 1 MiB to 64 GiB, default 16 MiB. */
  readonly blockCacheBytes?: number;
}

/**
 * A store to be read, beside the process that writes it or without one. It takes no lock and writes nothing. It shows what the writer has stated
 * durable, as of the last `refresh()`: about 50 ms behind an idle writer, one batch behind a busy one.
 *
 * A read sees one moment. When the writer merges parts away under it, it goes on in the parts that took their place. It gives the records of its moment, or
 * ends with COMPACTED: of a log when the floor has risen over what it hasn't given, of a map when the writer keeps values for less long (`historyRevisions`). Only
 * what was erased since may be missing.
 */
export interface EngineReader {
  readonly dir: string;
  readonly storeId: string;
  /** Of the writer that was seen last. */
  readonly epoch: number;
  /** The last revision that can be read; 0 when there has been no commit. */
  readonly revision: number;
  /** What can be read, in the order in which the store got them. */
  readonly datasets: readonly DatasetSpec[];
  /** INVALID_ARGUMENT when there is no such dataset, or it's a map. */
  log(name: string): LogDataset;
  /** INVALID_ARGUMENT when there is no such dataset, or it's a log. */
  map(name: string): MapDataset;
  /** The last readable commit that wrote to a dataset, or a later one; 0 for none. What was read before is good as long as it stays the same. */
  lastRevision(name: string): number;
  /** Looks at what the writer has stated durable since; resolves with `revision`. */
  refresh(): Promise<number>;
  /**
   * Resolves when more than `revision` can be read, at a close, or when the signal is aborted. It looks by itself, at once and
   * meanwhile, and rejects with what a look meets.
   */
  news(revision: number, options?: { readonly signal?: AbortSignal }): Promise<void>;
  stats(): EngineReaderStats;
  /** Reads end with CLOSED. Idempotent. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Gauges, all of the moment that `revision` is of. */
export interface EngineReaderStats {
  readonly parts: number;
  /** By name, what is in parts. */
  readonly datasets: Readonly<Record<string, { readonly parts: number; readonly bytes: number }>>;
  /** Commits up to this one are in parts: `revision - unsealedCommits`. */
  readonly sealedThrough: number;
  /** Commits that aren't in parts, and what they take in memory. */
  readonly unsealedCommits: number;
  readonly unsealedBytes: number;
  readonly blockCacheBytes: number;
}
