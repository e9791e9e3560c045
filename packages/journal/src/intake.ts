import { EhdbError, invalidArgument, MAX_WRITE_BYTES, MIB, throwIfAborted } from "@ehdb/contracts";
import type { SequenceRange, Waiting } from "./api.ts";
import { Batch, BufferPool, diskBytes } from "./batch.ts";
import type { EngineTime } from "./engine-time.ts";
import { BATCH_ALIGNMENT, BATCH_HEADER_BYTES } from "./format.ts";
import { TAG_BYTES } from "./cipher.ts";
import { varintBytes } from "./frames.ts";
import { errnoOf, isNoSpace } from "./machine-error.ts";
import type { ResolvedOptions } from "./options.ts";
import { sizeOf } from "./record-size.ts";
import { RoomQueue } from "./room.ts";
import type { SegmentWriter } from "./segment-writer.ts";
import type { Space } from "./space.ts";

/** The size at which a batch is closed: grouping gains nothing beyond. */
export const groupBytes: number = 256 * 1024;
const batchOverheadBytes = BATCH_HEADER_BYTES + TAG_BYTES + BATCH_ALIGNMENT;
/** Memory kept between batches. */
const keptBufferBytes = 4 * MIB;
/** In one write. */
const mostRecords = 2 ** 20;
const defaultReadyBytes = 64 * 1024;

export interface IntakeStats {
  appends: number;
  appendedBytes: number;
  queueFull: number;
  noSpace: number;
}

/** A whole body that is written as it is. */
export interface MadeBatch {
  readonly flags: number;
  readonly body: Uint8Array;
  readonly records: number;
  /** Default: this incarnation's, now. */
  readonly epoch?: number;
  readonly time?: number;
}

/** What was minted for one write. */
interface Minted extends SequenceRange {
  readonly batch: Batch;
}

/** The memory between callers and disk: mints sequences, fills batches, and says no before anything is minted. */
export class Intake {
  /** The last sequence given out. */
  appended: number;
  readonly stats: IntakeStats = { appends: 0, appendedBytes: 0, queueFull: 0, noSpace: 0 };
  readonly #options: ResolvedOptions;
  readonly #space: Space;
  readonly #time: EngineTime;
  readonly #epoch: number;
  readonly #onWork: () => void;
  readonly #room: RoomQueue;
  readonly #pool: BufferPool = new BufferPool(groupBytes, keptBufferBytes);
  #open: Batch | undefined;
  /** Closed, not yet written. */
  #queue: Batch[] = [];
  #queuedBytes = 0;
  #stopped: EhdbError | undefined;

  constructor(
    options: ResolvedOptions,
    space: Space,
    time: EngineTime,
    start: { last: number; epoch: number },
    onWork: () => void,
  ) {
    this.#options = options;
    this.#space = space;
    this.#time = time;
    this.#epoch = start.epoch;
    this.#onWork = onWork;
    this.appended = start.last;
    this.#room = new RoomQueue(options.host.clock, (bytes) => this.#makeRoom(bytes));
  }

  get inFlightBytes(): number {
    return this.#queuedBytes + (this.#open?.bodyBytes ?? 0);
  }

  get hasWork(): boolean {
    return this.#open !== undefined || this.#queue.length > 0;
  }

  append(data: Uint8Array): number {
    const size = sizeOf(data);
    if (this.#open === undefined || this.#room.hasWaiters || !this.#open.add(data, size)) {
      this.#appendElsewhere(data, size);
    }
    this.stats.appends++;
    this.stats.appendedBytes += size;
    return ++this.appended;
  }

  appendAll(records: readonly Uint8Array[]): SequenceRange {
    const write = writeOf(records);
    if (this.#room.blocks(write.framedBytes) || !this.#makeRoom(write.framedBytes)) {
      throw this.#refusal(write.framedBytes);
    }
    return this.#mint(write);
  }

