import type { GroupContents } from "./group-contents.ts";
import type { ReadAhead } from "./read-ahead.ts";

/** A record that is wanted, and wasn't delivered yet. */
interface New<R> {
  readonly record: R;
  readonly sequence: number;
  /** Of a group in order of keys. */
  readonly key: string | undefined;
}

/** Finds new records that can be lent, without changing anything. */
export class LookAhead<R> {
  readonly fresh: New<R>[] = [];
  /** Where a group is that has seen all of that. */
  next: number;
  readonly #contents: GroupContents<R>;
  readonly #ahead: ReadAhead<R>;
  readonly #limit: number;
  readonly #keys = new Set<string>();
  #deliverable = 0;
  #isEnd = false;

  constructor(contents: GroupContents<R>, ahead: ReadAhead<R>, limit: number) {
    this.#contents = contents;
    this.#ahead = ahead;
    this.#limit = limit;
    this.next = contents.next;
  }

  /** Looks at what is at hand. False when more must be read. */
  go(): boolean {
    const { source } = this.#contents.context;
    const { records } = this.#ahead;
    let place = this.#ahead.placeOf(this.next);
    for (; place < records.length && this.#hasRoom; place++) {
      const record = records[place] as R;
      const sequence = source.sequenceOf(record);
      if (this.#isWanted(record, sequence)) this.#add(record, sequence);
      this.next = sequence + 1;
    }
    this.#ahead.expect(place);
    return this.#isEnd || !this.#hasRoom;
  }

  async read(): Promise<void> {
    const { last } = this.#contents.context.source;
    if (await this.#ahead.read(this.next, this.#limit - this.#deliverable)) return;
    // What isn't there any more at the end was seen, too.
    this.next = Math.max(this.next, last + 1);
    this.#isEnd = true;
  }

  get #hasRoom(): boolean {
    const { isPaused, pending, settings } = this.#contents;
    return !isPaused && this.#deliverable < this.#limit && pending.size + this.fresh.length < settings.maxInFlight;
  }

  #add(record: R, sequence: number): void {
    const { pending, isInOrder, context } = this.#contents;
    const key = isInOrder ? context.source.keyOf(record) : undefined;
    this.fresh.push({ record, sequence, key });
    if (key === undefined) this.#deliverable++;
    else if (!pending.isBehindAnother(key) && !this.#keys.has(key)) {
      this.#keys.add(key);
      this.#deliverable++;
    }
  }

  /** What is parked, is pending or was acknowledged by a commit isn't delivered by going over it. */
  #isWanted(record: R, sequence: number): boolean {
    const { lot, pending, records, wants, context } = this.#contents;
    if (lot.size > 0 && lot.get(sequence) !== undefined) return false;
    if (pending.replayed.size > 0 && pending.replayed.has(sequence)) return false;
    if (records.doneAhead.size > 0 && records.doneAhead.has(sequence)) return false;
    return wants === undefined || wants(context.source.subjectOf(record));
  }
}
