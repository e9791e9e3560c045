import type { Batches } from "./engine.ts";

/**
 * What a feed reads: records in one order, each with a subject and a key, that are appended behind the last one and may go from
 * the front. An event log is one, and so is a log dataset of an engine.
 */
export interface FeedSource<R> {
  /** Raised by each writable open. */
  readonly epoch: number;
  /** The first sequence that can be read: from 1. There need not be anything at it. */
  readonly first: number;
  /** The sequence of the last record that is durable; 0 when there has been none. */
  readonly last: number;
  /** The records from a sequence on, in order, as of now: at most `limit` of them. COMPACTED below `first`. */
  read(from: number, limit: number, signal?: AbortSignal): Batches<R>;
  /** Of a record. Sequences are whole numbers from 1, rising, and not always dense. */
  sequenceOf(record: R): number;
  /** What filters look at: tokens with dots between them. */
  subjectOf(record: R): string;
  /** Records of one key can be kept in their order. */
  keyOf(record: R): string;
  /** Milliseconds since 1970; never falls from one record to the next. */
  timeOf(record: R): number;
  /** Resolves when there is more than `last`, when the signal is aborted, or when the source is closed. */
  news(last: number, signal: AbortSignal): Promise<void>;
  /** Rejects with TRUNCATED when a crash took back what was at `sequence` in `epoch`, or another copy took the source's place. OUT_OF_RANGE beyond the end. */
  assertContinues(sequence: number, epoch: number): Promise<void>;
}

/**
 * Where a group begins, or is moved to: `"first"` is the first record there is, `"end"` what comes after the call is made. A sequence is that of the first record that
 * is wanted: OUT_OF_RANGE beyond the one behind the last, COMPACTED below the source's first. A time, in milliseconds since 1970, means the first
 * record of that time or later; behind the last record's it's `"end"`. With `clamp` what lies out of range is the nearest place there is.
 */
export type FeedStart =
  | "first"
  | "end"
  | { readonly sequence: number; readonly clamp?: boolean }
  | { readonly time: number };

/** What a group is like. All but `start` can be changed later, with `update`. */
export interface GroupOptions {
  /** Default `"first"`. */
  readonly start?: FeedStart;
  /**
   * Only records whose subject one of these matches; default all. A pattern is tokens with dots between them; `*` stands for any one token, `>` at the end
   * for one or more. At least one is given, each of at most 1 024 bytes.
   */
  readonly subjects?: readonly string[];
  /** How long a member has a message to itself, unless a fetch says otherwise: 0.001 to 86 400. Default 30. */
  readonly leaseSeconds?: number;
  /**
   * A message that was delivered so often, and not acknowledged, is parked when that delivery ends: 1 to 1 000, or Infinity: never. Default 5. After a change what
   * waits is delivered once more at least.
   */
  readonly maxDeliver?: number;
  /**
   * New messages are delivered only while fewer than so many are in flight or wait, and those that wait while fewer are in flight; over all members, 1 to 1 000 000. Default
   * 100 000. What is replayed comes on top.
   */
  readonly maxInFlight?: number;
  /**
   * `"none"` (default): a message that isn't acknowledged holds nobody up. `"key"`: it holds up those of its key, so that they are processed in their order, one at a
   * time: the earliest that isn't done goes next, also when it was replayed while a later one waits. One that waits for its delay holds them up, one that is parked doesn't.
   */
  readonly order?: "none" | "key";
}

export interface GroupInfo {
  readonly group: string;
  readonly subjects: readonly string[] | undefined;
  readonly leaseSeconds: number;
  readonly maxDeliver: number;
  readonly maxInFlight: number;
  readonly order: "none" | "key";
  readonly isPaused: boolean;
  /** Everything up to this sequence was acknowledged or parked, is gone from the source, or isn't wanted. It never moves back, but by `seek`: what is replayed may lie below it. */
  readonly committed: number;
  /** Everything up to this sequence was delivered, waits for that, or isn't wanted. */
  readonly delivered: number;
  /** Messages under a lease. */
  readonly inFlight: number;
  /** Messages that wait: to be delivered again, at once or after a delay; or, in order of keys, behind another one. */
  readonly waiting: number;
  /** Sequences that weren't looked at yet, and messages in flight or waiting: never below 0. */
  readonly lag: number;
  /** Messages in the parking lot. */
  readonly parked: number;
}

export interface FetchOptions {
  /** Who asks: 1 to 1 024 bytes of well-formed Unicode. A member is known as long as it holds a lease. */
  readonly member: string;
  /** At most so many messages: 1 to 65 536. Default 2 000. */
  readonly limit?: number;
  /** Default: the group's. */
  readonly leaseSeconds?: number;
  /** Waits so long for a first message: 0 to 86 400. Default 0: what there is now, which may be nothing. */
  readonly waitSeconds?: number;
  /** Ends the wait with ABORTED. */
  readonly signal?: AbortSignal;
}

/**
 * A delivery: one message, lent to one member. It ends when it is acknowledged, given back, parked or delivered again, when the group is moved or deleted, and when its member leaves. From
 * then on each of its calls is LEASE_LOST, but an `ack` of what it has acknowledged. A lease that is over doesn't end it as long as nobody else got the message, unless
 * it was the last of `maxDeliver`: then the message is parked at that time, by the host's clock.
 *
 * Each of its properties may be a getter, which a spread leaves out.
 */
