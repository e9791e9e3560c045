import type { Clock, Timer } from "@ehdb/host";
import type { Durability } from "./api.ts";
import type { Batch } from "./batch.ts";
import { deflateBody } from "./deflate.ts";
import type { Deferred } from "./deferred.ts";
import type { EngineTime } from "./engine-time.ts";
import { BATCH_HEADER_BYTES, flag, raisedBy, readU64 } from "./format.ts";
import type { LowWater } from "./format.ts";
import type { Intake } from "./intake.ts";
import type { ResolvedOptions } from "./options.ts";
import type { Segment } from "./segment.ts";
import { MARK_BYTES } from "./segment-writer.ts";
import type { BatchFields, SegmentWriter } from "./segment-writer.ts";
import { SyncWaiters } from "./sync-waiters.ts";

/** Copied to the page cache in one turn of the loop; a larger batch goes out in asynchronous slices. */
const turnBytes = 1024 * 1024;
/** Written at most between two syncs. */
const cycleBytes = 8 * 1024 * 1024;
const idleMarkMillis = 50;
/** While something is written, it's looked so often whether the files are still where they were. */
const lookMillis = 1000;
/** Smaller bodies aren't worth a thread's time. */
const leastCompressedBytes = 256;

export interface PumpHooks {
  /** A segment was started: it is part of the log. */
  readonly started: (segment: Segment, before: SegmentWriter) => void;
  /** Throws when one of these files isn't what it was: somebody else was at the directory. */
  readonly assertUntouched: (writers: readonly SegmentWriter[]) => Promise<void>;
  /** `written` or `durable` has grown. */
  readonly advanced: () => void;
  readonly failed: (error: unknown, what: string) => void;
  /** The files aren't where they were, as far as can be seen. */
  readonly lost: (error: unknown) => void;
}

export interface PumpState {
  readonly current: SegmentWriter;
  readonly last: number;
  readonly epoch: number;
  readonly lowWater: LowWater;
}

/**
 * Moves batches to disk: write, sync, and while the sync runs the next batches fill. Nothing is written to a segment while
 * its sync runs, and a segment is synced before the next one gets a batch.
 */
export class Pump {
  durability: Durability;
  written: number;
  durable: number;
  /** What the next segment's preamble says. */
  lowWater: LowWater;
  readonly stats = { batches: 0, syncs: 0, marks: 0, rolls: 0 };
  readonly #options: ResolvedOptions;
  readonly #clock: Clock;
  readonly #time: EngineTime;
  readonly #epoch: number;
  readonly #hooks: PumpHooks;
  readonly #waiters = new SyncWaiters();
  #markWaiters: Deferred<void>[] = [];
  #intake!: Intake;
  #current: SegmentWriter;
  /** The highest durable sequence that the log states. */
  #stated: number;
  /** So many batches must be stated synced, for a mark among them that means something to be missed when it rots. */
  #owed = 0;
  #unsyncedRecords = 0;
  #unsyncedBytes = 0;
  /** A sync is wanted up to here, whatever the mode. */
  #wanted = 0;
  #rollWaits = false;
  #batchDue = false;
  #batchTimer: Timer | undefined;
  #markTimer: Timer | undefined;
  #lastWrite = 0;
  #lastLook: number;
  #scheduled = false;
  #running: Promise<void> | undefined;
  /** Why nothing is written any more. */
  #stopReason: unknown;

  constructor(options: ResolvedOptions, time: EngineTime, state: PumpState, hooks: PumpHooks) {
    this.#options = options;
    this.#clock = options.host.clock;
    this.#time = time;
    this.#epoch = state.epoch;
    this.#hooks = hooks;
    this.#current = state.current;
    this.#lastLook = this.#clock.monotonic();
    this.durability = options.durability;
    this.written = state.last;
    this.durable = state.last;
    this.lowWater = state.lowWater;
    this.#stated = state.last;
  }

  get current(): SegmentWriter {
    return this.#current;
  }

  attach(intake: Intake): void {
    this.#intake = intake;
  }

