import type { Counters } from "./counters.ts";
import type { Dataset } from "./dataset.ts";
import { operation } from "./envelope.ts";
import type { Loaded } from "./loaded.ts";
import type { KnownId } from "./log-table.ts";
import type { MapEntry } from "./part/entry-cells.ts";
import type { LogPart } from "./part/log-part.ts";
import { searchId, searchKey } from "./part/search-key.ts";
import type { Pins } from "./pins.ts";
import type { Store } from "./store.ts";
import { logParts, mapParts } from "./view.ts";
import type { View } from "./view.ts";

/** An id that isn't known within the window. */
export const unknownId = null;

/** What accepted commits left under a key: looked up at once in memory, or loaded from parts before a commit is checked. */
export class Heads {
  readonly #store: Store;
  readonly #window: number;
  readonly #counters: Pick<Counters, "cold_loads">;
  readonly #pins: Pins;

  constructor(store: Store, window: number, counters: Pick<Counters, "cold_loads">, pins: Pins) {
    this.#counters = counters;
    this.#pins = pins;
    this.#store = store;
    this.#window = window;
  }

  /** A log's last version or a map's live revision, 0 for none; `undefined` when it must be loaded. */
  head(dataset: Dataset, key: string, loaded: Loaded): number | undefined {
    const { view } = this.#store;
    const fresh = dataset.order === "by-sort" ? freshVersion(view, dataset, key) : freshRevision(view, dataset, key);
    if (fresh !== undefined) return fresh;
    if (logParts(view, dataset).length + mapParts(view, dataset).length === 0) return 0;
    const known = dataset.heads.get(key) ?? loaded.head(dataset, key, view.partsVersion);
    if (known !== undefined) return known;
    const cached = cachedHead(view, dataset, key);
    if (cached !== undefined) dataset.heads.set(key, cached);
    return cached;
  }

  async loadHead(dataset: Dataset, key: string, loaded: Loaded): Promise<void> {
    const pin = this.#pins.hold(this.#store.view);
    const { view } = pin;
    const { fills } = dataset;
    this.#counters.cold_loads++;
    let head: number;
    try {
      head = await sealedHead(view, dataset, key);
    } finally {
      pin.release();
    }
    loaded.setHead(dataset, key, head, view.partsVersion);
    // A part that is being added may know better than what was read.
    const isStale = this.#store.view.partsVersion !== view.partsVersion || dataset.fills !== fills;
    if (!isStale) dataset.heads.set(key, head);
  }

  /** A record with this id under this key, within the window; `unknownId`; or `undefined` when it must be loaded. */
  findId(dataset: Dataset, key: string, id: string, loaded: Loaded): KnownId | typeof unknownId | undefined {
    const { view } = this.#store;
    for (let i = view.generations.length - 1; i >= 0; i--) {
      const known = view.generations[i]?.logs.get(dataset.id)?.findId(key, id);
      if (known !== undefined) return this.#within(dataset, known);
    }
    const parts = this.#partsWithin(view, dataset);
    if (parts.length === 0) return unknownId;
    const loadedId = loaded.id(dataset, key, id, view.partsVersion);
    if (loadedId !== undefined) return this.#within(dataset, loadedId);
    const wanted = searchId(searchKey(key), id);
    for (const part of parts) {
      const known = part.findIdCached(wanted);
      if (known === undefined) return undefined;
      if (known !== null) return this.#within(dataset, known);
    }
    return unknownId;
  }

  async loadId(dataset: Dataset, key: string, id: string, loaded: Loaded): Promise<void> {
    const pin = this.#pins.hold(this.#store.view);
    const { view } = pin;
    const wanted = searchId(searchKey(key), id);
    let found: KnownId | typeof unknownId = unknownId;
    this.#counters.cold_loads++;
    try {
      for (const part of this.#partsWithin(view, dataset)) {
        const known = await part.findId(wanted);
        if (known === undefined) continue;
        found = known;
        break;
      }
    } finally {
      pin.release();
    }
    loaded.setId(dataset, key, id, found, view.partsVersion);
  }

  /** What a generation that is about to leave memory knows, for the next commits under the same keys. */
  remember(dataset: Dataset, heads: Iterable<[string, number]>): void {
    for (const [key, head] of heads) dataset.heads.set(key, head);
  }

  /** Newest first. */
  #partsWithin(view: View, dataset: Dataset): LogPart[] {
    return logParts(view, dataset)
      .filter(({ meta }) => meta.ids > 0 && this.#isWithin(dataset, meta.lastSort))
      .toReversed();
  }

  #within(dataset: Dataset, known: KnownId | typeof unknownId): KnownId | typeof unknownId {
    return known !== unknownId && this.#isWithin(dataset, known.sort) ? known : unknownId;
  }

  #isWithin(dataset: Dataset, sort: number): boolean {
    return dataset.nextSort - sort <= this.#window;
  }
}

/** What the parts say, as far as that can be told without reading. */
function cachedHead(view: View, dataset: Dataset, key: string): number | undefined {
  const wanted = searchKey(key);
  for (const part of logParts(view, dataset).toReversed()) {
    const version = part.lastVersionCached(wanted);
    if (version !== 0) return version;
  }
  for (const part of mapParts(view, dataset).toReversed()) {
    const found = part.getCached(wanted, Infinity);
    if (found !== null) return found === undefined ? undefined : liveRevision(found);
  }
  return 0;
}

async function sealedHead(view: View, dataset: Dataset, key: string): Promise<number> {
  const wanted = searchKey(key);
  for (const part of logParts(view, dataset).toReversed()) {
    const versions = await part.versions(wanted);
    if (versions !== undefined) return versions.last;
  }
  for (const part of mapParts(view, dataset).toReversed()) {
    const found = await part.get(wanted, Infinity);
    if (found !== undefined) return liveRevision(found);
  }
  return 0;
}

/** 0 for a deleted one. */
function liveRevision(entry: MapEntry): number {
  return entry.operation === operation.delete ? 0 : entry.record.revision;
}

function freshVersion(view: View, dataset: Dataset, key: string): number | undefined {
  for (let i = view.generations.length - 1; i >= 0; i--) {
    const version = view.generations[i]?.logs.get(dataset.id)?.lastVersion(key);
    if (version !== undefined) return version;
  }
  return undefined;
}

function freshRevision(view: View, dataset: Dataset, key: string): number | undefined {
  for (let i = view.generations.length - 1; i >= 0; i--) {
    const revision = view.generations[i]?.maps.get(dataset.id)?.head(key);
    if (revision !== undefined) return revision;
  }
  return undefined;
}
