import type { Expectation, ImportOptions } from "./engine.ts";

/** What a program knows about its events: a union of such shapes, told apart by `type`, types a log. */
export interface EventShape {
  readonly type: string;
  /**
   * JSON as `JSON.stringify` takes it (a bigint or a cycle is INVALID_ARGUMENT, with the `path`), bytes (`Uint8Array`), or
   * undefined. It is taken as it is when the call is made.
   */
  readonly data?: unknown;
  /** A JSON object, or undefined: who, why, correlation and causation. */
  readonly metadata?: unknown;
}

/**
 * An event to be appended. Any other property is INVALID_ARGUMENT, but for those of a `RecordedEvent`, which are left out: what was read
 * from one log can be appended to another.
 */
export type NewEvent<E extends EventShape = EventShape> = E & {
  /**
   * 1 to 1 024 bytes of well-formed Unicode. With an id an append can be repeated without storing anything twice; see `append`.
   * Default: a random one.
   */
  readonly id?: string;
};

/**
 * An event as it was stored. Data and metadata are decoded when they are first asked for, once; they are getters, which a spread leaves
 * out and `JSON.stringify` doesn't.
 */
export type RecordedEvent<E extends EventShape = EventShape> = E & {
  readonly id: string;
  readonly stream: string;
  /** In its stream: from 1, dense as appended; goes on for ever, also after a delete. */
  readonly version: number;
  /** In the log: from 1, rising, dense as appended. */
  readonly position: number;
  /** When it was committed, milliseconds since 1970; never falls within a log. */
  readonly time: number;
};

/**
 * An event to be imported, with its place: what was read from one log can be imported into another. One without data says so, with `data:
 * undefined`: a spread of what was read loses it.
 */
export type ImportedEvent<E extends EventShape = EventShape> = NewEvent<E> & {
  readonly stream: string;
  /** One more than that of the event before it in its stream; the first one's is any from 1. */
  readonly version: number;
  /** From 1 to 2^53 - 2, and above the one before it. What lies between stays a gap. */
  readonly position: number;
  /** Whole milliseconds since 1970, as far as a Date reaches, not below those of the event before it. */
  readonly time: number;
};

export interface ImportEventsResult {
  readonly events: number;
  /** Of them those that came behind one with a higher position: only with `disorder: "count"`. */
  readonly outOfOrder: number;
  /** The first and the last position; 0 when there were no events. */
  readonly firstPosition: number;
  readonly position: number;
}

/** A place in the log that survives restarts. Where a bare position is given instead, it is taken on trust. */
export interface LogCheckpoint {
  /** Everything up to here was seen. 0: nothing. */
  readonly position: number;
  /** The log's epoch when it was seen. */
  readonly epoch: number;
}

export interface AppendOptions {
  /**
   * What the stream must be like: `any` (default), `none` (never appended to, or deleted), `exists` (appended to, and not deleted;
   * whether its events are still there doesn't matter), or exactly this version, which a delete doesn't change (0: never appended to).
   */
  readonly expect?: Expectation;
  /** Ends the wait for room with ABORTED; what has been taken in can't be taken back. */
  readonly signal?: AbortSignal;
}

export interface AppendResult {
  /** Of the first and the last event of this append. */
  readonly firstVersion: number;
  readonly version: number;
  readonly firstPosition: number;
  readonly position: number;
  readonly time: number;
  /** These very events had been appended before, and this is what that append got. Nothing was stored. */
  readonly isDuplicate: boolean;
}

/**
 * Event by event, or faster, some at a time. Whichever way, it may be iterated once: INVALID_ARGUMENT the second time. Once its signal is
 * aborted, no further event comes: ABORTED.
 */
export interface EventStream<E extends EventShape = EventShape> extends AsyncIterable<RecordedEvent<E>, void> {
  /** Arrays of one or more events, as many as were found at once: never all of a long log. */
  batches(): AsyncIterable<readonly RecordedEvent<E>[], void>;
  /**
   * The same, and faster yet for who looks at many and needs little of each: nothing of an event is decoded before it's asked for. All its
   * properties may be getters, which a spread leaves out; those but data and metadata may be decoded each time.
   */
  lazyBatches(): AsyncIterable<readonly RecordedEvent<E>[], void>;
}

export interface ReadStreamOptions {
  readonly direction?: "forwards" | "backwards";
  /**
   * The first version wanted, included. Default: the first there is, or backwards the last. Beyond the end: forwards nothing, backwards
   * the last comes first.
   */
  readonly from?: number;
  /** At most so many events; 0: none. */
  readonly limit?: number;
  readonly signal?: AbortSignal;
}

