import type { Problems } from "../problems.ts";
import type { EventPlace } from "./event-content.ts";

/** Holds events that are read, one after the other, against those that must come. One that is missing is one problem. */
export class ExpectedOrder {
  readonly #expected: readonly EventPlace[];
  readonly #problems: Problems;
  #next = 0;
  #seen = 0;

  constructor(expected: readonly EventPlace[], problems: Problems) {
    this.#expected = expected;
    this.#problems = problems;
  }

  get seen(): number {
    return this.#seen;
  }

  see(event: EventPlace): void {
    this.#seen += 1;
    const { position } = event;
    if (this.#expected[this.#next]?.position !== position && !this.#skipTo(position)) return;
    const wanted = this.#expected[this.#next] as EventPlace;
    this.#next += 1;
    for (const field of ["id", "stream", "type", "version"] as const) {
      if (event[field] === wanted[field]) continue;
      this.#problems.add(`position ${position}: ${field} ${event[field]} instead of ${wanted[field]}`);
      return;
    }
  }

  /** After the last one. */
  finish(): void {
    for (const { position, id } of this.#expected.slice(this.#next)) this.#missing(position, id);
    this.#next = this.#expected.length;
  }

  /** False when it isn't one of those that are still to come. */
  #skipTo(position: number): boolean {
    const found = this.#expected.findIndex((event, index) => index >= this.#next && event.position === position);
    if (found === -1) {
      this.#problems.add(`position ${position} comes again, or out of order`);
      return false;
    }
    for (const { position: missing, id } of this.#expected.slice(this.#next, found)) this.#missing(missing, id);
    this.#next = found;
    return true;
  }

  #missing(position: number, id: string): void {
    this.#problems.add(`position ${position}: event ${id} doesn't come`);
  }
}
