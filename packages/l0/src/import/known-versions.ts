import { LRUCache } from "lru-cache";
import type { LogPart } from "../part/log-part.ts";
import { searchKey } from "../part/search-key.ts";

/** Keys of earlier parts that are kept in memory; the others are looked up. */
const mostKeys = 131_072;

/** The last version that an import has brought of each key, in memory that doesn't grow with the keys. */
export class KnownVersions {
  /** Of the part that is being filled. */
  #current: Map<string, number> = new Map();
  readonly #earlier: LRUCache<string, number> = new LRUCache({ maxSize: mostKeys, sizeCalculation: () => 1 });
  readonly #parts: LogPart[] = [];

  /** `undefined` when it must be looked up. */
  get(key: string): number | undefined {
    const known = this.#current.get(key) ?? this.#earlier.get(key);
    return known ?? (this.#parts.length === 0 ? 0 : undefined);
  }

  /** 0 for a key that hasn't come yet. */
  async load(key: string): Promise<number> {
    const wanted = searchKey(key);
    for (const part of this.#parts.toReversed()) {
      const last = part.lastVersionCached(wanted) ?? (await part.versions(wanted))?.last ?? 0;
      if (last > 0) return last;
    }
    return 0;
  }

  set(key: string, version: number): void {
    this.#current.set(key, version);
  }

  /** What was being filled is this part. */
  filled(part: LogPart): void {
    for (const [key, version] of this.#current) this.#earlier.set(key, version);
    this.#current = new Map();
    this.#parts.push(part);
  }
}
