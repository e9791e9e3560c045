import type { PartMeta } from "../meta.ts";
import type { MapEntry } from "./entry-cells.ts";
import { findEntry, scanMap } from "./map-lookups.ts";
import type { KeyRangeOptions } from "./map-lookups.ts";
import type { PartDamage } from "./part-damage.ts";
import { PartFile } from "./part-file.ts";
import type { PartContext } from "./part-file.ts";
import type { SearchKey } from "./search-key.ts";
import { verifyPart } from "./verify-part.ts";

/** A part of a map: all versions of its keys that the part holds, deletes too. What is said of `LogPart` holds here. */
export class MapPart {
  readonly #file: PartFile;

  constructor(context: PartContext, path: string, meta: PartMeta) {
    this.#file = new PartFile(context, path, meta);
  }

  get path(): string {
    return this.#file.path;
  }

  get meta(): PartMeta {
    return this.#file.meta;
  }

  /** The newest entry of a key at or below a revision. */
  async get(key: SearchKey, atRevision: number): Promise<MapEntry | undefined> {
    return (await this.#file.run("by-key", (footer) => findEntry(this.#file, footer, key, atRevision))) ?? undefined;
  }

  /** A large entry has a block of its own, which the cache may refuse to keep: then the answer never is in memory. */
  getCached(key: SearchKey, atRevision: number): MapEntry | null | undefined {
    return this.#file.runCached("by-key", (footer) => findEntry(this.#file, footer, key, atRevision));
  }

  /** Entries by key, then from the newest revision to the oldest, those of one block at a time. */
  scan(options: KeyRangeOptions = {}): AsyncGenerator<MapEntry[], void, undefined> {
    return scanMap(this.#file, options);
  }

  verify(onDamage: (damage: PartDamage) => void): Promise<void> {
    return verifyPart(this.#file, onDamage);
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}
