import type { PartMeta } from "../meta.ts";
import type { PartShelf } from "./part-shelf.ts";
import type { EngineReaderStats } from "./api.ts";
import type { Store } from "../store.ts";
import type { Parts, View } from "../view.ts";

/** What there is to read after one look. What the next one finds has a moment of its own. */
export class Moment {
  readonly revision: number;
  readonly epoch: number;
  readonly store: Store;
  readonly parts: Parts;
  /** Of the copy of the store that it's a moment of: another copy has another one. */
  readonly shelf: PartShelf;
  readonly #floors: ReadonlyMap<string, number>;
  readonly #lastRevisions: Map<string, number> = new Map();
  /** Reads that have this moment and aren't done. */
  reads = 0;

  constructor(revision: number, epoch: number, store: Store, parts: Parts, shelf: PartShelf) {
    this.revision = revision;
    this.epoch = epoch;
    this.store = store;
    this.parts = parts;
    this.shelf = shelf;
    this.#floors = new Map([...store.datasets.values()].map(({ name, floor }) => [name, floor]));
  }

  /** Generations go on being filled beyond `revision`. */
  get view(): View {
    const { generations, partsVersion } = this.store.view;
    return { parts: this.parts, generations, partsVersion };
  }

  /** Of a log the first position that stays, of a map the revision from which on all values do; 0 for all. */
  floorOf(dataset: string): number {
    return this.#floors.get(dataset) ?? 0;
  }

  /** See `EngineReader.lastRevision`. */
  lastRevision(name: string): number {
    let last = this.#lastRevisions.get(name);
    if (last === undefined) {
      // What is being read into memory can't be read yet.
      last = Math.min(this.#lastWrite(name), this.revision);
      this.#lastRevisions.set(name, last);
    }
    return last;
  }

  partsByDataset(): EngineReaderStats["datasets"] {
    const all = [...this.store.datasets.values()].map(({ id, name }) => {
      const metas = this.#metasOf(id);
      return [name, { parts: metas.length, bytes: metas.reduce((sum, { fileBytes }) => sum + fileBytes, 0) }] as const;
    });
    return Object.fromEntries(all);
  }

  #metasOf(dataset: number): PartMeta[] {
    const { logs, maps } = this.parts;
    return (logs.get(dataset) ?? maps.get(dataset) ?? []).map(({ meta }) => meta);
  }

  #lastWrite(name: string): number {
    const dataset = this.store.datasets.get(name);
    if (dataset === undefined) return 0;
    const { generations } = this.view;
    let last = 0;
    for (const { lastRevision } of this.#metasOf(dataset.id)) last = Math.max(last, lastRevision);
    for (const { logs, maps } of generations) {
      last = Math.max(last, logs.get(dataset.id)?.lastRevision ?? maps.get(dataset.id)?.lastRevision ?? 0);
    }
    return last;
  }
}
