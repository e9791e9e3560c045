import { MIB } from "@ehdb/contracts";
import type { Timer } from "@ehdb/host";
import { DATA_START, MARK_RESERVE_BYTES } from "./format.ts";
import { isNoSpace, isOutOfFiles } from "./machine-error.ts";
import { assertUncut } from "./owned.ts";
import { createSegment, OPEN_BATCH_BYTES } from "./segment-writer.ts";
import type { SegmentWriter, WriteContext } from "./segment-writer.ts";

const leastAheadBytes = MIB;
const mostAheadBytes = 16 * MIB;
/**
 * Zeros made at once: about twice what was used since the last time, so that the lead grows under load, and no sync has to
 * carry a mountain of zeros that appends then wait for.
 */
const leastStepBytes = MIB / 4;
const mostStepBytes = 4 * MIB;
/** A new segment is made ready when this part of the one before is used. */
const prepareAt = 0.8;
const retryMillis = 250;

export interface SpaceHooks {
  /** There may be room for those who wait. */
  readonly roomMade: () => void;
  /** The disk failed in a way that doesn't pass. */
  readonly failed: (error: unknown) => void;
}

/**
 * The room that batches are admitted into: only what has been written as zeros, so that no admitted batch can meet a full disk.
 * Extends the segment in use and makes the next one ready, in the background. The syncs of whoever writes take the zeros along.
 */
export class Space {
  /** The segment that new batches are given room in. */
  filling: SegmentWriter;
  /** Why there is no more room, while that is so. */
  blocked: unknown;
  preallocatedBytes = 0;
  readonly #context: WriteContext;
  readonly #segmentBytes: number;
  readonly #hooks: SpaceHooks;
  #prepared: SegmentWriter | undefined;
  #nextId: number;
  /** What somebody couldn't be given yet. */
  #wanted = 0;
  /** The disk has got room since the last try began. */
  #again = false;
  #usedBefore = 0;
  #usedAtStep = 0;
  #working: Promise<void> | undefined;
  #retry: Timer | undefined;
  #retired: SegmentWriter[] = [];
  /** Why nothing more is taken from the disk, while that is so. */
  #stopped: unknown;
  #ended = false;

  constructor(context: WriteContext, segmentBytes: number, filling: SegmentWriter, nextId: number, hooks: SpaceHooks) {
    this.#context = context;
    this.#segmentBytes = segmentBytes;
    this.#hooks = hooks;
    this.#nextId = nextId;
    this.filling = filling;
  }

  /** The segment that takes a batch of `bytes`; `undefined` while there is no room, which is then being made. */
  place(bytes: number): SegmentWriter | undefined {
    const writer = this.filling;
    if (this.#fitsCapacity(writer, bytes)) {
      if (writer.admitted + bytes <= writer.zeroed - MARK_RESERVE_BYTES) {
        return writer;
      }
    } else if (this.#prepared !== undefined) {
      const next = this.#prepared;
      this.#raiseCapacity(next, bytes);
      if (next.admitted + bytes <= next.zeroed - MARK_RESERVE_BYTES) {
        this.#usedBefore += writer.admitted;
        this.filling = next;
        this.#prepared = undefined;
        this.#work();
        return next;
      }
    }
    this.#wanted = Math.max(this.#wanted, bytes);
    this.#work();
    return undefined;
  }

  /** The next batch goes into the next segment, unless this one holds nothing yet. */
  endSegment(): void {
    this.filling.capacity = this.filling.admitted;
  }

  /** The same for a mark, which may use the bytes kept for marks. */
  placeMark(bytes: number): SegmentWriter | undefined {
    const writer = this.filling;
    return writer.admitted + bytes <= Math.min(writer.zeroed, writer.capacity) ? writer : this.place(bytes);
  }

  /** The batch that was placed in `writer` turned out to take `bytes`. */
  used(writer: SegmentWriter, bytes: number): void {
    writer.admitted += bytes;
    if (this.#wantsLead(this.filling) || this.#wantsNext()) this.#work();
  }

  /** How large a batch's place may grow in this segment. */
  roomIn(writer: SegmentWriter): number {
    return Math.min(writer.zeroed, writer.capacity) - MARK_RESERVE_BYTES - writer.admitted;
  }

  /** Something was removed from the disk: try again at once. */
  tryAgain(): void {
    this.#again = true;
    this.#work();
  }

  /** From now on there is no more room than there is. Resolves when nothing is being made any more. */
  async stopGrowing(reason: unknown): Promise<void> {
    this.#stopped = reason;
    await this.#working;
  }

  growAgain(): void {
    if (this.#stopped === undefined) return;
    this.#stopped = undefined;
    this.tryAgain();
  }

  /** A full segment: its file is closed as soon as nothing works on it. */
  retire(writer: SegmentWriter): void {
    this.#retired.push(writer);
    if (this.#working === undefined) void this.#closeRetired();
  }

  /** Nothing more is started; what runs ends at its next step. */
  stop(): void {
    this.#ended = true;
    this.#retry?.cancel();
  }

  /** Waits for what runs in the background, and starts nothing more. Returns the segment that was made ready and not used. */
  async end(): Promise<SegmentWriter | undefined> {
    this.stop();
    await this.#working;
    await this.#closeRetired();
    return this.#prepared;
  }

  #fitsCapacity(writer: SegmentWriter, bytes: number): boolean {
    this.#raiseCapacity(writer, bytes);
    return writer.admitted + bytes <= writer.capacity - MARK_RESERVE_BYTES;
  }

  /** A segment that holds nothing yet becomes as large as its first write needs. */
  #raiseCapacity(writer: SegmentWriter, bytes: number): void {
    const first = DATA_START + OPEN_BATCH_BYTES;
    if (writer.admitted === first) writer.capacity = Math.max(writer.capacity, first + bytes + MARK_RESERVE_BYTES);
  }

  /** Bytes given to batches so far, in all segments. */
  get #usedBytes(): number {
    return this.#usedBefore + this.filling.admitted;
  }