  /** There is something to do: look after what is running now and its microtasks, so that they share a batch. */
  schedule(): void {
    if (this.#scheduled || this.#running !== undefined || this.#stopReason !== undefined) return;
    this.#scheduled = true;
    this.#clock.defer(() => {
      this.#scheduled = false;
      if (this.#running !== undefined || this.#stopReason !== undefined) return;
      this.#running = this.#run();
    });
  }

  /** Resolves when `sequence`, already written or in the intake, is on disk. */
  async whenDurable(sequence: number): Promise<void> {
    if (sequence <= this.durable) return;
    if (this.#stopReason !== undefined) throw this.#stopReason as Error;
    if (this.durability === "async") this.wantSync(sequence);
    const batch = this.#intake.find(sequence);
    await (batch === undefined ? this.#waiters.wait(sequence) : batch.durable());
  }

  /** Brings about a sync of everything up to `sequence`, in any mode. */
  wantSync(sequence: number): void {
    if (sequence <= this.#wanted) return;
    this.#wanted = sequence;
    this.schedule();
  }

  setDurability(durability: Durability): void {
    // Whoever waits for what was appended so far was promised a sync.
    if (durability === "async" && this.durability !== "async") this.wantSync(this.#intake.appended);
    this.durability = durability;
    if (durability === "batch" && this.written > this.durable) this.#armBatchTimer();
    this.schedule();
  }

  /** Nothing more is written. Whoever waits is told `outcomeUnknown`. */
  stop(outcomeUnknown: unknown): void {
    this.#stopReason = outcomeUnknown;
    this.#cancelBatchTimer();
    this.#markTimer?.cancel();
    this.#waiters.rejectAll(outcomeUnknown);
    for (const mark of this.#markWaiters.splice(0)) mark.reject(outcomeUnknown);
  }

  /** Resolves when no write and no sync is under way. */
  async quiet(): Promise<void> {
    while (this.#scheduled || this.#running !== undefined) await (this.#running ?? this.#clock.yield());
  }

  /** The last words of a clean close: everything is durable, and nothing follows. */
  async sayClean(): Promise<void> {
    await this.quiet();
    const writer = this.#current;
    if (this.#stopReason !== undefined) return;
    if (!(await this.#isUntouched(writer))) return;
    // The CLEAN mark states every batch before it durable: one that is missing then has rotted.
    if (writer.position > writer.synced) await this.#sync();
    if (this.#stopReason !== undefined) return;
    if (writer.position + MARK_BYTES <= Math.min(writer.zeroed, writer.capacity))
      this.#writeMark(flag.mark | flag.clean);
    await this.#sync();
  }

  async #run(): Promise<void> {
    try {
      for (;;) {
        await this.#writePhase();
        if (this.#stopReason !== undefined) return;
        if (this.#syncDue()) await this.#sync();
        else if (!this.#intake.hasWork) break;
        if (this.#stopReason !== undefined) return;
      }
      this.#settleDown();
    } catch (error) {
      this.#hooks.failed(error, "a write");
    } finally {
      this.#running = undefined;
    }
  }

  /** What has been written becomes durable. A failure is reported, and this never retries. */
  async #sync(): Promise<void> {
    const writer = this.#current;
    const { position, batches, writtenLast } = writer;
    const marks = this.#markWaiters.splice(0);
    this.#cancelBatchTimer();
    this.#unsyncedBytes = 0;
    this.#unsyncedRecords = 0;
    try {
      if (this.#options.blockingSync) writer.file.dataSyncBlocking();
      else await writer.file.dataSync();
    } catch (error) {
      this.#markWaiters.push(...marks);
      this.#hooks.failed(error, "a sync");
      return;
    }
    if (this.#stopReason !== undefined) {
      for (const mark of marks) mark.reject(this.#stopReason);
      return;
    }
    this.stats.syncs++;
    writer.synced = position;
    writer.syncedBatches = batches;
    if (writtenLast > this.durable) {
      this.durable = writtenLast;
      this.#waiters.settle(writtenLast);
      this.#hooks.advanced();
    }
    for (const mark of marks) mark.resolve();
    // A loop of appends goes on in microtasks: without a turn of the loop nothing else would ever run.
    if (this.#options.blockingSync) await this.#clock.yield();
  }

  async #writePhase(): Promise<void> {
    let turn = 0;
    let cycle = 0;
    if (this.#clock.monotonic() - this.#lastLook >= lookMillis && !(await this.#isUntouched(this.#current))) return;
    for (let batch = this.#intake.next(); batch !== undefined; batch = this.#intake.next()) {
      if (batch.segment !== this.#current) {
        this.#rollWaits = this.#current.position > this.#current.synced;
        if (this.#rollWaits || !(await this.#isUntouched(this.#current, batch.segment))) return;
        await this.#roll(batch.segment);
      }
      if (this.#stopReason !== undefined) return;
      const bytes = await this.#write(batch);
      if (this.#stopReason !== undefined) return;
      turn += bytes;
      cycle += bytes;
      if (cycle >= cycleBytes && this.durability !== "async") return;
      if (this.durability === "batch" && this.#syncDue()) return;
      if (turn >= turnBytes) {
        turn = 0;
        await this.#clock.yield();
        if (this.#stopReason !== undefined) return;
      }
    }
  }

  async #write(batch: Batch): Promise<number> {
    const writer = this.#current;
    let plainBytes = batch.bodyBytes;
    let flags = batch.flags;
    if (this.#options.compression === "deflate" && batch.records > 0 && plainBytes >= leastCompressedBytes) {
      const body = batch.buffer.subarray(BATCH_HEADER_BYTES, BATCH_HEADER_BYTES + plainBytes);
      const packed = await this.#options.host.workers.run(deflateBody, body);
      if (this.#stopReason !== undefined) return 0;
      if (packed.length < plainBytes) {
        batch.buffer.set(packed, BATCH_HEADER_BYTES);
        plainBytes = packed.length;
        flags |= flag.compressed;
      }
    }
    const { records, firstSequence, epoch, time } = batch;
    const fields: BatchFields = { records, firstSequence, durable: this.durable, epoch, time, flags };
    const bytes = writer.seal(batch.buffer, plainBytes, fields);
    if (bytes.length <= turnBytes) writer.file.writeAtSync(bytes, writer.position);
    else await writeSlices(writer, bytes);
    if (this.#stopReason !== undefined) return 0;
    this.lowWater = raisedBy(this.lowWater, { flags }, batch.buffer.subarray(BATCH_HEADER_BYTES));
    const gapEnd = (flags & flag.gap) === 0 ? undefined : readU64(batch.buffer, BATCH_HEADER_BYTES);
    this.#wrote(writer, bytes.length, fields, gapEnd);
    if (records > 0) {
      this.written = batch.last;
      this.#unsyncedBytes += bytes.length;
      this.#unsyncedRecords += records;
      if (this.durability === "batch") this.#armBatchTimer();
      if (batch.waiter !== undefined) this.#waiters.push(batch.last, batch.waiter);
    } else {
      if (gapEnd !== undefined) this.written = gapEnd - 1;
      this.#markWaiters.push(...(batch.waiter === undefined ? [] : [batch.waiter]));
    }
    // In the same turn: whoever asks for the batch from now on finds it written, and waits for the sync.
    this.#intake.wrote();
    if (records > 0) this.#hooks.advanced();
    return bytes.length;
  }

  #wrote(writer: SegmentWriter, bytes: number, fields: BatchFields, next?: number): void {
    writer.wrote(bytes, fields, next);
    this.stats.batches++;
    this.#stated = fields.durable;
    if ((fields.flags & (flag.lowWater | flag.gap)) !== 0) this.#owed = writer.batches;
    else if (writer.syncedBatches >= this.#owed) this.#owed = 0;
    this.#lastWrite = this.#clock.monotonic();
  }

  /** Looks whether what was acknowledged is still where the next open looks for it. */
  async #isUntouched(...writers: readonly SegmentWriter[]): Promise<boolean> {
    this.#lastLook = this.#clock.monotonic();
    try {
      await this.#hooks.assertUntouched(writers);
    } catch (error) {
      this.#hooks.lost(error);
    }
    return this.#stopReason === undefined;
  }

  /** Starts the next segment. The one before is synced to its last byte. */
  async #roll(next: SegmentWriter): Promise<void> {
    const before = this.#current;
    const preamble = {
      firstSequence: before.nextSequence,
      predecessorId: before.id,
      predecessorLast: before.nextSequence - 1,
      predecessorEnd: before.position,
      predecessorCrc: before.lastCrc,
      lowWater: this.lowWater,
    };
    const bytes = next.open(
      preamble,
      { durable: this.durable, epoch: this.#epoch, time: this.#time.now() },
      this.#options.indexStride,
    );
    next.file.writeAtSync(bytes, next.position);
    next.position += bytes.length;
    this.#current = next;
    this.#stated = this.durable;
    this.#owed = 0;
    this.stats.rolls++;
    (before.segment as Segment).fileBytes = before.zeroed;
    this.#hooks.started(next.segment as Segment, before);
  }

  #syncDue(): boolean {
    if (this.#markWaiters.length > 0 || this.#rollWaits) {
      this.#rollWaits = false;
      return true;
    }
    if (this.written === this.durable) return false;
    if (this.durability === "sync" || this.#wanted > this.durable) return true;
    if (this.durability === "async") return false;
    const { batchBytes, batchRecords } = this.#options;
    return this.#batchDue || this.#unsyncedBytes >= batchBytes || this.#unsyncedRecords >= batchRecords;
  }

  #armBatchTimer(): void {
    if (this.#batchTimer !== undefined || this.#batchDue) return;
    const due = (): void => {
      this.#batchTimer = undefined;
      this.#batchDue = true;
      this.schedule();
    };
    // Timers come up to a millisecond late, and the promise is "within".
    this.#batchTimer = this.#clock.timer(Math.max(1, this.#options.batchMillis - 1), due, true);
  }

  #cancelBatchTimer(): void {
    this.#batchTimer?.cancel();
    this.#batchTimer = undefined;
    this.#batchDue = false;
  }

  /** Nothing waits: rooms are what was really used, and soon a mark says what is durable. */
  #settleDown(): void {
    const writer = this.#current;
    writer.admitted = writer.position;
    if (this.#owesMark && this.#markTimer === undefined) this.#armMarkTimer(idleMarkMillis);
  }

  /** Something is durable that no batch states. */
  get #owesMark(): boolean {
    return this.#stated < this.durable || this.#owed > 0;
  }

  #armMarkTimer(millis: number): void {
    this.#markTimer = this.#clock.timer(millis, () => {
      this.#markTimer = undefined;
      this.#markIdle();
    });
  }

  /** States what is durable, without a sync of its own. */
  #markIdle(): void {
    const writer = this.#current;
    if (this.#stopReason !== undefined || this.#running !== undefined || !this.#owesMark) return;
    const idle = this.#clock.monotonic() - this.#lastWrite;
    if (this.#intake.hasWork || idle < idleMarkMillis) {
      this.#armMarkTimer(idleMarkMillis);
      return;
    }
    if (writer.position + MARK_BYTES > Math.min(writer.zeroed, writer.capacity)) return;
    try {
      this.#writeMark(flag.mark);
    } catch (error) {
      this.#hooks.failed(error, "writing a durable mark");
    }
  }

  #writeMark(flags: number): void {
    const writer = this.#current;
    const fields = {
      records: 0,
      firstSequence: writer.nextSequence,
      durable: this.durable,
      epoch: this.#epoch,
      time: this.#time.now(),
      flags,
    };
    const bytes = writer.seal(Buffer.alloc(MARK_BYTES), 0, fields);
    writer.file.writeAtSync(bytes, writer.position);
    this.#wrote(writer, bytes.length, fields);
    writer.admitted = Math.max(writer.admitted, writer.position);
    this.stats.marks++;
  }
}

async function writeSlices(writer: SegmentWriter, bytes: Buffer): Promise<void> {
  for (let at = 0; at < bytes.length; at += turnBytes) {
    await writer.file.write(bytes.subarray(at, at + turnBytes), writer.position + at);
  }
}
