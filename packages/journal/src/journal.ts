import { EhdbError } from "@ehdb/contracts";
import type {
  CloseReport,
  Cursors,
  DropReport,
  Durability,
  Journal,
  JournalOptions,
  JournalStats,
  RecoveryReport,
  SequenceRange,
  Waiting,
} from "./api.ts";
import { checkBytes, checkOptions, checkSequence } from "./arguments.ts";
import { makeDirectory } from "./directory.ts";
import { epochOf } from "./cursor.ts";
import type { LowWater } from "./format.ts";
import { heldHost } from "./held-host.ts";
import { lockDirectory } from "./lock.ts";
import type { DirectoryLock } from "./lock.ts";
import { LogReader } from "./log-reader.ts";
import { isAbsent, machineError } from "./machine-error.ts";
import { resolveDurability, resolveOptions } from "./options.ts";
import type { ResolvedOptions } from "./options.ts";
import { recover } from "./recovery.ts";
import type { Recovered } from "./recovery.ts";
import { assertUntouched } from "./owned.ts";
import { keepReserve } from "./reserve.ts";
import { retainedFrom } from "./retention.ts";
import type { Segment } from "./segment.ts";
import { noTotals, withWriter } from "./totals.ts";
import type { WriterTotals } from "./totals.ts";
import { checkWaiting, inTime, within } from "./waiting.ts";
import { Writer } from "./writer.ts";

/**
 * Opens a journal for appending and reading, recovering it first, and locks its directory. Errors: INVALID_OPTION, LOCKED,
 * CORRUPT, KEY_MISSING, WRONG_KEY, UNSUPPORTED_VERSION, IO_ERROR, and NO_SPACE when a new journal has no room; on all of them
 * nothing that was stored is changed.
 */
export async function openJournal(options: JournalOptions): Promise<Journal> {
  return await openWith(resolveOptions(options));
}

export async function openWith(options: ResolvedOptions): Promise<OpenJournal> {
  const { dir } = options;
  let lock: DirectoryLock | undefined;
  let recovered: Recovered | undefined;
  try {
    await makeDirectory(options.host, dir, "dir");
    lock = await lockDirectory(options.host, dir, options.lockTimeoutMillis);
    const host = heldHost(options.host, lock.assertHeld);
    recovered = await recover({ ...options, host });
    const journal = new OpenJournal({ ...options, host }, lock, recovered);
    await journal.tidy(recovered);
    return journal;
  } catch (error) {
    await recovered?.writer?.file.close();
    await lock?.release();
    throw machineError(error, "opening the journal", dir);
  }
}

const noOptions: { readonly signal?: AbortSignal } = {};

/** A journal that is open for appending. The writing is a `Writer`'s, one an incarnation; here it meets the readers. */
export class OpenJournal extends LogReader implements Journal {
  recovery!: RecoveryReport;
  readonly #options: ResolvedOptions;
  readonly #lock: DirectoryLock;
  #writer: Writer | undefined;
  #durability: Durability;
  #epoch = 0;
  /** The end of what a read-only open can show. */
  #fixedLast = 0;
  /** The furthest that readers were shown in this incarnation. */
  #shown = 0;
  #past: WriterTotals = noTotals;
  /** The first sequences that somebody holds. */
  readonly #holds: Set<{ readonly first: number }> = new Set();
  /** Why the journal takes no more of the disk, while that is so. */
  #growthStopped: EhdbError | undefined;
  #counts = { reopens: 0, segmentsRemoved: 0, removeErrors: 0 };
  /** Drops and reopens run one after another. */
  #serial: Promise<unknown> = Promise.resolve();
  #reopening: Promise<RecoveryReport> | undefined;
  #closing: Promise<CloseReport> | undefined;

  constructor(options: ResolvedOptions, lock: DirectoryLock, recovered: Recovered) {
    super(options.host, options.dir);
    this.#options = options;
    this.#lock = lock;
    lock.onLost = (error) => this.#writer?.lost(error);
    this.#durability = options.durability;
    this.#begin(recovered);
  }

