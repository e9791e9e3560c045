import type { KillLine } from "./kill-protocol.ts";
import type { Survivor } from "./kill-target.ts";

const mostProblems = 20;

/** What was said about one directory, and the comparison with what is there. */
export class KillLedger {
  acknowledged = 0;
  lost = 0;
  doubled = 0;
  disordered = 0;
  damaged = 0;
  revived = 0;
  unacknowledged = 0;
  drops = 0;
  readonly problems: string[] = [];
  readonly #ids = new Map<number, string>();
  /** Below this a record may be missing. */
  #dropping = 0;
  /** Below this a record must be missing. */
  #dropped = 0;
  /** What may be done with, and what of that must be. */
  readonly #settling = new Set<number>();
  readonly #settled = new Set<number>();

  hear(line: KillLine): void {
    if (line.says === "acknowledged") {
      this.acknowledged++;
      const before = this.#ids.get(line.position);
      if (before !== undefined) {
        this.doubled++;
        this.#problem(`position ${line.position} was acknowledged for ${before} and for ${line.id}`);
      }
      this.#ids.set(line.position, line.id);
    } else if (line.says === "dropping") {
      this.#dropping = Math.max(this.#dropping, line.position);
    } else if (line.says === "dropped") {
      this.drops++;
      this.#dropped = Math.max(this.#dropped, line.position);
    } else if (line.says === "settling") {
      this.#settling.add(line.position);
    } else if (line.says === "settled") {
      this.acknowledged++;
      this.#settled.add(line.position);
    } else if (line.says === "broken") {
      this.damaged++;
      this.#problem(line.problem);
    }
  }

  /** After a kill: goes once over all that is there. */
  async check(survivors: AsyncIterable<Survivor>): Promise<void> {
    const numbers = new Map<string, number>();
    const missing = new Map(this.#ids);
    let before = 0;
    for await (const survivor of survivors) {
      const { position, id, intact } = survivor;
      if (position <= before) this.#disordered(`position ${position} comes after ${before}`);
      before = position;
      if (position < this.#dropped) {
        this.revived++;
        this.#problem(`${id} at ${position} is there, and everything below ${this.#dropped} was dropped`);
      }
      if (!intact) {
        this.damaged++;
        this.#problem(`${id} at ${position} has another content than was written`);
      }
      this.#checkNumber(numbers, id, position);
      this.#checkDone(survivor);
      const known = this.#ids.get(position);
      if (known === id) missing.delete(position);
      else if (known === undefined) this.unacknowledged++;
      else this.#problem(`position ${position} holds ${id}, and ${known} was acknowledged there`);
    }
    for (const [position, id] of missing) {
      if (position >= this.#dropping) {
        this.lost++;
        this.#problem(`${id} was acknowledged at ${position} and is missing`);
      }
      // Said once: the next kill on the same directory isn't to blame.
      this.#ids.delete(position);
    }
  }

  #checkDone({ position, id, isDone }: Survivor): void {
    if (isDone === false && this.#settled.delete(position)) {
      this.doubled++;
      this.#problem(`${id} at ${position} was settled and comes again`);
    } else if (isDone === true && !this.#settling.has(position)) {
      this.lost++;
      this.#settling.add(position);
      this.#problem(`${id} at ${position} is done with, and nobody settled it`);
    }
  }

  #checkNumber(numbers: Map<string, number>, id: string, position: number): void {
    const colon = id.lastIndexOf(":");
    const writer = id.slice(0, colon);
    const number = Number(id.slice(colon + 1));
    const last = numbers.get(writer);
    if (last === undefined || number === last + 1) {
      numbers.set(writer, number);
    } else if (number > last) {
      numbers.set(writer, number);
      this.#disordered(`${id} at ${position} follows number ${last} of the same writer`);
    } else {
      this.doubled++;
      this.#problem(`${id} at ${position} is there again, after number ${last} of the same writer`);
    }
  }

  #disordered(problem: string): void {
    this.disordered++;
    this.#problem(problem);
  }

  #problem(problem: string): void {
    if (this.problems.length < mostProblems) this.problems.push(problem);
  }
}
