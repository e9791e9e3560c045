/**
 * The engine under the tiers: datasets that share one log, one order of commits and one sync.
 *
 * A dataset's order says what it is. `by-sort` is a log: records are appended under a key, get a position in the dataset
 * (the sort key) and a version under their key, and are never superseded. `by-key` is a map: a put or a delete supersedes
 * what was there under the key.
 */
export type DatasetOrder = "by-sort" | "by-key";

export interface DatasetSpec {
  /** 1 to 64 characters of `a-z`, `0-9`, `-`, `_`, `.`; it names the dataset for ever. */
  readonly name: string;
  readonly order: DatasetOrder;
}

/** The most that an engine may add to the size of a batch for each operation, in bytes. */
export const OPERATION_BYTES = 64;

/**
 * What a write rests on: `any` is nothing, `none` that there is nothing under the key, `exists` that there is something, a
 * number that exactly this is there: the version of the key's last record in a log, the revision of its value in a map; 0 is
 * `none`. There is nothing under a deleted key of a map.
 */
export type Expectation = "any" | "none" | "exists" | number;

/** A record of a log dataset. Each of its properties may be a getter, which decodes it each time, and which a spread leaves out. */
export interface LogRecord {
  /** Its position in the dataset: from 1, dense when it was minted. */
  readonly sort: number;
  readonly key: string;
  /** Its place among the records of its key: from 1, dense when it was minted. */
  readonly version: number;
  /** The commit that it belongs to; of an imported one, that with which its import began. */
  readonly revision: number;
  /** When that was, milliseconds since 1970; never falls from one commit to the next. An imported record's is its own, and never falls within its log. */
  readonly time: number;
  readonly id: string | undefined;
  /**
   * A view of memory that is the engine's: read it, and copy what is kept for long. The bytes stay as they are, but hold the memory around
   * them.
   */
  readonly payload: Uint8Array;
  /** The same without a view, for who reads many: the payload is what `memory` holds from `start` to before `end`. */
  readonly memory: Uint8Array;
  readonly start: number;
  readonly end: number;
}

/** A value of a map dataset. */
export interface MapRecord {
  readonly key: string;
  /** The commit that wrote it. */
  readonly revision: number;
  readonly time: number;
  readonly payload: Uint8Array;
}

/** A record to be appended. `id` makes it idempotent: see `Engine.commit`. */
export interface NewRecord {
  readonly payload: Uint8Array;
  readonly id?: string | undefined;
}

/**
 * What is to be written, all or nothing. Calls only state; nothing is read, and nothing happens before the commit. Payloads
 * are copied by the call that states them. The order of the calls counts: versions go on from append to append,
 * and of the puts and deletes of a key the last one holds.
 *
 * What is wrong is refused as it is stated, and isn't in the batch then. INVALID_ARGUMENT: a dataset that there isn't, or of the
 * other order; a key or id that is empty or not well-formed Unicode; a payload that isn't a Uint8Array; an id given twice under
 * one key; records that are no array, or no record among them; an expectation that is none; a version to erase below that isn't a whole number from 1; any call after `stage` has returned. TOO_LARGE: a key or id of more than 1 024 bytes; more
 * than 16 MiB of keys, ids and payloads in one batch, to which an engine may add up to `OPERATION_BYTES` for each operation.
 */
export interface WriteBatch {
  /** Appends a record to a log. `id` makes it idempotent: see `Engine.commit`. */
  append(dataset: string, key: string, payload: Uint8Array, id?: string): void;
  /** Appends several under one key, or, when one is refused, none of them. */
  appendAll(dataset: string, key: string, records: readonly NewRecord[]): void;
  /**
   * Lets the engine forget the records of a key of a log whose version is below `below`, a whole number from 1: it drops them when it comes by, and
   * until then they can be read. It reaches only what earlier commits have appended, however large `below` is. Versions go on from where
   * they are, and ids stay known as long as they would have been.
   */
  erase(dataset: string, key: string, below: number): void;
  put(dataset: string, key: string, payload: Uint8Array): void;
  /** Deletes a key of a map; no error when there is none. */
  delete(dataset: string, key: string): void;
  /**
   * The commit fails with CONFLICT unless this holds of the key as all earlier commits left it, whatever this batch writes under
   * it, before or after this call, or not at all. A key may have several.
   */
  expect(dataset: string, key: string, expectation: Expectation): void;
}

