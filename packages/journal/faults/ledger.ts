import type { Found, Outcome } from "./telling.ts";

/** What was acknowledged, refused, or left open; and whether that is what is there. */
export class Ledger {
  readonly #acknowledged = new Map<string, number>();
  readonly #refused = new Set<string>();
  readonly #open = new Set<string>();
  #last = 0;

  get acknowledged(): number {
    return this.#acknowledged.size;
  }

  /** The last sequence that was acknowledged. */
  get last(): number {
    return this.#last;
  }

  /** Ids whose appends are under way: their program may be killed before it tells of them. */
  expect(ids: readonly string[]): void {
    for (const id of ids) this.#open.add(id);
  }

  note(outcomes: readonly Outcome[]): void {
    for (const { id, sequence, refusal } of outcomes) {
      if (sequence !== undefined) {
        this.#acknowledged.set(id, sequence);
        this.#last = Math.max(this.#last, sequence);
      } else if (refusal?.code === "OUTCOME_UNKNOWN") this.#open.add(id);
      else this.#refused.add(id);
    }
  }

  /** Everything below may go from now on. */
  mayDrop(first: number): void {
    for (const [id, sequence] of this.#acknowledged) {
      if (sequence >= first) continue;
      this.#acknowledged.delete(id);
      this.#open.add(id);
    }
  }

  /** Throws unless each acknowledged record is there once, where it was said to be, nothing refused is, and no sequence is missing. */
  check(found: readonly Found[]): void {
    const ids = new Set<string>();
    for (const [place, { sequence, id, intact }] of found.entries()) {
      const before = found[place - 1]?.sequence ?? sequence - 1;
      if (sequence !== before + 1) throw new Error(`sequence ${sequence} follows ${before}`);
      if (!intact) throw new Error(`${id} at ${sequence} has other bytes than were appended`);
      if (ids.has(id)) throw new Error(`${id} is there twice, the second time at ${sequence}`);
      if (this.#refused.has(id)) throw new Error(`${id} was refused and is there, at ${sequence}`);
      const said = this.#acknowledged.get(id);
      if (said === undefined && !this.#open.has(id)) throw new Error(`${id} at ${sequence} was never appended`);
      if (said !== undefined && said !== sequence)
        throw new Error(`${id} was acknowledged at ${said} and is at ${sequence}`);
      ids.add(id);
    }
    for (const [id, sequence] of this.#acknowledged) {
      if (!ids.has(id)) throw new Error(`${id} was acknowledged at ${sequence} and is missing`);
    }
  }
}
