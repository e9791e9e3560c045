import type { EhdbError } from "@ehdb/contracts";
import type { Host } from "@ehdb/host";

/**
 * When an appended record is synced to disk.
 *
 * - `sync`: at once; appends made while a sync runs share the next one (group commit).
 * - `batch`: when `batchBytes`, `batchRecords` or `batchMillis` is reached, whichever comes first.
 * - `async`: on `flush()`, on `close()`, when somebody waits for `durable()`, and before a new segment gets data.
 */
export type Durability = "sync" | "batch" | "async";

/** Keys by id. `current` encrypts new segments; the others only read what they encrypted. Keys are 32 bytes. */
export interface KeyRing {
  readonly current: string;
  readonly keys: Readonly<Record<string, Uint8Array>>;
}

/** Keys by id, for who only reads: `current` may be given, and isn't used. */
export interface DecryptionKeys {
  readonly current?: string;
  readonly keys: Readonly<Record<string, Uint8Array>>;
}

/** What may be dropped, whole segments at a time, never the newest one. Every limit that is given holds. */
export interface Retention {
  /** Bytes on disk, segments' preallocated space not counted. */
  readonly maxBytes?: number;
  /** Seconds since a segment's last record. */
  readonly maxAgeSeconds?: number;
  readonly maxRecords?: number;
}

export interface JournalOptions {
  /** The journal's own directory; made when missing. */
  readonly dir: string;
  /** Default: this machine. */
  readonly host?: Host;
  /** Default `sync`. */
  readonly durability?: Durability;
  /** In mode `batch`. Default 256 KiB. */
  readonly batchBytes?: number;
  /** In mode `batch`. Default 1 024. */
  readonly batchRecords?: number;
  /** In mode `batch`: synced this many milliseconds after the first record that waits, at the latest. Default 10. */
  readonly batchMillis?: number;
  /** Bytes after which a new segment starts: 1 MiB to 4 GiB, default 256 MiB. A larger single write gets a segment as large as it needs. */
  readonly segmentBytes?: number;
  /** Appended bytes that may wait in memory for the disk: 1 MiB to 1 GiB, default 32 MiB. Beyond it `append` throws QUEUE_FULL. */
  readonly maxInFlightBytes?: number;
  /** One anchor of the sparse index every so many records: 1 to 1 048 576, default 1 024. */
  readonly indexStride?: number;
  /** Space kept aside, so that recovery can finish on a full disk: 0 to 256 MiB, default 1 MiB. */
  readonly reserveBytes?: number;
  /** Default: nothing is ever dropped. Applied when a segment is full, and by `applyRetention()`. */
  readonly retention?: Retention;
  /** Default `none`. `deflate` compresses a batch in a worker thread when that makes it smaller. */
  readonly compression?: "none" | "deflate";
  /** AES-256-GCM, a key a segment. Default: not encrypted. */
  readonly encryption?: KeyRing;
  /** `true` holds the thread during each sync: lower latency for a command-line tool that has nothing else to do. Default false. */
  readonly blockingSync?: boolean;
  /** What open verifies: the newest segment (`tail`, default) or every segment (`all`). Reads verify whatever they load in any case. */
  readonly verifyOnOpen?: "tail" | "all";
  /** How long `open` waits for another process to let go of the directory, in milliseconds. Default 0: LOCKED at once. */
  readonly lockTimeoutMillis?: number;
  /** The epoch of this open is that at least: for one that goes on with a copy of another journal. From 1, the default, to 4 294 967 295. */
  readonly leastEpoch?: number;
}

/** Options of a read-only open, which writes nothing and works beside a live writer. */
export interface JournalReaderOptions {
  readonly dir: string;
  readonly host?: Host;
  readonly indexStride?: number;
  readonly encryption?: DecryptionKeys;
  /** How often a tail looks for news when the file system doesn't tell. Milliseconds, default 50. */
  readonly pollMillis?: number;
}

export interface JournalRecord {
  /** From 1, dense. */
  readonly sequence: number;
  /** A view into a buffer that is the reader's own: it stays valid, and keeps the record's batch in memory. */
  readonly data: Uint8Array;
  /** When its batch was opened, milliseconds since 1970; never falls within a journal. */
  readonly time: number;
  /** The writer's incarnation. */
  readonly epoch: number;
}