/** Which events are wanted. All that is given must hold. Types are those that were stored, before any upcaster. */
export interface EventFilter {
  /** One of these; at least one is given. */
  readonly types?: readonly string[];
  readonly stream?: string;
  readonly streamPrefix?: string;
}

export interface ScanEventsOptions extends EventFilter {
  readonly direction?: "forwards" | "backwards";
  /**
   * Forwards only: go on after this. Default: from the first there is. OUT_OF_RANGE beyond the end; COMPACTED, with `firstPosition`, when
   * what comes next was reclaimed; TRUNCATED when a crash took back what the checkpoint says, as one beyond the end of an earlier epoch,
   * or when it's of an epoch that this log never had.
   */
  readonly after?: LogCheckpoint | number;
  /** Backwards only: before this position. Default, and beyond the end: from the last. COMPACTED below the first. */
  readonly before?: number;
  /** At most so many of the events that are wanted; 0: none. */
  readonly limit?: number;
  readonly signal?: AbortSignal;
}

export interface SubscribeOptions extends EventFilter {
  /** Default: from the first event there is. `"end"`: only what comes after this call. Errors as for `scan`, when it is iterated. */
  readonly after?: LogCheckpoint | number | "end";
  readonly signal?: AbortSignal;
  /** Called each time that all there is has been delivered or left out, also when there is nothing. What it throws ends the subscription. */
  readonly onCaughtUp?: (checkpoint: LogCheckpoint) => void;
}

/**
 * Catches up, then follows: no gap, no event twice, and a bounded number of events in memory however slow the reader. Ends by
 * its signal (ABORTED), `return`, the log's close (CLOSED), a reclaim that overtakes it (COMPACTED), or an error.
 */
export interface Subscription<E extends EventShape = EventShape> extends EventStream<E> {
  /** All up to here was delivered, or left out by the filter: pass it back as `after`. */
  readonly checkpoint: LogCheckpoint;
}

/** A named place in the log that is kept by the log itself, from the first `ack` on. Names: as those of streams. */
export interface Consumer<E extends EventShape = EventShape> {
  readonly name: string;
  /** The position up to which everything was acknowledged; 0 at first. */
  committed(): Promise<number>;
  /**
   * Follows from behind the committed position, or, as long as that is 0, from the first event there is. COMPACTED when what comes next was
   * reclaimed: to go on, acknowledge `firstPosition - 1`.
   */
  tail(
    options?: EventFilter & {
      readonly signal?: AbortSignal;
      readonly onCaughtUp?: (checkpoint: LogCheckpoint) => void;
    },
  ): Subscription<E>;
  /**
   * Durably. It never moves back: an older position changes nothing. 0 makes the consumer known, so that `reclaim` waits for it. OUT_OF_RANGE
   * beyond the end. Resolves with what is committed.
   */
  ack(position: number): Promise<number>;
  /** Forgets the consumer; its name then stands at 0 again. No error when it isn't known. */
  delete(): Promise<void>;
}

export interface ConsumerInfo {
  readonly name: string;
  readonly committed: number;
  /** Positions behind the end. */
  readonly lag: number;
}

export interface StreamInfo {
  readonly stream: string;
  /** Of the last event ever appended; 0 when there was none. */
  readonly version: number;
  /** The first event that can be read; `version + 1` when there is none. */
  readonly firstVersion: number;
  readonly isDeleted: boolean;
}

/** What is kept. What any of those given keeps is kept. */
export interface ReclaimOptions {
  /** `true`: what some consumer hasn't acknowledged. Without any consumer: everything. */
  readonly acknowledged?: boolean;
  /** Events that aren't older. */
  readonly maxAgeSeconds?: number;
  /** The newest so many positions; 0: none. */
  readonly maxEvents?: number;
}

/** What a driver may do without. */
export type EventLogCapability =
  /** Ids make appends with `any` and `exists` idempotent within a window. Without: such an append with an id is UNSUPPORTED. */
  | "dedupe"
  /** `truncateStream` and `deleteStream`. Without: they reject with UNSUPPORTED. */
  | "truncation"
  /** Without: `consumer` throws UNSUPPORTED, `consumers` rejects with it. */
  | "consumers"
  /** Without: `reclaim` rejects with UNSUPPORTED. */
  | "reclaim"
  /** Without: `import` rejects with UNSUPPORTED. */
  | "import"
  /** What was appended is there after a close and an open. Without: each open starts with an empty log. */
  | "persistence";

/**
 * Streams of events, and one order over all of them. Names of streams: 1 to 1 024 bytes of well-formed Unicode; types the same. Sequences
 * are safe integers. Errors, besides those named below: INVALID_ARGUMENT, INVALID_OPTION (an unknown option, or one with a wrong
 * value) and TOO_LARGE before anything is written, CLOSED after a close, and the store's own (NO_SPACE, POISONED, CORRUPT,
 * OUTCOME_UNKNOWN, READ_ONLY).
 */
