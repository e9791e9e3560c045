import { isEhdbError } from "@ehdb/contracts";
import type { FeedSource } from "@ehdb/contracts";
import type { Clock } from "@ehdb/host";

/** What was read too long ago is read again: some of it may have been erased meanwhile. */
const keptMillis = 100;
const leastAtOnce = 1_024;
/** Records so near to each other are read in one go. */
const nearSequences = 16;

/** New records of a source, read a batch at a time. What nobody has taken of one is kept for a moment. */
export class ReadAhead<R> {
  readonly #source: FeedSource<R>;
  readonly #clock: Clock;
  #records: readonly R[] = [];
  /** Of the record that was looked at last. */
  #place = 0;
  /** All that lies from here on, up to the last of the records, is among them. */
  #from = 0;
  #readAt = 0;
  #epoch = 0;

  constructor(source: FeedSource<R>, clock: Clock) {
    this.#source = source;
    this.#clock = clock;
  }

  /** Forgets what is too old, or of before a recovery. */
  refresh(): void {
    if (this.#records.length === 0) return;
    if (this.#epoch === this.#source.epoch && this.#clock.monotonic() - this.#readAt <= keptMillis) return;
    this.#records = [];
    this.#place = 0;
  }

  /** The first record from a sequence on, if it's at hand. */
  next(from: number): R | undefined {
    if (from < this.#from) return undefined;
    if (this.#place > 0 && this.#sequenceAt(this.#place - 1) >= from) this.#place = 0;
    while (this.#place < this.#records.length && this.#sequenceAt(this.#place) < from) this.#place++;
    return this.#records[this.#place];
  }

  /** Reads some from a sequence on. False at the end. */
  async read(from: number, wanted: number): Promise<boolean> {
    const { epoch } = this.#source;
    let found: readonly R[] = [];
    for await (const records of this.#source.read(from, Math.max(wanted, leastAtOnce))) {
      found = records;
      break;
    }
    [this.#records, this.#place, this.#from] = [found, 0, from];
    [this.#epoch, this.#readAt] = [epoch, this.#clock.monotonic()];
    return found.length > 0;
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