/** A place in the log that survives restarts: pass it back as `after`. */
export interface Checkpoint {
  readonly sequence: number;
  readonly epoch: number;
}

export interface SequenceRange {
  readonly first: number;
  readonly last: number;
}

export interface Waiting {
  readonly signal?: AbortSignal;
  /** Milliseconds; the error that ends the wait has a code of its own (READY_TIMEOUT, FLUSH_TIMEOUT). */
  readonly timeoutMillis?: number;
}

export interface ScanOptions {
  /** The first sequence wanted. Default: the first there is. COMPACTED when it has been dropped. */
  readonly from?: number;
  /** Instead of `from`: go on after this record. TRUNCATED when a crash took it back, COMPACTED when the next was dropped. */
  readonly after?: Checkpoint;
  /** The last sequence wanted. Default: what is readable when the scan starts. */
  readonly to?: number;
  readonly signal?: AbortSignal;
}

export interface TailOptions {
  readonly from?: number;
  readonly after?: Checkpoint;
  readonly signal?: AbortSignal;
  /** Called each time that the tail has delivered all there is, with the last sequence it knows of. */
  readonly onCaughtUp?: (sequence: number) => void;
}

/** Record by record, or, faster, a batch's records at a time. Either way it may be iterated once. */
export interface RecordStream extends AsyncIterable<JournalRecord> {
  batches(): AsyncIterable<readonly JournalRecord[]>;
}

export interface JournalReader {
  /** The first sequence that can be read; `last + 1` when there is none. */
  readonly first: number;
  /** The last sequence that can be read: durable; in modes `batch` and `async` of the writer itself, written. 0 when there is none. */
  readonly last: number;
  /** OUT_OF_RANGE beyond the end, COMPACTED below `first`, CORRUPT when what is on disk is damaged. */
  read(sequence: number): Promise<JournalRecord>;
  scan(options?: ScanOptions): RecordStream;
  /** Catches up, then follows. Ends only by its signal (ABORTED), `return`, close (CLOSED), or an error. Holds about two batches of memory. */
  tail(options?: TailOptions): RecordStream;
  /** Reads every byte of every segment and says what is wrong; throws only when it can't read. */
  verify(options?: VerifyOptions): Promise<VerifyReport>;
  stats(): JournalStats;
}

