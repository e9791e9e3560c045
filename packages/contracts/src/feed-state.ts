import type { Batches } from "./engine.ts";

/** A value under a key. Keys are well-formed Unicode of at most 256 bytes, values have at most 1 MiB. */
export interface FeedStateEntry {
  readonly key: string;
  readonly value: Uint8Array;
}

/** A value that is put under a key, or, without one, what is deleted; no error when there is nothing. */
export interface FeedStateChange {
  readonly key: string;
  readonly value: Uint8Array | undefined;
}

/**
 * Where a feed keeps its groups: any store of keys and values that writes several of them at once. One feed at a time has it; who sees to that is
 * the store, or whoever opens it.
 */
export interface FeedState {
  /** Rises when what was written may have been taken back, as by a recovery in place. */
  readonly epoch: number;
  /** All that there is, in any order. Asked once, before the first write. */
  load(): Batches<FeedStateEntry>;
  /**
   * Makes all of the changes or none, durably when it resolves. They have at most 8 MiB, or are one. Calls take effect in their order, and aren't made while
   * one is under way.
   */
  write(changes: readonly FeedStateChange[]): Promise<void>;
}
