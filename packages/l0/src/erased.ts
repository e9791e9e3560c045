import type { Dataset } from "./dataset.ts";
import type { LogPart } from "./part/log-part.ts";
import type { Store } from "./store.ts";
import { logParts } from "./view.ts";

interface Counted {
  records: number;
  /** Parts whose erasures were counted. */
  readonly by: Set<number>;
}

/** How many records of each part of a log are erased and still there: asked of postings, and remembered. */
export class Erased {
  readonly #store: Store;
  #counted = new Map<number, Counted>();

  constructor(store: Store) {
    this.#store = store;
  }

  /** By part; those of which nothing is erased may be left out. */
  async in(dataset: Dataset): Promise<ReadonlyMap<number, number>> {
    const parts = logParts(this.#store.view, dataset);
    const counts = new Map<number, number>();
    for (const [place, eraser] of parts.entries()) {
      if (eraser.meta.erasures === 0) continue;
      const before = parts.slice(0, place + 1).filter((part) => !this.#of(part).by.has(eraser.meta.id));
      if (before.length > 0) await this.#count(eraser, before);
    }
    for (const part of parts) {
      const { records } = this.#of(part);
      if (records > 0) counts.set(part.meta.id, records);
    }
    return counts;
  }

  /** Parts that are gone needn't be remembered. */
  forget(part: LogPart): void {
    this.#counted.delete(part.meta.id);
  }

  #of(part: LogPart): Counted {
    let counted = this.#counted.get(part.meta.id);
    if (counted === undefined) this.#counted.set(part.meta.id, (counted = { records: 0, by: new Set() }));
    return counted;
  }

  async #count(eraser: LogPart, parts: readonly LogPart[]): Promise<void> {
    for await (const erasures of eraser.erasures()) {
      for (const { key, below } of erasures) {
        for (const part of parts) {
          const versions = await part.versions(key);
          if (versions === undefined || versions.last < versions.first) continue;
          this.#of(part).records += Math.max(0, Math.min(below, versions.last + 1) - versions.first);
        }
      }
    }
    for (const part of parts) this.#of(part).by.add(eraser.meta.id);
  }
}