  get state(): Journal["state"] {
    if (this.#closing !== undefined) return "closed";
    if (this.#writer === undefined) return "read-only";
    if (this.#writer.poison !== undefined) return "poisoned";
    return this.#writer.space.blocked === undefined ? "open" : "no-space";
  }

  get epoch(): number {
    return this.#epoch;
  }

  get durability(): Durability {
    return this.#durability;
  }

  get last(): number {
    const pump = this.#writer?.pump;
    if (pump === undefined) return this.#fixedLast;
    if (this.#writer?.poison !== undefined) return pump.durable;
    this.#shown = Math.max(this.#shown, this.#durability === "sync" ? pump.durable : pump.written);
    return this.#shown;
  }

  /** On a full disk what lies beyond the stated end is there, and hidden for a while. */
  get furthest(): number {
    return this.#writer === undefined ? Infinity : this.#writer.intake.appended;
  }

  get cursors(): Cursors {
    const writer = this.#writer;
    if (writer === undefined) return { appended: this.#fixedLast, written: this.#fixedLast, durable: this.#fixedLast };
    const { written, durable } = writer.pump;
    return { appended: writer.intake.appended, written, durable };
  }

  /** The writer, for what is built on journals inside this package. */
  get writer(): Writer {
    return this.#writer ?? this.#refuse();
  }

  append(data: Uint8Array): number {
    return (this.#writer ?? this.#refuse()).intake.append(data);
  }

  appendAll(records: readonly Uint8Array[]): SequenceRange {
    const { first, last } = this.writer.intake.appendAll(records);
    return { first, last };
  }

  async appendDurable(data: Uint8Array, options: { readonly signal?: AbortSignal } = noOptions): Promise<number> {
    if (options !== noOptions) checkOptions(options, ["signal"]);
    const writer = this.writer;
    const minted = options.signal?.aborted ? undefined : writer.intake.mintNow(data);
    if (minted === undefined) return (await this.appendAllDurable([data], options)).last;
    if (this.#durability === "async") writer.pump.wantSync(minted.last);
    await minted.batch.durable();
    return minted.last;
  }

  async appendAllDurable(
    records: readonly Uint8Array[],
    options: { readonly signal?: AbortSignal } = {},
  ): Promise<SequenceRange> {
    checkOptions(options, ["signal"]);
    const writer = this.writer;
    const { first, last } = await writer.intake.appendWaiting(records, options.signal);
    await writer.pump.whenDurable(last);
    return { first, last };
  }

  async durable(sequence: number): Promise<void> {
    checkSequence("sequence", sequence, 0);
    const { appended, durable } = this.cursors;
    if (sequence <= durable) return;
    if (sequence > appended) throw notGivenOut(sequence, appended);
    await this.writer.pump.whenDurable(sequence);
  }

  async readable(sequence: number): Promise<void> {
    checkSequence("sequence", sequence, 0);
    const writer = this.#writer;
    while (sequence > this.last) {
      this.assertOpen();
      if (this.#writer !== writer || writer?.poison !== undefined) throw outcomeUnknown(sequence, this.last);
      const { appended } = this.cursors;
      if (sequence > appended) throw notGivenOut(sequence, appended);
      await this.news();
    }
  }

  async flush(options: Waiting = {}): Promise<number> {
    checkWaiting(options);
    const writer = this.writer;
    this.assertOpen();
    if (writer.poison !== undefined) throw writer.poison;
    const { appended } = writer.intake;
    writer.pump.wantSync(appended);
    await within(this.host.clock, writer.pump.whenDurable(appended), "flush()", "FLUSH_TIMEOUT", options);
    return writer.pump.durable;
  }

  async ready(bytes?: number, options: Waiting = {}): Promise<void> {
    if (bytes !== undefined) checkBytes("bytes", bytes);
    checkWaiting(options);
    await this.writer.intake.ready(bytes, options);
  }

  setDurability(durability: Durability): void {
    this.#durability = resolveDurability(durability);
    this.#writer?.pump.setDurability(durability);
    this.changes.announce();
  }

  async dropBefore(sequence: number): Promise<DropReport> {
    checkSequence("sequence", sequence, 1);
    return await this.#oneByOne(() => this.#drop(sequence));
  }

  hold(sequence: number): () => void {
    checkSequence("sequence", sequence, 1);
    this.assertOpen();
    const hold = { first: sequence };
    this.#holds.add(hold);
    return () => void this.#holds.delete(hold);
  }

  /** For whoever knows what the records were that aren't here any more. */
  async dropBelow(lowWater: LowWater): Promise<DropReport> {
    return await this.#oneByOne(() => this.#drop(lowWater.sequence, lowWater.epoch));
  }

  async stopGrowing(reason: EhdbError): Promise<void> {
    this.#growthStopped = reason;
    await this.#writer?.space.stopGrowing(reason);
  }

  growAgain(): void {
    this.#growthStopped = undefined;
    this.#writer?.space.growAgain();
  }

  async roll(): Promise<void> {
    await this.#oneByOne(async () => {
      const { writer } = this;
      this.assertOpen();
      if (writer.poison !== undefined) throw writer.poison;
      await writer.roll(this.lowWater);
    });
  }

  async applyRetention(): Promise<DropReport> {
    return await this.#oneByOne(() => {
      const keep = retainedFrom(this.segments, this.first, this.#options.retention, this.host.clock.now());
      return this.#drop(Math.min(keep, this.cursors.durable + 1));
    });
  }

  async reopen(): Promise<RecoveryReport> {
    this.assertOpen();
    if (this.#writer !== undefined && this.#writer.poison === undefined) return this.recovery;
    this.#reopening ??= this.#oneByOne(() => this.#reopen()).finally(() => {
      this.#reopening = undefined;
    });
    return await this.#reopening;
  }

  async close(options: { readonly timeoutMillis?: number } = {}): Promise<CloseReport> {
    checkWaiting(options, ["timeoutMillis"]);
    this.#closing ??= this.#close(options);
    return await this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const wasPoisoned = this.state === "poisoned";
    const { reason } = await this.close();
    if (reason !== undefined && !wasPoisoned) throw reason;
  }

  stats(): JournalStats {
    const current = this.#writer?.pump.current;
    return {
      ...withWriter(this.#past, this.#writer),
      ...this.readCounts,
      ...this.#counts,
      segments: this.segments.length,
      diskBytes: this.segments.reduce((sum, one) => sum + (one.id === current?.id ? current.zeroed : one.fileBytes), 0),
      inFlightBytes: this.#writer?.intake.inFlightBytes ?? 0,
    };
  }

  news(): Promise<void> {
    return this.changes.wait();
  }

  /** This process is the one that removes files, and knows what it removed. */
  async relist(): Promise<boolean> {
    return false;
  }

  protected assertOpen(): void {
    if (this.#closing !== undefined) throw this.#closed();
  }

  /** The writer knows at once what can be read. */
  async catchUp(): Promise<void> {}

  /** Removes what recovery found void, and sees to the reserve. */
  async tidy(recovered: Recovered): Promise<void> {
    for (const path of recovered.voidFiles) await this.#remove(path);
    if (recovered.writer !== undefined) await keepReserve(this.host, this.dir, this.#options.reserveBytes);
  }

  /** Takes over what a recovery found. */
  #begin(recovered: Recovered): void {
    const { segments, writer, epoch, last, lowWater, report } = recovered;
    this.segments.splice(0, this.segments.length, ...segments);
    this.recovery = report;
    this.#epoch = epoch;
    this.lowWater = lowWater;
    this.#fixedLast = last;
    this.#shown = 0;
    if (writer === undefined) {
      this.#writer = undefined;
      return;
    }
    this.#writer = new Writer({ ...this.#options, durability: this.#durability }, recovered, writer, {
      started: (segment) => this.#started(segment),
      advanced: () => this.changes.announce(),
      assertUntouched: (writers) => assertUntouched(this.host, [this.#lock, ...writers]),
      poisoned: () => this.changes.announce(),
    });
    if (this.#growthStopped !== undefined) void this.#writer.space.stopGrowing(this.#growthStopped);
  }

  #started(segment: Segment): void {
    this.segments.push(segment);
    if (Object.keys(this.#options.retention).length === 0) return;
    // What retention can't do now, for want of space or because the disk failed, the next roll or open does.
    void this.applyRetention().catch(() => undefined);
  }

  async #drop(wanted: number, knownEpoch?: number): Promise<DropReport> {
    let sequence = wanted;
    for (const { first } of this.#holds) sequence = Math.min(sequence, first);
    const writer = this.writer;
    this.assertOpen();
    if (writer.poison !== undefined) throw writer.poison;
    const { durable } = writer.pump;
    if (sequence > durable + 1) {
      const message = `dropBefore(${sequence}) would drop what isn't durable yet: it takes at most ${durable + 1}`;
      throw new EhdbError("OUT_OF_RANGE", message, { sequence, durable });
    }
    if (sequence > this.lowWater.sequence) {
      const lowWater = { sequence, epoch: knownEpoch ?? (await epochOf(this, sequence - 1)) };
      await writer.markLowWater(lowWater);
      this.lowWater = lowWater;
    }
    let bytesRemoved = 0;
    const gone = this.segments.filter(
      (segment, place) => segment.last < this.lowWater.sequence && place < this.segments.length - 1,
    );
    this.segments.splice(0, gone.length);
    for (const segment of gone) {
      bytesRemoved += segment.fileBytes;
      this.#counts.segmentsRemoved++;
      await this.files.forget(segment.path);
      await this.#remove(segment.path);
    }
    if (gone.length > 0) writer.space.tryAgain();
    return { first: this.first, segmentsRemoved: gone.length, bytesRemoved };
  }

  async #reopen(): Promise<RecoveryReport> {
    this.assertOpen();
    const before = this.#writer;
    await before?.dispose(false);
    let recovered: Recovered;
    try {
      // Without its lock it may not be ours any more.
      await this.#lock.assertHeld();
      recovered = await recover(this.#options);
    } catch (error) {
      throw machineError(error, "reopen()", this.dir);
    }
    this.#past = withWriter(this.#past, before);
    this.#counts.reopens++;
    // A log that can only be read for now shows less, and has lost nothing.
    if (recovered.writer !== undefined) this.cuts.add(this.#epoch, recovered.last);
    this.#begin(recovered);
    this.generation++;
    this.changes.announce();
    for (const path of recovered.voidFiles) await this.files.forget(path);
    try {
      await this.tidy(recovered);
    } catch (error) {
      throw machineError(error, "keeping the reserve", this.dir);
    }
    return this.recovery;
  }

  async #close(options: { readonly timeoutMillis?: number }): Promise<CloseReport> {
    // Tails end and waiting callers are told before anything is waited for.
    this.changes.announce();
    this.#writer?.intake.stop(this.#closed());
    let state: CloseReport["state"] = "clean";
    let reason: EhdbError | undefined;
    try {
      const finished = this.#serial.then(() => this.#writer?.finish(this.#closed()));
      if (!(await inTime(this.host.clock, finished, options.timeoutMillis))) state = "timed out";
    } catch (error) {
      state = "partially durable";
      const { appended, durable } = this.cursors;
      if (durable < appended || this.#writer?.isLost === true) reason = notClean(error, this.cursors);
    }
    const { cursors } = this;
    if (state !== "clean") this.#abandon();
    const letGo = this.#letGo();
    if (state === "timed out") void letGo.catch(() => undefined);
    else await letGo;
    return { state, cursors, ...(reason && { reason }) };
  }

  #abandon(): void {
    const message = "the journal was closed before these appends were known to be on disk. Open it again, and look";
    this.#writer?.abandon(this.#closed(), new EhdbError("OUTCOME_UNKNOWN", message, { ...this.cursors }));
  }

  /** The directory is somebody else's only once no write of ours can reach it any more. */
  async #letGo(): Promise<void> {
    await this.#serial;
    await this.#writer?.dispose(true);
    await this.files.close();
    await this.#lock.release();
  }

  async #remove(path: string): Promise<void> {
    try {
      await this.host.files.remove(path);
    } catch (error) {
      if (!isAbsent(error)) this.#counts.removeErrors++;
    }
  }

  #oneByOne<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#serial.then(work);
    this.#serial = result.catch(() => undefined);
    return result;
  }

  #closed(): EhdbError {
    return new EhdbError("CLOSED", "the journal is closed. Open it again", { dir: this.dir });
  }

  #refuse(): never {
    this.assertOpen();
    const message =
      "the disk was full when the journal was opened, so it can only be read. Free some space, then call reopen()";
    throw new EhdbError("READ_ONLY", message, { dir: this.dir });
  }
}

function notGivenOut(sequence: number, appended: number): EhdbError {
  const message = `sequence ${sequence} hasn't been given out: the last one appended is ${appended}`;
  return new EhdbError("OUT_OF_RANGE", message, { sequence, appended });
}

function notClean(cause: unknown, cursors: Cursors): EhdbError {
  const why = cause instanceof Error ? cause.message : String(cause);
  const message = `the close couldn't see to it that the next open finds all that was appended (${why}). Open it again, and look`;
  return new EhdbError("OUTCOME_UNKNOWN", message, { ...cursors }, cause);
}

function outcomeUnknown(sequence: number, last: number): EhdbError {
  const message = `the disk failed while sequence ${sequence} was on its way: it may be there or not. Call reopen(), then look`;
  return new EhdbError("OUTCOME_UNKNOWN", message, { sequence, last });
}
