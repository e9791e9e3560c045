import { join } from "node:path";
import { BlockCache } from "../block-cache.ts";
import type { ManifestState } from "../manifest/state.ts";
import { partName } from "../part/built-part.ts";
import { LogPart } from "../part/log-part.ts";
import { MapPart } from "../part/map-part.ts";
import type { PartContext } from "../part/part-file.ts";
import { PartHandles } from "../part/part-handles.ts";
import { partsOf } from "../view.ts";
import type { Parts } from "../view.ts";
import type { ResolvedReaderOptions } from "./options.ts";

type Part = LogPart | MapPart;

/** The parts of one store that a reader knows: those that stay from one manifest to the next keep what was read of them. */
export class PartShelf {
  readonly #context: PartContext;
  readonly #dir: string;
  #parts: Map<number, Part> = new Map();
  /** Not named any more, and perhaps still read. */
  readonly #retired: Part[] = [];

  constructor({ host, dir, encryption, blockCacheBytes }: ResolvedReaderOptions) {
    this.#dir = dir;
    this.#context = { handles: new PartHandles(host.files), cache: new BlockCache(blockCacheBytes), encryption };
  }

  /** Those that a manifest names. */
  take({ parts, datasets }: ManifestState): Parts {
    const before = this.#parts;
    this.#parts = new Map();
    for (const meta of parts.values()) {
      const kind = datasets.get(meta.dataset)?.order === "by-sort" ? LogPart : MapPart;
      this.#parts.set(meta.id, before.get(meta.id) ?? new kind(this.#context, this.#path(meta.id), meta));
    }
    for (const [id, part] of before) if (!this.#parts.has(id)) this.#retired.push(part);
    return partsOf([...this.#parts.values()]);
  }

  get cachedBytes(): number {
    return this.#context.cache.stats.bytes;
  }

  isNamed(path: unknown): boolean {
    return [...this.#parts.keys()].some((id) => this.#path(id) === path);
  }

  /** Nobody reads what isn't named any more: its files are let go, so that their space is free. */
  async letGo(): Promise<void> {
    for (const part of this.#retired.splice(0)) await part.close();
  }

  async close(): Promise<void> {
    await this.#context.handles.close();
  }

  #path(id: number): string {
    return join(this.#dir, "parts", partName(id));
  }
}
