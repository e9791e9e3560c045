import { EhdbError, isEhdbError } from "@ehdb/contracts";
import type { Host, Timer, Watcher } from "@ehdb/host";
import type { JournalReaderOptions, JournalStats, ReadOnlyJournal } from "./api.ts";
import { loadChain } from "./chain.ts";
import { directoryExists } from "./directory.ts";
import { higher } from "./format.ts";
import { LogReader } from "./log-reader.ts";
import { isAbsent } from "./machine-error.ts";
import { resolveReaderOptions } from "./options.ts";
import type { ResolvedReaderOptions } from "./options.ts";
import { loadSegment, segmentId } from "./segment.ts";
import type { Segment } from "./segment.ts";
import { scanTail } from "./tail.ts";
import type { Tail } from "./tail.ts";
import { noTotals } from "./totals.ts";

/** Looks at a directory in which files come and go; each try starts again from the listing. */
const mostTries = 16;

/**
 * Opens a journal to read it, beside a writer in this or another process. Writes nothing, takes no lock, and serves only what
 * the log itself states durable: about 50 ms behind an idle writer, one batch behind a busy one. Errors: INVALID_OPTION,
 * NOT_FOUND, CORRUPT, KEY_MISSING, WRONG_KEY, UNSUPPORTED_VERSION, IO_ERROR.
 */
export async function openJournalReader(options: JournalReaderOptions): Promise<ReadOnlyJournal> {
  const resolved = resolveReaderOptions(options);
  const { host, dir } = resolved;
  const reader = new JournalFollower(resolved);
  try {
    if (!(await directoryExists(host, dir, "dir"))) {
      const message = `there is no journal at ${dir}: no such directory. Check the path, or let a writer make it`;
      throw new EhdbError("NOT_FOUND", message, { dir });
    }
  } catch (error) {
    throw reader.noteError(error);
  }
  await reader.refresh();
  return reader;
}

export class JournalFollower extends LogReader implements ReadOnlyJournal {
  readonly #options: ResolvedReaderOptions;
  #tail: Tail | undefined;
  #looking: Promise<void> | undefined;
  #watcher: Watcher | undefined;
  #timer: Timer | undefined;
  #mustReload = false;
  #isClosed = false;

  constructor(options: ResolvedReaderOptions) {
    super(options.host, options.dir);
    this.#options = options;
  }

  get last(): number {
    return this.#tail === undefined ? 0 : Math.min(this.#tail.stated, this.#tail.last);
  }

  get whole(): number {
    return this.#tail?.last ?? 0;
  }

  get epoch(): number {
    return this.#tail?.epoch ?? 0;
  }

  get furthest(): number {
    return Infinity;
  }

  async refresh(): Promise<number> {
    this.assertOpen();
    const { last, generation } = this;
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
    try {
      await this.#looking;
    } catch (error) {
      throw this.noteError(error);
    }
    if (this.last !== last || this.generation !== generation) this.changes.announce();
    return this.last;
  }

  stats(): JournalStats {
    return {
      ...noTotals,
      ...this.readCounts,
      segments: this.segments.length,
      diskBytes: this.segments.reduce((sum, segment) => sum + segment.fileBytes, 0),
      inFlightBytes: 0,
      segmentsRemoved: 0,
      removeErrors: 0,
      reopens: 0,
    };
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#watcher?.close();
    this.#timer?.cancel();
    this.changes.announce();
    await this.#looking?.catch(() => undefined);
    await this.files.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  news(): Promise<void> {
    const news = this.changes.wait();
    this.#watcher ??= this.host.files.watch(this.#options.dir, () => void this.#poll());
    this.#arm();
    return news;
  }

  async relist(): Promise<boolean> {
    const { first, generation } = this;
    await this.#looking?.catch(() => undefined);
    this.#mustReload = true;
    await this.refresh();
    return this.first !== first || this.generation !== generation;
  }

  async catchUp(sequence: number, epoch = 0): Promise<void> {
    if (sequence > this.last || epoch > this.epoch) await this.refresh();
  }

  protected assertOpen(): void {
    if (this.#isClosed)
      throw new EhdbError("CLOSED", "the journal reader is closed. Open it again", { dir: this.#options.dir });
  }

  #arm(): void {
    this.#timer ??= this.host.clock.timer(this.#options.pollMillis, () => void this.#poll(), true);
  }

  async #poll(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = undefined;
    if (this.#isClosed || !this.changes.awaited) return;
    try {
      await this.refresh();
    } catch (error) {
      this.changes.fail(error);
    }
    if (this.changes.awaited && !this.#isClosed) this.#arm();
  }

  /**
   * Files come and go while they are looked at: where the chain of them is wrong, all of it is looked at again, and what stays wrong is wrong. What
   * one file holds has been judged by who read it.
   */
  async #look(): Promise<void> {
    let seen: string | undefined;
    for (let tries = 1; ; tries++) {
      let isReloading = false;
      try {
        isReloading = this.#mustReload || !(await this.#isGrowing());
        return await (isReloading ? this.#reload() : this.#grow());
      } catch (error) {
        const place = isReloading && isEhdbError(error, "CORRUPT") ? placeOf(error) : undefined;
        const mayPass = isAbsent(error) || (place !== undefined && place !== seen);
        if (!mayPass || tries === mostTries) throw error;
        seen = place;
        await this.host.clock.yield();
      }
    }
  }

  /** The newest segment is still the newest, and still itself. */
  async #isGrowing(): Promise<boolean> {
    const newest = this.segments.at(-1);
    if (newest === undefined) return false;
    const names = await this.host.files.list(this.#options.dir);
    for (const id of names.flatMap((name) => segmentId(name) ?? []).filter((one) => one >= newest.id)) {
      const found = await loadSegment(this.#context, id);
      const isSame = found.state === "started" && Buffer.from(found.segment.salt).equals(newest.salt);
      if (id === newest.id ? !isSame : found.state === "started") return false;
      if (found.state === "started") newest.fileBytes = found.bytes;
    }
    return true;
  }

  async #grow(): Promise<void> {
    const newest = this.segments.at(-1) as Segment;
    this.#take(await scanTail(this.host, newest, newest.fileBytes, this.#tail));
  }

  async #reload(): Promise<void> {
    const { last, epoch } = this;
    const chain = await loadChain(this.#context);
    const known = new Map(this.segments.map((segment) => [segment.id, segment]));
    const segments = chain.segments.map((segment) => {
      const before = known.get(segment.id);
      // Its index is worth keeping.
      if (segment === chain.segments.at(-1) || !before?.salt.every((byte, at) => byte === segment.salt[at]))
        return segment;
      [before.end, before.last, before.lastCrc, before.fileBytes] = [
        segment.end,
        segment.last,
        segment.lastCrc,
        segment.fileBytes,
      ];
      return before;
    });
    const isNew =
      segments.length !== this.segments.length || segments.some((segment, place) => segment !== this.segments[place]);
    this.segments.splice(0, this.segments.length, ...segments);
    this.lowWater = chain.lowWater;
    this.#tail = chain.tail;
    this.#mustReload = false;
    if (isNew) this.generation++;
    if (this.last < last) this.cuts.add(epoch, this.last);
  }

  #take(found: Tail): void {
    this.#tail = found;
    this.lowWater = higher(this.lowWater, found.lowWater);
  }

  get #context(): { host: Host; dir: string; encryption: ResolvedReaderOptions["encryption"]; indexStride: number } {
    return this.#options;
  }
}

/** What else a damage says changes while the log grows. */
const placeOf = ({ data }: EhdbError): string => `${String(data["file"])}:${String(data["offset"])}`;
