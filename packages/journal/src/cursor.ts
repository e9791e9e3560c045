import { EhdbError } from "@ehdb/contracts";
import type { File } from "@ehdb/host";
import type { JournalRecord } from "./api.ts";
import { decodeRecords } from "./body.ts";
import { corrupt } from "./damage.ts";
import type { Segment } from "./segment.ts";
import { openingOf } from "./tail.ts";
import { BatchWalker } from "./walker.ts";
import type { RawBatch } from "./walker.ts";
import type { LogView } from "./log-view.ts";
import { isAbsent } from "./machine-error.ts";

/** Reads a log forwards, a batch at a time, across segments. Holds one chunk and one batch in memory. */
export class LogCursor {
  readonly #view: LogView;
  #next: number;
  #epoch: number;
  #generation: number;
  #segment: Segment | undefined;
  #file: File | undefined;
  #walker: BatchWalker | undefined;
  #limit = 0;
  /** Read ahead of what may be shown. */
  #pending: RawBatch | undefined;

  constructor(view: LogView, next: number) {
    this.#view = view;
    this.#next = next;
    this.#epoch = view.epoch;
    this.#generation = view.generation;
  }

  /** The next batch's records up to `to`; `undefined` when there is none. */
  async read(to: number): Promise<readonly JournalRecord[] | undefined> {
    for (;;) {
      const { generation } = this.#view;
      try {
        return await this.#read(to);
      } catch (error) {
        if (this.#next < this.#view.first) throw compacted(this.#next, this.#view.first);
        // What was being read was replaced meanwhile: its place is found again.
        if (generation !== this.#view.generation) continue;
        if (!isAbsent(error) || !(await this.#view.relist())) throw error;
      }
    }
  }

  async #read(to: number): Promise<readonly JournalRecord[] | undefined> {
    for (;;) {
      await this.#continue();
      if (this.#next > to) return undefined;
      const batch = this.#pending ?? (await this.#nextBatch());
      this.#pending = undefined;
      if (batch === undefined) return undefined;
      const { header } = batch;
      if (header.records === 0) {
        this.#next = Math.max(this.#next, this.#walker?.sequence ?? 0);
        continue;
      }
      if (header.firstSequence > to) {
        this.#pending = batch;
        return undefined;
      }
      const end = header.firstSequence + header.records;
      if (end <= this.#next) continue;
      const segment = this.#segment as Segment;
      const records = await decodeRecords(this.#view.host, segment, batch);
      if (this.#generation !== this.#view.generation) continue;
      const from = Math.max(0, this.#next - header.firstSequence);
      const until = Math.min(records.length, to + 1 - header.firstSequence);
      this.#next = header.firstSequence + until;
      return from === 0 && until === records.length ? records : records.slice(from, until);
    }
  }

  async close(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    this.#walker = undefined;
    this.#segment = undefined;
    this.#pending = undefined;
    await file?.close();
  }

  /** After a reopen, or when segments were replaced, finds its place again. */
  async #continue(): Promise<void> {
    const { generation, epoch } = this.#view;
    this.#view.assertContinues(this.#next - 1, this.#epoch);
    if (generation === this.#generation) return;
    await this.close();
    this.#generation = generation;
    this.#epoch = epoch;
  }

  async #nextBatch(): Promise<RawBatch | undefined> {
    for (;;) {
      const walker = this.#walker ?? (await this.#openSegment());
      if (walker === undefined) return undefined;
      const segment = this.#segment as Segment;
      const batch = await walker.next();
      if (batch !== undefined) return batch;
      if (this.#generation !== this.#view.generation) return undefined;
      if (this.#limit < segment.end) {
        this.#limit = segment.end;
        walker.extend(segment.end);
        continue;
      }
      if (walker.offset < segment.end) throw damagedBatch(segment, walker);
      if (this.#successor(segment) === undefined) return undefined;
      this.#next = Math.max(this.#next, walker.sequence ?? segment.last + 1);
      await this.close();
    }
  }

  #successor(segment: Segment): Segment | undefined {
    return this.#view.segments.find((one) => one.id > segment.id);
  }

  async #openSegment(): Promise<BatchWalker | undefined> {
    const view = this.#view;
    if (this.#next < view.first) throw compacted(this.#next, view.first);
    const segment = locate(view.segments, this.#next);
    if (segment === undefined) return undefined;
    const expected = this.#next <= segment.first ? openingOf(segment) : await startIn(view, segment, this.#next);
    const file = await view.host.files.open(segment.path, "read");
    this.#file = file;
    this.#segment = segment;
    this.#limit = segment.end;
    this.#walker = new BatchWalker(file, segment.seed, expected, segment.end, { readsAhead: true });
    return this.#walker;
  }
}

/** One record, through the sparse index. */
export async function readRecord(view: LogView, sequence: number): Promise<JournalRecord> {
  for (;;) {
    const { generation } = view;
    const segment = locate(view.segments, sequence);
    if (segment === undefined) throw lost(sequence);
    try {
      return await readIn(view, segment, sequence);
    } catch (error) {
      if (sequence < view.first) throw compacted(sequence, view.first);
      if (generation !== view.generation) continue;
      if (!isAbsent(error) || !(await view.relist())) throw error;
    }
  }
}

/** The epoch of a record; 0 when it can't be told. */
export async function epochOf(view: LogView, sequence: number): Promise<number> {
  const segment = locate(view.segments, sequence);
  if (segment === undefined) return 0;
  try {
    return (await findBatch(view, segment, sequence)).header.epoch;
  } catch {
    // Lost, damaged, or not readable just now: there is nothing to compare with.
    return 0;
  }
}

async function readIn(view: LogView, segment: Segment, sequence: number): Promise<JournalRecord> {
  const batch = await findBatch(view, segment, sequence);
  return (await decodeRecords(view.host, segment, batch))[sequence - batch.header.firstSequence] as JournalRecord;
}

/** The batch that holds `sequence`. */
async function findBatch(view: LogView, segment: Segment, sequence: number): Promise<RawBatch> {
  const expected = await startIn(view, segment, sequence);
  return await view.files.use(segment, async (file) => {
    const walker = new BatchWalker(file, segment.seed, expected, segment.end, { chunkBytes: pointChunkBytes });
    for (;;) {
      const batch = await walker.next();
      if (batch === undefined) {
        if (walker.offset < segment.end) throw damagedBatch(segment, walker);
        throw lost(sequence);
      }
      const { firstSequence, records } = batch.header;
      if (sequence < firstSequence) throw lost(sequence);
      if (sequence < firstSequence + records) return batch;
      if ((walker.sequence as number) > sequence) throw lost(sequence);
    }
  });
}

const pointChunkBytes = 128 * 1024;

/** The segment that holds `sequence`, or would. */
export function locate(segments: readonly Segment[], sequence: number): Segment | undefined {
  let low = 0;
  let high = segments.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((segments[middle] as Segment).first <= sequence) low = middle + 1;
    else high = middle;
  }
  return segments[Math.max(0, low - 1)];
}

/** Where to start walking for `sequence`: the anchor before it. Builds the segment's index when it has none. */
async function startIn(
  view: LogView,
  segment: Segment,
  sequence: number,
): Promise<{ offset: number; sequence?: number }> {
  if (!segment.index.complete) await buildIndex(view, segment);
  return segment.index.floor(sequence) ?? openingOf(segment);
}

const building = new WeakMap<Segment, Promise<void>>();

async function buildIndex(view: LogView, segment: Segment): Promise<void> {
  const running = building.get(segment);
  if (running !== undefined) return await running;
  const work = view.files.use(segment, async (file) => {
    const walker = new BatchWalker(file, segment.seed, openingOf(segment), segment.end, { readsAhead: true });
    for (let batch = await walker.next(); batch !== undefined; batch = await walker.next()) {
      if (batch.header.records > 0) segment.index.add(batch.header.firstSequence, batch.offset);
    }
    // What can't be read isn't indexed; whoever asks for it meets the damage where it is.
    segment.index.complete = true;
  });
  building.set(segment, work);
  try {
    await work;
  } finally {
    building.delete(segment);
  }
}

function damagedBatch(segment: Segment, walker: BatchWalker): EhdbError {
  const reason = "the batch there is not whole, or not the one that belongs there";
  return corrupt({
    file: segment.path,
    offset: walker.offset,
    first: walker.sequence ?? segment.first,
    last: segment.last,
    reason,
  });
}

export function compacted(sequence: number, first: number): EhdbError {
  const message = `sequence ${sequence} was dropped; the first that can be read is ${first}. Start from there`;
  return new EhdbError("COMPACTED", message, { sequence, first });
}

function lost(sequence: number): EhdbError {
  const message = `sequence ${sequence} was lost before this journal was salvaged; its neighbours are here`;
  return new EhdbError("SEQUENCE_LOST", message, { sequence });
}
