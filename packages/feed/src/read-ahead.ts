import { isEhdbError } from "@ehdb/contracts";
import type { FeedSource } from "@ehdb/contracts";
import type { Clock, Timer } from "@ehdb/host";

/** What was read so long ago is read again: some of it may have been erased meanwhile, and a read holds what it reads from. */
const keptMillis = 100;
const readAtOnce = 16_384;
/** Records so near to each other are read in one go. */
const nearSequences = 16;

/** A read that is under way: its next batch is asked for before it's needed. */
interface Read<R> {
  readonly batches: AsyncIterator<readonly R[]>;
  readonly epoch: number;
  /** When it's let go. */
  timer: Timer;
  coming: Promise<IteratorResult<readonly R[]>>;
  /** Where the next batch goes on. */
  next: number;
}

/** New records of a source, read a batch at a time. What nobody has taken is kept for a moment. */
export class ReadAhead<R> {
  readonly #source: FeedSource<R>;
  readonly #clock: Clock;
  #read: Read<R> | undefined;
  #records: readonly R[] = [];
  /** Of a record near to which the next one is looked for. */
  #place = 0;
  /** All that lies from here on, up to the last of the records, is among them. */
  #from = 0;
  #isReading = false;

  constructor(source: FeedSource<R>, clock: Clock) {
    this.#source = source;
    this.#clock = clock;
  }

  /** Forgets what was read before a recovery. */
  refresh(): void {
    if (this.#read !== undefined && this.#read.epoch !== this.#source.epoch) this.#forget();
  }

  /** What is at hand; `placeOf` says from where on. */
  get records(): readonly R[] {
    return this.#records;
  }

  /** Of the first record from a sequence on: behind the last one when it isn't at hand. */
  placeOf(from: number): number {
    if (from < this.#from) return this.#records.length;
    if (this.#place > 0 && this.#sequenceAt(this.#place - 1) >= from) this.#place = 0;
    while (this.#place < this.#records.length && this.#sequenceAt(this.#place) < from) this.#place++;
    return this.#place;
  }

  /** Where the next one will probably be looked for. */
  expect(place: number): void {
    this.#place = place;
  }

  /** Whether there are so many from a sequence on at hand. */
  hasMore(from: number, count: number): boolean {
    return this.#records.length - this.placeOf(from) >= count;
  }

  /** Reads so many from a sequence on, or more, or all there are. False at the end. */
  async read(from: number, wanted: number): Promise<boolean> {
    let found: readonly R[] = [];
    this.#isReading = true;
    try {
      for (let next = from; found.length < wanted;) {
        const records = await this.#batch(next);
        if (records === undefined) break;
        next = this.#source.sequenceOf(records.at(-1) as R) + 1;
        found = found.length === 0 ? records : [...found, ...records];
      }
    } finally {
      this.#isReading = false;
    }
    [this.#records, this.#place, this.#from] = [found, 0, from];
    return found.length > 0;
  }

  /** From a sequence on; nothing at the end. */
  async #batch(from: number): Promise<readonly R[] | undefined> {
    if (this.#read?.next === from) {
      const records = await this.#nextOf(this.#read).catch(() => undefined);
      // It has come to its end, or was let go: another one tells.
      if (records !== undefined) return records;
    }
    this.#forget();
    this.#read = this.#begin(from);
    return await this.#nextOf(this.#read);
  }

  #begin(from: number): Read<R> {
    const batches = this.#source.read(from, readAtOnce)[Symbol.asyncIterator]();
    return { batches, timer: this.#timer(), epoch: this.#source.epoch, coming: batches.next(), next: from };
  }

  #timer(): Timer {
    return this.#clock.timer(keptMillis, () => {
      if (this.#isReading && this.#read !== undefined) this.#read.timer = this.#timer();
      else this.#forget();
    });
  }

  async #nextOf(read: Read<R>): Promise<readonly R[] | undefined> {
    const result = await read.coming;
    if (result.done === true) return undefined;
    read.next = this.#source.sequenceOf(result.value.at(-1) as R) + 1;
    read.coming = read.batches.next();
    // Whoever needs it meets what was wrong.
    read.coming.catch(() => undefined);
    return result.value;
  }

  #forget(): void {
    const read = this.#read;
    [this.#read, this.#records, this.#place] = [undefined, [], 0];
    read?.timer.cancel();
    void read?.batches.return?.().catch(() => undefined);
  }

  #sequenceAt(place: number): number {
    return this.#source.sequenceOf(this.#records[place] as R);
  }
}

/** Of these sequences, which rise, those records that are there still. */
export async function recordsAt<R>(source: FeedSource<R>, sequences: readonly number[]): Promise<Map<number, R>> {
  const found = new Map<number, R>();
  for (let begin = 0; begin < sequences.length;) {
    let end = begin + 1;
    while (end < sequences.length && at(sequences, end) - at(sequences, end - 1) <= nearSequences) end++;
    await readRange(source, Math.max(at(sequences, begin), source.first), at(sequences, end - 1), found);
    begin = end;
  }
  return found;
}

/** Of a range that may have gone since: what is gone isn't found. */
async function readRange<R>(source: FeedSource<R>, from: number, to: number, found: Map<number, R>): Promise<void> {
  if (from > to) return;
  try {
    for await (const records of source.read(from, to - from + 1)) {
      for (const record of records) {
        const sequence = source.sequenceOf(record);
        if (sequence > to) return;
        found.set(sequence, record);
      }
    }
  } catch (error) {
    if (!isEhdbError(error, "COMPACTED") || source.first <= from) throw error;
    await readRange(source, source.first, to, found);
  }
}

const at = (sequences: readonly number[], place: number): number => sequences[place] as number;
