import type { JournalRecord } from "@ehdb/journal";
import type { EventSource } from "./event-source.ts";
import type { LoadPlan } from "./load-plan.ts";
import { Problems } from "./problems.ts";

/**
 * Holds what a log delivers against what was appended to it. Right means: sequences from 1 without a gap, each event at
 * most once and byte for byte, each writer's events in the order it appended them, groups whole.
 */
export class Comparison {
  readonly problems: Problems = new Problems();
  readonly #source: EventSource;
  readonly #plan: LoadPlan;
  /** Events by number, with their sequence. */
  readonly #seen = new Map<number, number>();
  /** Each writer's next event, by round and writer. */
  readonly #next = new Map<string, { readonly round: number; readonly writer: number; index: number }>();
  #sequence = 0;
  #lost = 0;

  constructor(source: EventSource, plan: LoadPlan) {
    this.#source = source;
    this.#plan = plan;
  }

  /** Events seen, each once, with the sequence it was seen at. */
  get seen(): ReadonlyMap<number, number> {
    return this.#seen;
  }

  /** Acknowledged events that were never seen; known after `finish`. */
  get lost(): number {
    return this.#lost;
  }

  /** The next record of the log. */
  see(record: JournalRecord): void {
    const { sequence, data } = record;
    if (sequence !== this.#sequence + 1) this.problems.add(`sequence ${sequence} comes after ${this.#sequence}`);
    this.#sequence = sequence;
    const number = this.#source.numberOf(data);
    if (number === undefined) {
      this.problems.add(`sequence ${sequence} holds ${data.length} bytes that are no event of this run`);
      return;
    }
    if (Buffer.compare(data, this.#source.bytes(number)) !== 0) {
      this.problems.add(`sequence ${sequence}: the bytes of event ${this.#source.id(number)} are not those appended`);
    }
    const before = this.#seen.get(number);
    if (before !== undefined) {
      this.problems.add(`event ${this.#source.id(number)} is there twice: at ${before} and at ${sequence}`);
      return;
    }
    this.#seen.set(number, sequence);
    this.#inOrder(number, sequence);
  }

  /** After the last record: every acknowledged event must have been seen, at the sequence that was promised. */
  finish(acknowledged: ReadonlyMap<number, number>): void {
    for (const [number, sequence] of acknowledged) {
      const at = this.#seen.get(number);
      if (at === sequence) continue;
      const id = this.#source.id(number);
      if (at === undefined) this.#lost += 1;
      const what = at === undefined ? "isn't there" : `is at ${at}`;
      this.problems.add(`event ${id}, acknowledged at sequence ${sequence}, ${what}`);
    }
    for (const { round, writer, index } of this.#next.values()) {
      if (this.#plan.wholeGroups(writer, index)) continue;
      this.problems.add(
        `round ${round}, writer ${writer}: ${index} events, so a group of ${this.#plan.groupOf(writer)} is torn`,
      );
    }
  }

  #inOrder(number: number, sequence: number): void {
    const { round, writer, index } = this.#plan.place(number);
    const key = `${round}/${writer}`;
    const next = this.#next.get(key) ?? { round, writer, index: 0 };
    if (index !== next.index) {
      this.problems.add(`sequence ${sequence}: writer ${writer} appended its event ${next.index} before ${index}`);
    }
    next.index = index + 1;
    this.#next.set(key, next);
  }
}
