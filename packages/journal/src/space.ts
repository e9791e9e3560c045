import type { Timer } from "@ehdb/host";
import { DATA_START, MARK_RESERVE_BYTES } from "./format.ts";
import { isNoSpace } from "./machine-error.ts";
import { createSegment, OPEN_BATCH_BYTES } from "./segment-writer.ts";
import type { SegmentWriter } from "./segment-writer.ts";
import type { LoadContext } from "./segment.ts";

const mib = 1024 * 1024;
const leastAheadBytes = mib;
const mostAheadBytes = 16 * mib;
/** A new segment is made ready when this part of the one before is used. */
const prepareAt = 0.8;
const retryMillis = 250;

export interface SpaceHooks {
  /** Syncs what has been written to the segment, zeros included. */
  readonly sync: (writer: SegmentWriter) => Promise<void>;
  /** There may be room for those who wait. */
  readonly roomMade: () => void;
  /** The disk failed in a way that isn't lack of space. */
  readonly failed: (error: unknown) => void;
}

/**
 * The room that batches are admitted into: only what has been written as zeros and synced, so that no admitted batch can meet
 * a full disk. Extends the segment in use and makes the next one ready, in the background.
 */
export class Space {
  /** The segment that new batches are given room in. */
  filling: SegmentWriter;
  /** Why there is no more room, while that is so. */
  blocked: unknown;
  preallocatedBytes = 0;
  readonly #context: LoadContext;
  readonly #segmentBytes: number;
  readonly #hooks: SpaceHooks;
  #prepared: SegmentWriter | undefined;
  #nextId: number;
  /** What somebody couldn't be given yet. */
  #wanted = 0;
  #working: Promise<void> | undefined;
  #retry: Timer | undefined;
  #retired: SegmentWriter[] = [];
  #ended = false;

  constructor(context: LoadContext, segmentBytes: number, filling: SegmentWriter, nextId: number, hooks: SpaceHooks) {
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
      if (writer.admitted + bytes <= writer.allocated - MARK_RESERVE_BYTES) {
        if (this.#isLow()) this.#work();
        return writer;
      }
    } else if (this.#prepared !== undefined) {
      const next = this.#prepared;
      this.#raiseCapacity(next, bytes);
      if (next.admitted + bytes <= next.allocated - MARK_RESERVE_BYTES) {
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

  /** The same for a mark, which may use the bytes kept for marks. */
  placeMark(bytes: number): SegmentWriter | undefined {
    const writer = this.filling;
    return writer.admitted + bytes <= Math.min(writer.allocated, writer.capacity) ? writer : this.place(bytes);
  }

  /** How large a batch's place may grow in this segment. */
  roomIn(writer: SegmentWriter): number {
    return Math.min(writer.allocated, writer.capacity) - MARK_RESERVE_BYTES - writer.admitted;
  }

  /** Something was removed from the disk: try again at once. */
  tryAgain(): void {
    if (this.blocked !== undefined) this.#work();
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

  #ahead(writer: SegmentWriter): number {
    return Math.min(mostAheadBytes, Math.max(leastAheadBytes, writer.admitted));
  }

  #isLow(): boolean {
    const writer = this.filling;
    const more = writer.zeroed < writer.capacity && writer.zeroed - writer.admitted < this.#ahead(writer) / 2;
    return more || (this.#prepared === undefined && writer.admitted > writer.capacity * prepareAt);
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
      await writer.syncing;
      await writer.file.close();
    }
  }

  async #run(): Promise<void> {
    await this.#context.host.clock.yield();
    try {
      while (!this.#ended && (await this.#step())) {
        this.blocked = undefined;
        this.#hooks.roomMade();
      }
    } catch (error) {
      if (!isNoSpace(error)) {
        this.#hooks.failed(error);
        return;
      }
      this.blocked = error;
      this.#hooks.roomMade();
      if (!this.#ended) this.#retry = this.#context.host.clock.timer(retryMillis, () => this.#work());
    }
  }

  /** Does the next thing that is due; false when nothing is. */
  async #step(): Promise<boolean> {
    const writer = this.filling;
    const wanted = this.#wanted;
    const needed = Math.min(writer.capacity, writer.admitted + wanted + MARK_RESERVE_BYTES);
    const fits = wanted === 0 || this.#fitsCapacity(writer, wanted);
    if (fits && wanted > 0 && writer.allocated < needed) {
      await this.#extend(writer, needed, Math.min(writer.capacity, Math.max(needed, writer.admitted + this.#ahead(writer))));
      this.#wanted = 0;
      return true;
    }
    if (!fits || (this.#prepared === undefined && writer.admitted > writer.capacity * prepareAt)) {
      const least = DATA_START + OPEN_BATCH_BYTES + wanted + 2 * MARK_RESERVE_BYTES;
      if (this.#prepared === undefined) {
        this.#prepared = await this.#create(Math.max(least, Math.min(this.#segmentBytes, leastAheadBytes)));
        this.#wanted = 0;
        return true;
      }
      this.#raiseCapacity(this.#prepared, wanted);
      if (this.#prepared.allocated < least) {
        await this.#extend(this.#prepared, least, least);
        this.#wanted = 0;
        return true;
      }
    }
    this.#wanted = 0;
    if (writer.zeroed < writer.capacity && writer.zeroed - writer.admitted < this.#ahead(writer) / 2) {
      await this.#extend(writer, writer.zeroed, Math.min(writer.capacity, writer.admitted + this.#ahead(writer)));
      return true;
    }
    return false;
  }

  async #extend(writer: SegmentWriter, least: number, wanted: number): Promise<void> {
    const zeroTo = async (end: number): Promise<void> => {
      if (end <= writer.zeroed) return;
      await writer.file.preallocate(writer.zeroed, end - writer.zeroed);
      this.preallocatedBytes += end - writer.zeroed;
      writer.zeroed = end;
    };
    try {
      await zeroTo(wanted);
    } catch (error) {
      if (!isNoSpace(error) || least <= writer.zeroed) throw error;
      await zeroTo(least);
    }
    // The sync of whoever writes covers the zeros too: give way to it first.
    while (writer.allocated < writer.zeroed && !this.#ended) {
      if (writer.syncing === undefined) await this.#hooks.sync(writer);
      else await writer.syncing;
      await this.#context.host.clock.yield();
    }
  }

  async #create(zeroBytes: number): Promise<SegmentWriter> {
    const id = this.#nextId++;
    const writer = await createSegment(this.#context, { id, capacity: this.#segmentBytes, zeroBytes });
    this.preallocatedBytes += zeroBytes;
    return writer;
  }
}