export interface FeedMessage<R> {
  readonly record: R;
  readonly sequence: number;
  readonly subject: string;
  readonly key: string;
  /** Of the record. */
  readonly time: number;
  /** How often the message was delivered, this time included: from 1. */
  readonly deliveries: number;
  /** When its lease is over, in milliseconds since 1970 by the host's clock. */
  readonly leasedUntil: number;
  /** The message is done with, durably when it resolves. One that rejected may be called again. */
  ack(): Promise<void>;
  /** Gives it back: it's delivered again at once, or after so many seconds: 0 to 86 400. After `maxDeliver` deliveries it's parked, with the reason. */
  nack(options?: { readonly delaySeconds?: number; readonly reason?: string }): Promise<void>;
  /** Makes the lease last so long from now: 0.001 to 86 400, default the group's. Resolves with when it's over then. LEASE_LOST, too, when another of its key is out by now. */
  extend(leaseSeconds?: number): Promise<number>;
  /** Puts it into the parking lot now. A reason has at most 1 024 bytes. */
  park(reason: string): Promise<void>;
}

export interface ParkedMessage<R> {
  /** `undefined` when it's gone from the source. */
  readonly record: R | undefined;
  readonly sequence: number;
  readonly deliveries: number;
  readonly reason: string;
  /** When it was parked, in milliseconds since 1970: when its last lease was over, if it was for that. */
  readonly parkedAt: number;
}

/** Members that share the messages of a feed: each goes to one of them, until one has acknowledged it. */
export interface ConsumerGroup<R> {
  readonly name: string;
  /**
   * Lends messages to a member: those that wait to be delivered again first, in order of sequence, then new ones. Nothing when the group is paused or has `maxInFlight` out. What is
   * fetched is delivered at least once: again when its lease is over, its member leaves, or a crash took back that it was acknowledged. What is gone from the
   * source by then is done with; what was erased there within the last 100 ms may still come.
   */
  fetch(options: FetchOptions): Promise<readonly FeedMessage<R>[]>;
  /**
   * Acknowledges several deliveries of this group in one step. LEASE_LOST, with the first that is lost as `sequence`: nothing was acknowledged then. INVALID_ARGUMENT for what
   * isn't a message of this group.
   */
  ack(messages: readonly FeedMessage<R>[]): Promise<void>;
  info(): Promise<GroupInfo>;
  /** Changes what is given; the rest stays. */
  update(options: Omit<GroupOptions, "start">): Promise<GroupInfo>;
  /**
   * Ends all deliveries, and goes on from another place: resolves with its sequence. What is parked stays, and isn't delivered by going over it; what was replayed and isn't done
   * waits again. Of both goes what lies beyond the source's end, as after a restore.
   */
  seek(to: FeedStart): Promise<number>;
  /** Nothing is delivered until `resume`; what is out may be acknowledged. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /**
   * A member says goodbye: its deliveries end, and their messages are delivered to others at once, however often they were delivered. Resolves with how many messages that were: those
   * whose lease is over, and that nobody else got, are among them.
   */
  leave(member: string): Promise<number>;
  /** The parking lot, in order of sequence: at most `limit` (default 2 000) behind `after`. */
  parked(options?: { readonly after?: number; readonly limit?: number }): Promise<readonly ParkedMessage<R>[]>;
  /** Delivers parked messages again, with their deliveries counted from 0: these, or all. Resolves with how many. NOT_FOUND, with `sequence`, for one that isn't parked. */
  replay(sequences?: readonly number[]): Promise<number>;
  /** Gives parked messages up: these, or all. Resolves with how many. NOT_FOUND as for `replay`. */
  discard(sequences?: readonly number[]): Promise<number>;
}

/** What a driver of feeds may do without. */
export type FeedCapability =
  /** Groups are there after a close and an open. Without: each open starts without groups. */
  "persistence";

/**
 * A change feed: what a source says, for who reads it by himself, and for groups. Names of groups: 1 to 1 024 bytes of well-formed Unicode. All
 * time is the host's. Errors, besides those named: INVALID_ARGUMENT, INVALID_OPTION before anything is done, NOT_FOUND for a group that there
 * isn't, CLOSED after a close, COMPACTED when the source has dropped what a group hasn't seen, TRUNCATED, with `{ group, sequence, last }`, when what it had seen isn't in the
 * source: a crash took it back, or an older copy took its place (`seek` moves the group, and until then each fetch says so); and the store's own. A call that rejects with an error
 * of the store is in force nevertheless, and is written with the next one, unless it says otherwise.
 */
export interface Feed<R> {
  readonly source: FeedSource<R>;
  /** ALREADY_EXISTS when there is one of this name. */
  createGroup(name: string, options?: GroupOptions): Promise<ConsumerGroup<R>>;
  /** NOT_FOUND when there is none: a group is made on purpose only. */
  group(name: string): Promise<ConsumerGroup<R>>;
  /** All groups, in order of their names' UTF-16 code units. */
  groups(): Promise<readonly GroupInfo[]>;
  /**
   * Forgets a group: its place, its deliveries, its parking lot. CONFLICT, with `{ inFlight, waiting, parked }`, while there are any of these, unless `pending` is
   * `"drop"`.
   */
  deleteGroup(name: string, options?: { readonly pending?: "refuse" | "drop" }): Promise<void>;
  /** Records behind a sequence (default: from the first), of these subjects, as of now. */
  read(options?: {
    readonly after?: number;
    readonly subjects?: readonly string[];
    readonly limit?: number;
    readonly signal?: AbortSignal;
  }): Batches<R>;
  /** Calls that were made before are finished; fetches that wait end with CLOSED. The source stays open. Idempotent. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}