export interface Appended {
  readonly sort: number;
  readonly version: number;
}

export interface Commit {
  /** From 1, dense over the store: the order of commits, and the same for all that one commit wrote. */
  readonly revision: number;
  readonly time: number;
  /** What the batch's appends got, in their order. */
  readonly appended: readonly Appended[];
  /**
   * What the batch appends had been committed before: this is what it got then. Nothing was written, also not what the batch
   * puts or deletes.
   */
  readonly isDuplicate: boolean;
}

/** A record as an import brings it, with all that a commit would have given it. */
export interface ImportedRecord {
  /** From 1 to 2^53 - 2, and above the one before it. What lies between stays a gap. */
  readonly sort: number;
  readonly key: string;
  /** One more than that of the record before it under its key; the first one's is any from 1. */
  readonly version: number;
  /** Whole milliseconds since 1970, as far as a Date reaches, not below those of the record before it. */
  readonly time: number;
  readonly id?: string | undefined;
  readonly payload: Uint8Array;
}

export interface ImportOptions {
  /**
   * What becomes of a record whose sort key is below one that came before it. `refuse` (default): OUT_OF_ORDER. `count`: it's put where it
   * belongs, and counted, as long as it does so among the newest 4 096 records, or as many of them as take 16 MiB; else OUT_OF_ORDER.
   */
  readonly disorder?: "refuse" | "count";
  /** Ends the import with ABORTED, as long as it isn't being made visible. */
  readonly signal?: AbortSignal;
}

export interface ImportResult {
  readonly records: number;
  /** Of them those that came behind one with a higher sort key. */
  readonly outOfOrder: number;
  /** The first and the last position; 0 when there were no records. */
  readonly first: number;
  readonly last: number;
}

/** INVALID_ARGUMENT for a value out of its range, INVALID_OPTION for an option that there isn't, as in all options. */
export interface LogReadOptions {
  /** `forwards` (default) in rising order, or `backwards`. */
  readonly direction?: "forwards" | "backwards";
  /**
   * The first position (of a key: version) wanted, included, a whole number from 0. It need not be there: what lies behind it in
   * the direction is read. Default: the first there is, or backwards the last. A scan forwards from a position between 1 and the log's `first` is
   * COMPACTED: what was there has been dropped.
   */
  readonly from?: number;
  /** At most so many records, a whole number from 0. Default: all. */
  readonly limit?: number;
  /** Ends the read with ABORTED at its next step. */
  readonly signal?: AbortSignal;
}

/** All that is given must hold. Texts are well-formed Unicode, and may be empty. */
export interface MapScanOptions {
  /** Only keys that begin so. */
  readonly prefix?: string;
  /** Keys from here on, included, in the byte order of UTF-8. */
  readonly from?: string;
  /** Keys before this one, in the same order. */
  readonly before?: string;
  /** At most so many values, a whole number from 0. Default: all. */
  readonly limit?: number;
  /** Ends the read with ABORTED at its next step. */
  readonly signal?: AbortSignal;
}

/**
 * Some records at a time, never none, as they lie in memory or on disk. It is iterated once. What was readable when the first
 * ones were asked for is what is read; what is committed later isn't.
 */
export type Batches<T> = AsyncIterable<readonly T[]>;

/** A log dataset. Reads see what is readable; what a batch refuses as a key is refused here. */
export interface LogDataset {
  readonly name: string;
  /** The first position that can be read: from 1, and it rises when what lies below is dropped. There need not be anything at it. */
  readonly first: number;
  /** The position of the last readable record; 0 when there has been none. */
  readonly last: number;
  /**
   * TRUNCATED when a crash took back what was at `sort` in `epoch`, or the log was replaced by another (`epoch` is still to come).
   * OUT_OF_RANGE beyond the end. From 0, where nothing has been read, every log continues. INVALID_ARGUMENT unless the sort is a whole number from 0, the epoch one from 1.
   */
  assertContinues(sort: number, epoch: number): void;
  /** The version of the last readable record under `key`; 0 when there has been none. */
  version(key: string): Promise<number>;
  /** In order of position; erased records leave gaps. */
  scan(options?: LogReadOptions): Batches<LogRecord>;
  /** The records of one key, in order of version; `from` is a version. No records for a key that has none. */
  read(key: string, options?: LogReadOptions): Batches<LogRecord>;
}

