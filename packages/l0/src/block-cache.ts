import { EhdbError, KIB, MIB } from "@ehdb/contracts";
import { LRUCache } from "lru-cache";

export interface BlockCacheStats {
  readonly bytes: number;
  readonly blocks: number;
  readonly hits: number;
  readonly misses: number;
  readonly evictions: number;
}

/** What an entry takes besides its bytes. */
const entryBytes = 200;
/** A block of a key's number: a place in the part's number times this, plus the offset. */
const offsets = 2 ** 36;
const mostParts = 2 ** 17;

/**
 * The plain bytes of blocks, those used last, up to a number of bytes: one cache for all parts of an engine. What it's given has been
 * verified. A block larger than an eighth of it isn't kept, so that one large record doesn't empty it.
 */
export class BlockCache {
  readonly #blocks: LRUCache<number, Buffer>;
  readonly #loading = new Map<number, Promise<Buffer>>();
  /** A small number for each part that was met, so that a block's key is a number too. */
  readonly #parts = new Map<number, number>();
  readonly #freeNumbers: number[] = [];
  #hits = 0;
  #misses = 0;
  #evictions = 0;

  /** @param maxBytes at least 1 MiB */
  constructor(maxBytes: number) {
    if (!Number.isSafeInteger(maxBytes) || maxBytes < MIB) {
      throw new EhdbError("INVALID_OPTION", `cacheBytes is ${maxBytes}: give at least ${MIB}`, {
        option: "cacheBytes",
        value: maxBytes,
        minimum: MIB,
      });
    }
    this.#blocks = new LRUCache({
      maxSize: maxBytes,
      maxEntrySize: Math.max(128 * KIB, Math.floor(maxBytes / 8)),
      sizeCalculation: (block) => block.length + entryBytes,
      dispose: (_block, _key, reason) => {
        if (reason === "evict") this.#evictions++;
      },
    });
  }

  /** The block, when it's in memory. Counted as a hit or, with the load that follows it, as a miss. */
  peek(part: number, offset: number): Buffer | undefined {
    const number = this.#parts.get(part);
    if (number === undefined) return undefined;
    const block = this.#blocks.get(number * offsets + offset);
    if (block !== undefined) this.#hits++;
    return block;
  }

  /** The block, read by `read` when it isn't in memory. Who asks for one that is being read shares the read. */
  async load(part: number, offset: number, read: () => Promise<Buffer>): Promise<Buffer> {
    const known = this.peek(part, offset);
    if (known !== undefined) return known;
    const key = this.#number(part) * offsets + offset;
    const loading = this.#loading.get(key);
    if (loading !== undefined) {
      this.#hits++;
      return loading;
    }
    this.#misses++;
    const started = read();
    this.#loading.set(key, started);
    try {
      const block = await started;
      // A part that was forgotten meanwhile must not come back.
      if (this.#loading.get(key) === started) this.#blocks.set(key, block);
      return block;
    } finally {
      if (this.#loading.get(key) === started) this.#loading.delete(key);
    }
  }

  /** Lets go of a part's blocks: its file is going, or was closed. */
  forget(part: number): void {
    const number = this.#parts.get(part);
    if (number === undefined) return;
    const isOfPart = (key: number): boolean => Math.floor(key / offsets) === number;
    for (const key of [...this.#blocks.keys()].filter(isOfPart)) this.#blocks.delete(key);
    for (const key of [...this.#loading.keys()].filter(isOfPart)) this.#loading.delete(key);
    this.#parts.delete(part);
    this.#freeNumbers.push(number);
  }

  get stats(): BlockCacheStats {
    return {
      bytes: this.#blocks.calculatedSize,
      blocks: this.#blocks.size,
      hits: this.#hits,
      misses: this.#misses,
      evictions: this.#evictions,
    };
  }

  #number(part: number): number {
    const known = this.#parts.get(part);
    if (known !== undefined) return known;
    const number = this.#freeNumbers.pop() ?? this.#parts.size;
    if (number >= mostParts) {
      throw new EhdbError("UNEXPECTED", `part ${part} would be one of more than ${mostParts} in one cache`, { part });
    }
    this.#parts.set(part, number);
    return number;
  }
}
