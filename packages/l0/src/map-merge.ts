import type { MapEntry } from "./part/entry-cells.ts";
import { compareUtf8 } from "./utf8-order.ts";

type Source = AsyncIterable<readonly MapEntry[]>;

/** A source with what it gives next. */
class Head {
  readonly #batches: AsyncIterator<readonly MapEntry[]>;
  #batch: readonly MapEntry[] = [];
  #at = 0;

  constructor(source: Source) {
    this.#batches = source[Symbol.asyncIterator]();
  }

  get entry(): MapEntry {
    return this.#batch[this.#at] as MapEntry;
  }

  /** Goes on to the next entry in memory; false when another batch must be awaited. */
  advance(): boolean {
    return ++this.#at < this.#batch.length;
  }

  /** False at the end. */
  async load(): Promise<boolean> {
    for (;;) {
      const next = await this.#batches.next();
      if (next.done === true) return false;
      const { value } = next;
      if (value.length === 0) continue;
      this.#batch = value;
      this.#at = 0;
      return true;
    }
  }

  async close(): Promise<void> {
    await this.#batches.return?.();
  }
}

/**
 * Several sources, each in order of key and then of falling revision, as one: of each key the newest entry up to `readable`, in
 * order of key.
 */
export async function* newestOfEachKey(sources: readonly Source[], readable: number): AsyncGenerator<MapEntry> {
  const heads: Head[] = [];
  try {
    for (const source of sources) {
      const head = new Head(source);
      if (await head.load()) heads.push(head);
    }
    let given: string | undefined;
    while (heads.length > 0) {
      const next = heads.reduce((least, head) => (before(head.entry, least.entry) ? head : least));
      const { entry } = next;
      if (entry.record.key !== given && entry.record.revision <= readable) {
        given = entry.record.key;
        yield entry;
      }
      if (!next.advance() && !(await next.load())) heads.splice(heads.indexOf(next), 1);
    }
  } finally {
    for (const head of heads) await head.close();
  }
}

function before(a: MapEntry, b: MapEntry): boolean {
  const order = compareUtf8(a.record.key, b.record.key);
  return order < 0 || (order === 0 && a.record.revision > b.record.revision);
}
