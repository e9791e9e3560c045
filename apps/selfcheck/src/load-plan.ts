/** Rounds have numbers of their own, so that no event of one is taken for another's. */
const ROUND_EVENTS = 2 ** 32;
const WRITERS = 8;
const GROUP_WRITERS = 2;
const GROUP_EVENTS = 10;
const GROUP_BYTES = 8 * 1024 * 1024;

/** Where an event stands: the `index`-th of a writer in a round. */
export interface Place {
  readonly round: number;
  readonly writer: number;
  readonly index: number;
}

/**
 * Who appends what: each of the writers has every eighth event of a round, in order, and waits for one append before the
 * next. The last two append in groups that are kept or lost together. Known to whoever checks, in any process.
 */
export class LoadPlan {
  readonly writers: number = WRITERS;
  readonly groupEvents: number;
  readonly #events: number;

  /** `events` a round, without end when infinite; `maxEventBytes` so that a group stays below the largest write. */
  constructor(events: number, maxEventBytes: number) {
    this.#events = events;
    this.groupEvents = Math.max(1, Math.min(GROUP_EVENTS, Math.floor(GROUP_BYTES / maxEventBytes)));
  }

  /** How many events one writer has in a round. */
  count(writer: number): number {
    return this.#events === Infinity ? Infinity : Math.max(0, Math.ceil((this.#events - writer) / WRITERS));
  }

  groupOf(writer: number): number {
    return writer >= WRITERS - GROUP_WRITERS ? this.groupEvents : 1;
  }

  /** The numbers of a writer's `turn`-th append; none when it has done. */
  numbers(round: number, writer: number, turn: number): number[] {
    const group = this.groupOf(writer);
    const first = turn * group;
    const length = Math.max(0, Math.min(group, this.count(writer) - first));
    return Array.from({ length }, (_, i) => round * ROUND_EVENTS + (first + i) * WRITERS + writer);
  }

  place(number: number): Place {
    const local = number % ROUND_EVENTS;
    return { round: Math.floor(number / ROUND_EVENTS), writer: local % WRITERS, index: Math.floor(local / WRITERS) };
  }

  /** Whether so many events of a writer are whole groups. */
  wholeGroups(writer: number, events: number): boolean {
    return events % this.groupOf(writer) === 0 || events === this.count(writer);
  }
}
