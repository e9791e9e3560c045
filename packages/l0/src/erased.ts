import type { Clock } from "@ehdb/host";
import type { Dataset } from "./dataset.ts";
import type { LogPart } from "./part/log-part.ts";
import type { Store } from "./store.ts";
import { logParts } from "./view.ts";

/** Keys that are remembered beyond those that parts still erase, before it's counted anew. */
const slackKeys = 1024;

/** What is erased of one log and perhaps still there. */
class Pending {
  /** Of each key the first version that stays, as counted so far. */
  readonly below: Map<string, number> = new Map();
  /** Parts whose erasures were counted. */
  readonly read: Set<number> = new Set();
  /** Erased records that are still there, by part. */
  readonly counts: Map<number, number> = new Map();
}

/** How many records of each part of a log are erased and still there: asked of postings, once for each key and version, and remembered. */
export class Erased {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #pending: Map<number, Pending> = new Map();

  constructor(store: Store, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** By part; those of which nothing is erased are left out. A part that a merge has made holds nothing that was erased before. */
  async in(dataset: Dataset): Promise<ReadonlyMap<number, number>> {
    const parts = logParts(this.#store.view, dataset);
    const pending = this.#current(dataset, parts);
    if (pending === undefined) return none;
    for (const part of parts) {
      if (part.meta.erasures === 0 || pending.read.has(part.meta.id)) continue;
      await this.#count(pending, part, parts);
      pending.read.add(part.meta.id);
    }
    return pending.counts;
  }

  /** What was counted, as far as it still counts; `undefined` when nothing is erased. */
  #current(dataset: Dataset, parts: readonly LogPart[]): Pending | undefined {
    const erasures = parts.reduce((sum, { meta }) => sum + meta.erasures, 0);
    const before = this.#pending.get(dataset.id);
    // A merge may have dropped most of what is remembered.
    const isStale = before === undefined || before.below.size > 2 * erasures + slackKeys;
    if (erasures === 0) this.#pending.delete(dataset.id);
    else if (isStale) this.#pending.set(dataset.id, new Pending());
    const pending = this.#pending.get(dataset.id);
    const there = new Set(parts.map(({ meta }) => meta.id));
    for (const id of pending?.read ?? []) if (!there.has(id)) pending?.read.delete(id);
    for (const id of pending?.counts.keys() ?? []) if (!there.has(id)) pending?.counts.delete(id);
    return pending;
  }

  async #count({ below: known, counts }: Pending, eraser: LogPart, parts: readonly LogPart[]): Promise<void> {
    // What was erased had been appended before.
    const mayHold = parts
      .slice(0, parts.indexOf(eraser) + 1)
      .filter(({ meta }) => meta.records > 0)
      .reverse();
    for await (const erasures of eraser.erasures()) {
      for (const { key, below } of erasures) {
        const name = Buffer.from(key.bytes).toString("latin1");
        const before = known.get(name) ?? 0;
        if (below <= before) continue;
        for (const part of mayHold) {
          const versions = await part.versions(key);
          if (versions === undefined) continue;
          const from = Math.max(versions.first, before);
          const count = Math.min(below, versions.last + 1) - from;
          if (count > 0) counts.set(part.meta.id, (counts.get(part.meta.id) ?? 0) + count);
          // Older parts have older versions.
          if (versions.first <= Math.max(before, 1)) break;
        }
        known.set(name, below);
      }
      // What is in memory is answered without a turn of the loop.
      await this.#clock.yield();
    }
  }
}

const none: ReadonlyMap<number, number> = new Map();