export interface ReadOnlyJournal extends JournalReader {
  /** Of the writer that was seen last; 0 before there was one. */
  readonly epoch: number;
  /**
   * The last sequence that was whole in the files at the last look, stated durable or not: what the writer had acknowledged by then is up to it. It
   * states that with its next batch, or 50 ms after its last one.
   */
  readonly whole: number;
  /** Looks again at what the writer has stated durable; resolves with `last`. */
  refresh(): Promise<number>;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface Journal extends JournalReader {
  /** `open`; `no-space`: appends throw NO_SPACE until there is room (or, `data.cause` being `files`, until files can be opened again); `poisoned`: until `reopen()`; `read-only`: opened on a full disk. */
  readonly state: "open" | "no-space" | "poisoned" | "read-only" | "closed";
  readonly dir: string;
  /**
   * The machine, for what stands beside the journal under its lock: before a name is made, changed or removed through it, it's looked whether the lock
   * is still there. When not, that is IO_ERROR, and the journal is poisoned.
   */
  readonly host: Host;
  /** This open's epoch. */
  readonly epoch: number;
  /** What recovery found when this journal was opened, or last reopened. */
  readonly recovery: RecoveryReport;
  /** How far things are. `durable <= written <= appended`. */
  readonly cursors: Cursors;
  readonly durability: Durability;

  /**
   * Copies a record into the open batch and returns its sequence. Not yet durable. Throws before anything is
   * minted: QUEUE_FULL (await `ready()`; `data.cause` says what is short: `in-flight`, `space` or `line`), NO_SPACE, TOO_LARGE (16 MiB), POISONED, READ_ONLY, CLOSED.
   */
  append(data: Uint8Array): number;
  /** The same for several records that are kept or lost together: one batch. 16 MiB in all, and 1 048 576 records. */
  appendAll(records: readonly Uint8Array[]): SequenceRange;
  /** Waits for room, appends, and resolves with the sequence once it is on disk. OUTCOME_UNKNOWN when the disk fails after it was minted. A signal ends the wait for room only: what is minted can't be taken back. */
  appendDurable(data: Uint8Array, options?: { readonly signal?: AbortSignal }): Promise<number>;
  appendAllDurable(records: readonly Uint8Array[], options?: { readonly signal?: AbortSignal }): Promise<SequenceRange>;
  /** Resolves when everything up to `sequence` is on disk; OUT_OF_RANGE for a sequence not yet given out. In mode `async` it brings the sync about. */
  durable(sequence: number): Promise<void>;
  /** Resolves when `sequence` can be read: durable, in modes `batch` and `async` written. Errors as for `durable`; brings no sync about. */
  readable(sequence: number): Promise<void>;
  /** Syncs what has been appended so far, in every mode; resolves with the durable sequence. */
  flush(options?: Waiting): Promise<number>;
  /**
   * Resolves when `bytes` (default 64 KiB) can be appended in one write by the code that runs next, first come, first served: one
   * record, or several that have 64 bytes or more on average. For smaller ones ask for more: a record's length takes a byte, too.
   */
  ready(bytes?: number, options?: Waiting): Promise<void>;
  setDurability(durability: Durability): void;

  /** Makes everything below `sequence` unreadable, durably, then removes the segments that hold nothing else. At most `durable + 1`. */
  dropBefore(sequence: number): Promise<DropReport>;
  /**
   * Starts a new segment, and resolves when it is on disk: what `dropBefore` has dropped of the segment before is erased by the next
   * `dropBefore`, where it would stay until that segment is full.
   */
  roll(): Promise<void>;
  /**
   * From now on the journal takes no more of the disk, until `growAgain()`: what it has written as zeros is still used, and beyond it
   * appends are NO_SPACE, with `reason` as the cause. Resolves when no zeros are being written any more. For who keeps room for something
   * else on the same disk.
   */
  stopGrowing(reason: EhdbError): Promise<void>;
  growAgain(): void;
  /**
   * From now on nothing from `sequence` on is dropped, until what it returns is called: for who reads or copies it meanwhile. Drops
   * that ask for more drop what lies below.
   */
  hold(sequence: number): () => void;
  /** Drops what the configured retention no longer keeps. */
  applyRetention(): Promise<DropReport>;
  /** After POISONED, or to retry a read-only open: waits for all I/O in flight, then recovers in place. */
  reopen(): Promise<RecoveryReport>;
  /** Syncs, states all durable, and lets the directory go. Never throws for what the disk does: the report says it. Called again it gives the same report. */
  close(options?: { readonly timeoutMillis?: number }): Promise<CloseReport>;
  /** Closes, and throws the report's `reason` when it wasn't poisoned before: nobody else would tell it. */
  [Symbol.asyncDispose](): Promise<void>;
}

export interface Cursors {
  /** The last sequence given out by `append`. */
  readonly appended: number;
  /** The last sequence handed to the operating system. */
  readonly written: number;
  /** The last sequence that is on disk. */
  readonly durable: number;
}

export interface CloseReport {
  /**
   * `timed out`: what was in flight goes on in the background, and the directory is let go when it has come to its end. Who wants it
   * again opens it with `lockTimeoutMillis`.
   */
  readonly state: "clean" | "partially durable" | "timed out";
  readonly cursors: Cursors;
  /** With `partially durable`, unless all that was appended is on disk: OUTCOME_UNKNOWN, and why. */
  readonly reason?: EhdbError;
}

export interface DropReport {
  /** The first sequence that can still be read. */
  readonly first: number;
  readonly segmentsRemoved: number;
  readonly bytesRemoved: number;
}

export interface RecoveryReport {
  readonly epoch: number;
  /** The last sequence after recovery. */
  readonly last: number;
  /** The highest sequence that the log itself stated durable. */
  readonly stated: number;
  /** Records beyond `stated`, copied into a new segment before anything was served. */
  readonly recordsCopied: number;
  /** Bytes after the last whole batch that were not zero: a torn tail, now void. */
  readonly tornBytes: number;
  /** Segments that no chain reaches, removed. */
  readonly voidSegments: number;
  readonly segments: number;
  readonly millis: number;
}

export interface VerifyOptions {
  readonly signal?: AbortSignal;
  /** A promise that it returns is waited for: so a caller sets the pace. */
  readonly onProgress?: (doneBytes: number, totalBytes: number) => unknown;
}

/** Of `verifyJournal`, which looks at a journal without opening it. */
export interface VerifyJournalOptions extends VerifyOptions {
  readonly dir: string;
  readonly host?: Host;
  readonly encryption?: DecryptionKeys;
}

export interface Damage {
  readonly file: string;
  /** Where in the file. */
  readonly offset: number;
  /** The sequences concerned, as far as they are known. */
  readonly first: number;
  readonly last: number;
  readonly reason: string;
}

export interface VerifyReport {
  readonly ok: boolean;
  readonly segments: number;
  readonly batches: number;
  readonly records: number;
  readonly bytes: number;
  readonly damage: readonly Damage[];
  /** Sequences that aren't there because a salvage couldn't save them. They are no damage. */
  readonly gaps: readonly SequenceRange[];
}

export interface VerifyJournalReport extends VerifyReport {
  /** The first and the last sequence that the log holds, stated durable or not; `last` below `first` when it holds none. Of a damaged log as far as they are known. */
  readonly first: number;
  readonly last: number;
}

/** Plain counters and gauges since open. 0 in an error counter means healthy. */
export interface JournalStats {
  readonly appends: number;
  readonly appendedBytes: number;
  readonly batches: number;
  readonly syncs: number;
  readonly marks: number;
  readonly rolls: number;
  readonly reads: number;
  /** Gauge. */
  readonly segments: number;
  /** Gauge: bytes of all segments, preallocated space included. */
  readonly diskBytes: number;
  /** Gauge: bytes waiting in memory. */
  readonly inFlightBytes: number;
  /** Bytes written as zeros ahead of use. */
  readonly preallocatedBytes: number;
  readonly segmentsRemoved: number;
  /** Files that were to be removed and couldn't; the next open tries again. */
  readonly removeErrors: number;
  readonly queueFull: number;
  readonly noSpace: number;
  readonly writeErrors: number;
  readonly readErrors: number;
  readonly corruptions: number;
  readonly reopens: number;
}

export interface SalvageOptions {
  /** The damaged journal. It is only read. */
  readonly dir: string;
  /**
   * A directory that is empty or missing; it becomes a journal with the same sequences. Until it is whole it stands beside,
   * as `<to>.unfinished-<id>`, which a salvage that is cut off by a crash leaves behind; one that throws removes it.
   */
  readonly to: string;
  readonly host?: Host;
  /** Reads the damaged journal, and encrypts the new one. */
  readonly encryption?: KeyRing;
  readonly onProgress?: (doneBytes: number, totalBytes: number) => void;
}

export interface SalvageReport {
  readonly records: number;
  readonly bytes: number;
  /** What is missing, in order. A read of such a sequence from the new journal throws SEQUENCE_LOST; a scan goes on after it. */
  readonly lost: readonly Damage[];
}

export interface CopyJournalOptions {
  /** What is copied: a journal that is open, or a reader. Without it the new one is empty. */
  readonly from?: JournalReader;
  /** A directory that is empty or missing; it becomes a journal. Until it is whole it stands beside, as with `salvage`. */
  readonly to: string;
  readonly host?: Host;
  /** Of the new one. */
  readonly encryption?: KeyRing;
  /** The copy begins with this sequence: what lies below counts as dropped. */
  readonly first: number;
  /** And ends with this one. Below `first` nothing is copied; the copy's first record will be `first` all the same. */
  readonly last: number;
  /** The epoch of the copy's own marks: above that of all that is copied. */
  readonly leastEpoch?: number;
  readonly signal?: AbortSignal;
  /** Told of the bytes that have been copied. */
  readonly onBytes?: (bytes: number) => void;
}

export interface CopyJournalReport {
  readonly records: number;
  readonly bytes: number;
}