/** A map dataset. Reads see what is readable; what a batch refuses as a key is refused here. */
export interface MapDataset {
  readonly name: string;
  /** Undefined when there is nothing under the key: never put, or deleted. */
  get(key: string): Promise<MapRecord | undefined>;
  /** In the byte order of the keys' UTF-8. */
  scan(options?: MapScanOptions): Batches<MapRecord>;
}

export interface Engine {
  /** Raised by each writable open, and by each reopen. */
  readonly epoch: number;
  /** INVALID_ARGUMENT when there is no such dataset, or it's a map. */
  log(name: string): LogDataset;
  /** INVALID_ARGUMENT when there is no such dataset, or it's a log. */
  map(name: string): MapDataset;
  /**
   * Commits what `stage` states, all or nothing, and resolves when it's durable as the mode in force promises, and readable. `stage` is called
   * once, before this returns; what it throws is what this rejects with. Commits take effect in the order of their calls. Nothing is
   * written when it rejects, but for OUTCOME_UNKNOWN. It never throws by itself.
   *
   * A batch whose appends all have ids, and all were written by one earlier commit, under the same keys, with the same content and in
   * each log in the same order, isn't written again: their places come back, marked. Whatever else the two hold doesn't count, and
   * expectations aren't looked at. An id that is known under its key in any other way is refused: ID_REUSED, with `{ dataset, key, id }`. An id is known,
   * of its key alone, exactly as long as its record is one of the newest `dedupeWindow` of its dataset before this commit.
   *
   * CONFLICT, with `{ dataset, key, expected, actual }` of the first expectation that doesn't hold; `actual` is the version or
   * revision there is, 0 for none. An answer of any kind waits until what it rests on is readable.
   *
   * LOCKED, when it writes to a log that is being imported. Other errors: INVALID_ARGUMENT for a batch that writes nothing and for a `stage` that returns a promise, what `WriteBatch` names, NO_SPACE, POISONED,
   * CORRUPT, CLOSED, READ_ONLY, OUTCOME_UNKNOWN, ABORTED before it is called or while it waits for its turn.
   */
  commit(stage: (batch: WriteBatch) => void, options?: { readonly signal?: AbortSignal }): Promise<Commit>;
  /**
   * Fills a log that never had a record with records that bring their sort keys, versions, times and ids, in order of their sort keys. All of
   * them can be read, durably, when it resolves, and none before: a crash on the way leaves the log as empty as it was. Batches are asked
   * for one at a time, each when the one before it has been taken in; payloads are copied then. Commits to other datasets go on meanwhile; those to this log, and another
   * import into it, are LOCKED. Afterwards positions, versions and times go on behind the last ones, and ids are known as after commits.
   *
   * It takes two revisions: one when it begins, which its records have, and one when it's done. One of no records takes none.
   *
   * ALREADY_EXISTS, with `{ dataset, last }`, when the log ever had a record. OUT_OF_ORDER, with `{ dataset, sort, before }`. ID_REUSED, with `{ dataset, key, id,
   * sort }`, for an id that is known under its key. INVALID_ARGUMENT for a sort key that comes twice, for a version that isn't the next one, a time
   * that falls, what is out of its range, and what `WriteBatch` refuses as a key, an id or a payload; TOO_LARGE likewise. What the source throws is what it rejects with.
   * CLOSED when the engine is closed meanwhile, POISONED when it's reopened. OUTCOME_UNKNOWN, when it was being made visible as the disk failed: the
   * next open shows it, or doesn't. Otherwise nothing of a failed import is there.
   */
  import(
    dataset: string,
    batches: AsyncIterable<readonly ImportedRecord[]> | Iterable<readonly ImportedRecord[]>,
    options?: ImportOptions,
  ): Promise<ImportResult>;
  /** The last readable revision; 0 when there has been no commit. */
  readonly revision: number;
  /** Resolves when more than `revision`, a whole number from 0, is readable, or the engine's state changes, as by a close. */
  news(revision: number): Promise<void>;
  /**
   * Waits for the commits that were called before. From the call on, every other call and every further step of a read is
   * CLOSED; `epoch`, `revision` and `last` stay what they were. Idempotent.
   */
  close(): Promise<unknown>;
}
