import type { LogReadOptions } from "@ehdb/contracts";
import type { Run } from "./context.ts";
import type { ModelRecord } from "./model.ts";
import { keptRecord } from "./readers.ts";
import type { Kept } from "./readers.ts";

/** What a read is held to that began at one moment. */
export interface Mark {
  /** What is wrong, in words: a record that isn't there must be one that may be gone, and what was gone before must be. */
  differs(
    found: readonly Kept[] & { readonly isCutShort?: boolean },
    options: Pick<LogReadOptions, "limit">,
    must: readonly ModelRecord[],
  ): string | undefined;
}

/** Erased records that a read didn't find: none of them may ever be found again. */
export class Forgotten {
  readonly #gone: Map<string, Set<number>> = new Map();

  /** Taken before a read begins. */
  mark(dataset: string): Mark {
    const before = new Set(this.#gone.get(dataset));
    return {
      differs: (found, { limit = Infinity }, must) => {
        let place = 0;
        for (const record of must) {
          const expected = keptRecord(record).text;
          const there = found[place];
          if (there?.text === expected) {
            if (before.has(record.sort)) return `the record ${expected.slice(0, 100)} was gone, and is there again`;
            place++;
            continue;
          }
          if (place >= limit || (found.isCutShort === true && place === found.length)) break;
          if (record.erasedBy === Infinity)
            return `at place ${place} there is ${String(there?.text).slice(0, 100)}, and must be ${expected.slice(0, 100)}`;
          this.#forget(dataset, record.sort);
        }
        const extra = found[place];
        return extra === undefined
          ? undefined
          : `at place ${place} there is ${extra.text.slice(0, 100)}, and must be nothing`;
      },
    };
  }

  /** What others have seen to be gone, as of now. */
  copy(): Forgotten {
    const copy = new Forgotten();
    copy.adopt(this);
    return copy;
  }

  adopt(others: Forgotten): void {
    for (const [dataset, sorts] of others.#gone) for (const sort of sorts) this.#forget(dataset, sort);
  }

  #forget(dataset: string, sort: number): void {
    const gone = this.#gone.get(dataset);
    if (gone === undefined) this.#gone.set(dataset, new Set([sort]));
    else gone.add(sort);
  }
}

/** How far the floors of logs were raised: asked for, and promised. */
export class Floors {
  readonly #asked: Map<string, number> = new Map();
  readonly #promised: Map<string, number> = new Map();

  ask(dataset: string, floor: number): void {
    this.#asked.set(dataset, Math.max(floor, this.#asked.get(dataset) ?? 1));
  }

  promise(dataset: string, floor: number): void {
    this.#promised.set(dataset, Math.max(floor, this.#promised.get(dataset) ?? 1));
  }

  /** Where a log begins at least, for who looks from now on. */
  promised(dataset: string): number {
    return this.#promised.get(dataset) ?? 1;
  }

  check(run: Run, dataset: string, first: number, least: number = this.promised(dataset)): void {
    const most = this.#asked.get(dataset) ?? 1;
    if (first < least || first > most)
      run.ledger.fail(`${dataset} begins at ${first}, and its floor was raised to ${least} at least, ${most} at most`);
  }
}