  /** Waits for room, then mints; the batch's `durable()` tells when it's on disk. */
  async appendWaiting(records: readonly Uint8Array[], signal: AbortSignal | undefined): Promise<Minted> {
    const write = writeOf(records);
    const { framedBytes } = write;
    throwIfAborted(signal, "waiting for room");
    if (!this.#room.blocks(framedBytes) && this.#makeRoom(framedBytes)) return this.#mint(write);
    if (this.#stopped !== undefined || this.#space.blocked !== undefined) throw this.#refusal(framedBytes);
    const copy = copyOf(write);
    return await this.#room.wait(framedBytes, () => this.#mint(copy), signal === undefined ? {} : { signal });
  }

  /** The same when there is room now, without a promise on the way; `undefined` when there isn't. */
  mintNow(data: Uint8Array): Minted | undefined {
    const size = sizeOf(data);
    const framedBytes = size + varintBytes(size);
    if (size > groupBytes || this.#room.blocks(framedBytes)) return undefined;
    return this.#makeRoom(framedBytes) ? this.#mint({ records: [data], sizes: [size], framedBytes }) : undefined;
  }

  async ready(bytes: number = defaultReadyBytes, options: Waiting = {}): Promise<void> {
    if (bytes > MAX_WRITE_BYTES) throw tooLarge(bytes);
    await this.readyFor(bytes + framingOf(bytes), options);
  }

  /** The same for bytes that are framed already: the largest write's are more than its limit. */
  async readyFor(framed: number, options: Waiting = {}): Promise<void> {
    if (this.#stopped !== undefined) throw this.#stopped;
    await this.#room.wait(
      framed,
      () => {
        if (this.#stopped !== undefined) throw this.#stopped;
        this.#room.holdTurn(framed);
      },
      options,
    );
  }

  /** A batch made elsewhere, in its place between the others: a mark, or a copy. `undefined` when there is no room. */
  insert(made: MadeBatch): Batch | undefined {
    if (this.#stopped !== undefined) throw this.#stopped;
    this.#closeOpen();
    const { body, records } = made;
    const bytes = diskBytes(body.length);
    const segment = records === 0 ? this.#space.placeMark(bytes) : this.#space.place(bytes);
    if (segment === undefined) return undefined;
    const batch = this.#newBatch(segment, body.length, made);
    batch.fill(body, records);
    // A mark may be on disk before its maker looks: it's waited for from the start, by whom it concerns.
    if (records === 0) void batch.durable().catch(() => undefined);
    this.appended += records;
    this.#open = batch;
    this.#closeOpen();
    this.#onWork();
    return batch;
  }

  /** What comes now goes into the next segment. */
  endSegment(): void {
    this.#closeOpen();
    this.#space.endSegment();
  }

  /** Sequences go on from `sequence`: what lies between doesn't exist. */
  skipTo(sequence: number): void {
    this.#closeOpen();
    this.appended = sequence - 1;
  }

  /** The batch to write next; the open one is closed when nothing is before it. */
  next(): Batch | undefined {
    if (this.#queue.length === 0) this.#closeOpen();
    return this.#queue[0];
  }

  /** The batch that `next` gave has been written. */
  wrote(): void {
    const batch = this.#queue.shift() as Batch;
    this.#queuedBytes -= diskBytes(batch.bodyBytes);
    this.#pool.give(batch.buffer);
    this.#room.serve();
  }

  /** The batch not yet written that holds `sequence`. */
  find(sequence: number): Batch | undefined {
    if (this.#open !== undefined && sequence >= this.#open.firstSequence) return this.#open;
    return this.#queue.find((batch) => batch.records > 0 && sequence >= batch.firstSequence && sequence <= batch.last);
  }

  /** There may be room, or there is none for a while: those who wait to append are told. */
  roomChanged(): void {
    if (this.#space.blocked !== undefined) this.#room.rejectAll(noSpace(this.#space.blocked));
    else this.#room.serve();
  }

  /** From now on nothing is taken in. What is in goes out. */
  stop(error: EhdbError): void {
    this.#stopped = error;
    this.#room.rejectAll(error);
    if (this.#open !== undefined && this.#open.records === 0) this.#open = undefined;
    this.#closeOpen();
  }

  /** Gives up what is in. */
  drop(outcomeUnknown: EhdbError): void {
    const batches = this.#open === undefined ? this.#queue : [...this.#queue, this.#open];
    this.#open = undefined;
    this.#queue = [];
    this.#queuedBytes = 0;
    for (const batch of batches) batch.waiter?.reject(outcomeUnknown);
  }

  #appendElsewhere(data: Uint8Array, size: number): void {
    if (size > MAX_WRITE_BYTES) throw tooLarge(size);
    const framed = size + varintBytes(size);
    if (this.#room.blocks(framed) || !this.#makeRoom(framed)) throw this.#refusal(framed);
    (this.#open as Batch).add(data, size);
  }

  /** All of a write or nothing. */
  #mint({ records, sizes, framedBytes }: Write): Minted {
    if (this.#stopped !== undefined) throw this.#stopped;
    const batch = this.#open as Batch;
    const { at, records: before } = batch;
    try {
      records.forEach((data, place) => batch.add(data, sizes[place] as number));
    } finally {
      // An array that shares its memory can still change under us.
      if (batch.records !== before + records.length) batch.takeBack(at, before);
    }
    if (batch.records === before) {
      throw new EhdbError("UNEXPECTED", `a write of ${framedBytes} bytes didn't fit the room made for it`, {});
    }
    const first = this.appended + 1;
    this.appended += records.length;
    this.stats.appends += records.length;
    this.stats.appendedBytes += sizes.reduce((sum, size) => sum + size, 0);
    return { first, last: this.appended, batch };
  }

  /** Sees to it that the open batch has room for one write of `framed` bytes. */
  #makeRoom(framed: number): boolean {
    if (this.#stopped !== undefined) return false;
    if (this.#open?.fits(framed)) return true;
    this.#closeOpen();
    const bytes = diskBytes(framed);
    const allowed = this.#options.maxInFlightBytes - this.#queuedBytes;
    if (this.#queuedBytes > 0 && bytes > allowed) return false;
    const segment = this.#space.place(bytes);
    if (segment === undefined) return false;
    const most = Math.min(groupBytes, this.#space.roomIn(segment) - batchOverheadBytes, allowed - batchOverheadBytes);
    this.#open = this.#newBatch(segment, Math.max(framed, most));
    this.#onWork();
    return true;
  }

  #newBatch(segment: SegmentWriter, bodyLimit: number, made: Partial<MadeBatch> = {}): Batch {
    const { flags = 0, epoch = this.#epoch, time = this.#time.now() } = made;
    const place = { segment, firstSequence: this.appended + 1, time, epoch, flags };
    return new Batch(place, this.#pool.take(bodyLimit), bodyLimit);
  }

  #closeOpen(): void {
    const batch = this.#open;
    if (batch === undefined) return;
    this.#open = undefined;
    if (batch.records === 0 && batch.flags === 0) return;
    const bytes = diskBytes(batch.bodyBytes);
    this.#space.used(batch.segment, bytes);
    this.#queuedBytes += bytes;
    this.#queue.push(batch);
  }

  #refusal(framed: number): EhdbError {
    if (this.#stopped !== undefined) return this.#stopped;
    if (this.#space.blocked !== undefined) {
      this.stats.noSpace++;
      return noSpace(this.#space.blocked);
    }
    this.stats.queueFull++;
    const { maxInFlightBytes } = this.#options;
    const { inFlightBytes } = this;
    const cause = this.#cause(framed);
    const message = `no room for ${framed} bytes: ${reasons[cause](inFlightBytes, maxInFlightBytes)}. Await ready(), or use appendDurable()`;
    return new EhdbError("QUEUE_FULL", message, { cause, bytes: framed, inFlightBytes, maxInFlightBytes });
  }

  /** Why a write of so many bytes has no room now. */
  #cause(framed: number): keyof typeof reasons {
    const bytes = diskBytes(framed);
    const { inFlightBytes } = this;
    if (inFlightBytes > 0 && bytes > this.#options.maxInFlightBytes - inFlightBytes) return "in-flight";
    return this.#room.hasWaiters && this.#space.roomIn(this.#space.filling) >= bytes ? "line" : "space";
  }
}

/** The causes of QUEUE_FULL, as `data.cause` names them. */
const reasons = {
  "in-flight": (bytes: number, most: number) => `${bytes} of ${most} bytes (maxInFlightBytes) wait for the disk`,
  space: () => "space for it is still being made on disk",
  line: () => "others wait in line for theirs",
} as const;

/** What the lengths of a write's records take at most: of one record, or of several that have 64 bytes or more on average. */
const framingOf = (bytes: number): number => Math.max(varintBytes(bytes), Math.ceil(bytes / 32));

/** Records as they were when the call was made: later changes to the caller's array don't count. */
interface Write {
  readonly records: readonly Uint8Array[];
  readonly sizes: readonly number[];
  /** With their lengths, as in a batch's body. */
  readonly framedBytes: number;
}

function writeOf(given: readonly Uint8Array[]): Write {
  if (!Array.isArray(given) || given.length === 0) {
    const isOne = (given as unknown) instanceof Uint8Array;
    const hint = isOne ? "One record goes into append(); or put it into an array" : "";
    throw invalidArgument("records", given, "an array of at least one Uint8Array or Buffer", hint);
  }
  const records: readonly Uint8Array[] = Array.from<Uint8Array>(given);
  if (records.length > mostRecords) {
    const message = `one write of ${records.length} records is more than the limit of ${mostRecords}. Split it`;
    throw new EhdbError("TOO_LARGE", message, { records: records.length, maxRecords: mostRecords });
  }
  const sizes = records.map(sizeOf);
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  if (bytes > MAX_WRITE_BYTES) throw tooLarge(bytes);
  return { records, sizes, framedBytes: sizes.reduce((sum, size) => sum + varintBytes(size), bytes) };
}

/** For who waits: the bytes as they are now. */
function copyOf(write: Write): Write {
  return { ...write, records: write.records.map((record) => new Uint8Array(record)) };
}

function noSpace(cause: unknown): EhdbError {
  const isDisk = isNoSpace(cause);
  const what = isDisk
    ? `the disk is full (${errnoOf(cause) ?? "it said so before"})`
    : `no file can be opened for more room (${cause instanceof Error ? cause.message : String(cause)})`;
  const remedy = isDisk
    ? "Free some space (dropBefore, retention, or other files)"
    : "Raise the limit of open files (ulimit -n), or close some";
  const message = `${what}, and nothing was appended. ${remedy}; appends then go on by themselves`;
  return new EhdbError("NO_SPACE", message, { cause: isDisk ? "disk" : "files", errno: errnoOf(cause) }, cause);
}

function tooLarge(bytes: number): EhdbError {
  const message = `one write of ${bytes} bytes is larger than the limit of ${MAX_WRITE_BYTES}. Split it, or keep the bytes elsewhere and append where they are`;
  return new EhdbError("TOO_LARGE", message, { bytes, maxBytes: MAX_WRITE_BYTES });
}