  /** How far zeros should be ahead of what is used. */
  get #aheadBytes(): number {
    return Math.min(mostAheadBytes, Math.max(leastAheadBytes, this.#usedBytes));
  }

  #wantsLead(writer: SegmentWriter): boolean {
    return writer.zeroed < writer.capacity && writer.zeroed - writer.admitted <= this.#aheadBytes - leastStepBytes;
  }

  #wantsNext(): boolean {
    return (
      this.filling.admitted > this.filling.capacity * prepareAt &&
      (this.#prepared === undefined || this.#wantsLead(this.#prepared))
    );
  }

  #work(): void {
    if (this.#working !== undefined || this.#ended) return;
    this.#retry?.cancel();
    this.#retry = undefined;
    this.#working = this.#run().finally(() => {
      this.#working = undefined;
      void this.#closeRetired();
    });
  }

  async #closeRetired(): Promise<void> {
    for (const writer of this.#retired.splice(0)) {
      await writer.file.close();
    }
  }

  async #run(): Promise<void> {
    const { clock } = this.#context.host;
    await clock.yield();
    for (let isDone = true; !this.#ended && (isDone || this.#again || this.#wanted > 0);) {
      this.#again = false;
      if (this.#stopped !== undefined) {
        isDone = false;
        this.#refuse(this.#stopped);
        continue;
      }
      try {
        isDone = await this.#step();
        if (isDone || this.blocked !== undefined) this.#unblock();
      } catch (error) {
        if (!mayPass(error)) return this.#hooks.failed(error);
        // There may be room for a need where there is none for a lead.
        if (this.#wanted > 0 || this.#again) continue;
        if (!this.#ended) this.#retry = clock.timer(retryMillis, () => this.#work());
        return;
      }
    }
  }

  #unblock(): void {
    this.blocked = undefined;
    this.#hooks.roomMade();
  }

  /** Whoever waits for room is told why there is none. */
  #refuse(reason: unknown): void {
    if (this.#wanted === 0) return;
    this.#wanted = 0;
    this.blocked = reason;
    this.#hooks.roomMade();
  }

  /** Does the next thing that is due; false when nothing is. */
  async #step(): Promise<boolean> {
    if (this.#wanted > 0) {
      try {
        await this.#meetNeed(this.#wanted);
      } catch (error) {
        if (mayPass(error)) this.#refuse(error);
        else this.#wanted = 0;
        throw error;
      }
      // Whoever still waits asks again.
      this.#wanted = 0;
      return true;
    }
    if (this.#wantsLead(this.filling)) await this.#extend(this.filling, 0);
    else if (!this.#wantsNext()) return false;
    else if (this.#prepared === undefined) await this.#prepare(0);
    else await this.#extendNext(this.#prepared, 0);
    return true;
  }

  /** Sees to it that there is room for a batch of `wanted` bytes. */
  async #meetNeed(wanted: number): Promise<void> {
    const writer = this.filling;
    if (this.#fitsCapacity(writer, wanted)) {
      const needed = writer.admitted + wanted + MARK_RESERVE_BYTES;
      if (writer.zeroed < needed) await this.#extend(writer, needed);
      return;
    }
    const needed = DATA_START + OPEN_BATCH_BYTES + wanted + 2 * MARK_RESERVE_BYTES;
    if (this.#prepared === undefined) return await this.#prepare(needed);
    this.#raiseCapacity(this.#prepared, wanted);
    if (this.#prepared.zeroed < needed) await this.#extendNext(this.#prepared, needed);
  }

  /** The next piece of the lead, or as far as somebody waits for. */
  async #extend(writer: SegmentWriter, needed: number): Promise<void> {
    const used = this.#usedBytes;
    const step = Math.min(mostStepBytes, Math.max(leastStepBytes, 2 * (used - this.#usedAtStep)));
    this.#usedAtStep = used;
    const wanted = Math.max(needed, Math.min(writer.capacity, writer.zeroed + step));
    try {
      await this.#zero(writer, wanted);
    } catch (error) {
      if (!isNoSpace(error) || needed <= writer.zeroed) throw error;
      await this.#zero(writer, needed);
    }
  }

  /** The same for the segment that is being made ready, synced before it's used: a roll must not wait for its zeros. */
  async #extendNext(next: SegmentWriter, needed: number): Promise<void> {
    this.#prepared = undefined;
    try {
      await this.#extend(next, needed);
      await next.file.dataSync();
    } finally {
      this.#prepared = next;
    }
  }

  async #zero(writer: SegmentWriter, end: number): Promise<void> {
    if (end <= writer.zeroed) return;
    assertUncut(writer.path, await writer.file.size(), writer.zeroed);
    await writer.file.preallocate(writer.zeroed, end - writer.zeroed);
    this.preallocatedBytes += end - writer.zeroed;
    writer.zeroed = end;
  }

  async #prepare(needed: number): Promise<void> {
    const zeroBytes = Math.max(needed, leastStepBytes);
    const id = this.#nextId++;
    this.#prepared = await createSegment(this.#context, { id, capacity: this.#segmentBytes, zeroBytes });
    this.preallocatedBytes += zeroBytes;
  }
}

/** Nothing has been minted into what couldn't be made: it is tried again. */
const mayPass = (error: unknown): boolean => isNoSpace(error) || isOutOfFiles(error);