export interface EventLog<E extends EventShape = EventShape> {
  /** Raised by each writable open. */
  readonly epoch: number;
  /** The position of the last event that is durable, hidden or reclaimed since or not; 0 when there has been none. */
  readonly position: number;
  /** Before this position nothing can be read any more. 1 at first. */
  readonly firstPosition: number;

  /**
   * Appends one or more events, all or nothing, at most 16 MiB together (encoded, and with what the store puts around each: up to 1 KiB), and
   * resolves when they are durable. Appends take effect in the order of their calls. CONFLICT, with `{ stream, expected, actual, isDeleted }`,
   * when the expectation doesn't hold; `actual` is the stream's version.
   *
   * Appending again what has ids is harmless: when all its events are, in their order and with the same content (type, and data and
   * metadata as encoded), what one earlier append wrote to this stream, all of it, that append's result comes back with `isDuplicate`, whether or
   * not the expectation holds now. This goes for every append whose ids are in the dedupe window, the newest 65 536 events of the whole
   * log at least, also when the events have been truncated, deleted or reclaimed since. Beyond the window it goes for those with an exact version or
   * `none`, for ever, as long as the events can be read. An id that stands in the stream, within the window, with other content or in other company is
   * refused: ID_REUSED. The same id in another stream is another event; twice in one append it's INVALID_ARGUMENT.
   */
  append(stream: string, events: NewEvent<E> | readonly NewEvent<E>[], options?: AppendOptions): Promise<AppendResult>;
  /**
   * Fills a log that never had an event with events that bring their positions, versions, times and ids, in order of position. All of them can be read,
   * durably, when it resolves, and none before; a crash on the way leaves the log as empty as it was. Batches are asked for one at a time, each when the one before it has been taken in. Meanwhile
   * appends are LOCKED. Afterwards positions, versions and times go on behind the last ones.
   *
   * Each counts as appended by itself: it can be appended again with its id as any other, within the dedupe window. Several that were one append
   * aren't known as one any more: ID_REUSED.
   *
   * ALREADY_EXISTS, with `{ position }`, when the log ever had an event. OUT_OF_ORDER, with `{ position, before }`. ID_REUSED, with `{ stream, id, position }`, for an id that comes twice in a
   * stream within the dedupe window. INVALID_ARGUMENT for a position that comes twice, a version that isn't the stream's next, a time that falls, and what `append` refuses; TOO_LARGE.
   * What the source throws is what it rejects with. LOCKED while another import is under way; CLOSED when the log is closed meanwhile; ABORTED by its signal. OUTCOME_UNKNOWN when it was being made
   * visible as the disk failed: the next open shows all of it or nothing. Otherwise nothing of a failed import is there.
   */
  import(
    batches: AsyncIterable<readonly ImportedEvent<E>[]> | Iterable<readonly ImportedEvent<E>[]>,
    options?: ImportOptions,
  ): Promise<ImportEventsResult>;
  /** As of when it is iterated. Nothing for a stream that isn't there, or was deleted. What was truncated or reclaimed is left out. */
  readStream(stream: string, options?: ReadStreamOptions): EventStream<E>;
  streamInfo(stream: string): Promise<StreamInfo>;
  /** All events that aren't hidden, in order of position, as of when it is iterated. */
  scan(options?: ScanEventsOptions): EventStream<E>;
  subscribe(options?: SubscribeOptions): Subscription<E>;

  consumer(name: string): Consumer<E>;
  /** All that are known, in order of their names' UTF-16 code units. */
  consumers(): Promise<ConsumerInfo[]>;

  /**
   * Hides the stream's events before this version, at once and durably: no read that begins later shows them. From 1 to the stream's version
   * + 1, OUT_OF_RANGE beyond. It never moves back.
   */
  truncateStream(stream: string, beforeVersion: number): Promise<StreamInfo>;
  /**
   * Hides all its events, at once and durably. A later append brings the stream back; versions go on. CONFLICT as for `append`. A stream
   * that was never appended to, or is deleted: nothing happens.
   */
  deleteStream(stream: string, options?: AppendOptions): Promise<StreamInfo>;
  /**
   * Raises `firstPosition` to the first that is kept, durably, and resolves with it. It never falls. INVALID_ARGUMENT when nothing says what is
   * kept.
   */
  reclaim(options: ReclaimOptions): Promise<number>;

  /**
   * Calls made before are finished, subscriptions end with CLOSED. Idempotent. OUTCOME_UNKNOWN when what was acknowledged may not be there at the
   * next open, and no call was told before; it's closed then, too.
   */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}
