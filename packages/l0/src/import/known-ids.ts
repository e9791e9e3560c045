import { EhdbError } from "@ehdb/contracts";
import type { ImportedOp } from "./imported-op.ts";

/** The ids that an import has brought and that are known, as far as the dedupe window reaches. */
export class KnownIds {
  readonly #dataset: string;
  readonly #window: number;
  /** Sorts, rising. */
  readonly #sorts: Map<string, number> = new Map();

  constructor(dataset: string, window: number) {
    this.#dataset = dataset;
    this.#window = window;
  }

  /** ID_REUSED. */
  add({ key, id, sort }: ImportedOp): void {
    for (const [known, at] of this.#sorts) {
      if (sort - at <= this.#window) break;
      this.#sorts.delete(known);
    }
    if (id === undefined || this.#window === 0) return;
    const scoped = `${id}\0${key}`;
    const before = this.#sorts.get(scoped);
    if (before !== undefined) {
      const message = `id ${JSON.stringify(id)} under key ${JSON.stringify(key)} comes at sort key ${sort} and came at ${before} already: an id names one record under its key`;
      throw new EhdbError("ID_REUSED", message, { dataset: this.#dataset, key, id, sort, before });
    }
    this.#sorts.set(scoped, sort);
  }
}
