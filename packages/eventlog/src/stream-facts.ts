import type { MapDataset } from "@ehdb/contracts";
import { LRUCache } from "lru-cache";
import { dataset } from "./datasets.ts";
import { decodeNumbers, encodeNumbers } from "./map-values.ts";

/** Streams of which is remembered what was truncated or deleted, or that nothing was. */
const mostStreams = 32_768;

/** What outlives the events of a stream. */
export interface StreamFacts {
  /** Of the commit that wrote them; 0 when there are none. */
  readonly revision: number;
  /** Events below are hidden. */
  readonly firstVersion: number;
  /** The stream's version when it was last deleted: it's deleted as long as that is its version. 0: never. */
  readonly deletedAt: number;
  /** Events were seen that were appended since. */
  isBack: boolean;
}

export const noFacts: StreamFacts = { revision: 0, firstVersion: 1, deletedAt: 0, isBack: false };

export const isDeleted = (facts: StreamFacts, version: number): boolean => version > 0 && facts.deletedAt === version;

export function encodeFacts({ firstVersion, deletedAt }: Pick<StreamFacts, "firstVersion" | "deletedAt">): Buffer {
  return encodeNumbers(firstVersion, deletedAt);
}

/**
 * Facts of streams, as they are durable. As long as no stream was ever truncated or deleted nothing is looked up; then of the streams in
 * use, a bounded number of them.
 */
export class StreamsFacts {
  readonly #map: MapDataset;
  readonly #edition: () => number;
  readonly #known = new LRUCache<string, StreamFacts>({ max: mostStreams });
  #isEmpty = true;
  #changes = 0;
  #seen: number;

  /** `edition` changes when there may be others than those of before, besides what `changing` tells. */
  constructor(map: MapDataset, edition: () => number) {
    this.#map = map;
    this.#edition = edition;
    this.#seen = edition();
  }

  async open(): Promise<void> {
    for await (const _ of this.#map.scan({ limit: 1 })) this.#isEmpty = false;
  }

  /** Nothing is hidden in any stream. */
  get isEmpty(): boolean {
    this.#forgetEarlierOnes();
    return this.#isEmpty;
  }

  /** Without a look: `undefined` when there may be some. */
  peek(stream: string): StreamFacts | undefined {
    this.#forgetEarlierOnes();
    if (this.#isEmpty) return noFacts;
    return this.#known.get(stream);
  }

  /** `peek`, then a look. */
  async load(stream: string): Promise<StreamFacts> {
    for (;;) {
      const known = this.peek(stream);
      if (known !== undefined) return known;
      const changes = this.#changes;
      const record = await this.#map.get(stream);
      this.#forgetEarlierOnes();
      // What was read while another one was written may be the older one.
      if (changes !== this.#changes) continue;
      if (record === undefined) return this.#learnt(stream, noFacts);
      const [firstVersion, deletedAt] = decodeNumbers(record, dataset.streams, 2) as [number, number];
      return this.#learnt(stream, { revision: record.revision, firstVersion, deletedAt, isBack: false });
    }
  }

  /** New facts of a stream are on their way, or were refused: they are looked up again. */
  changing(stream: string): void {
    this.#isEmpty = false;
    this.#changes++;
    this.#known.delete(stream);
  }

  #learnt(stream: string, facts: StreamFacts): StreamFacts {
    this.#known.set(stream, facts);
    return facts;
  }

  #forgetEarlierOnes(): void {
    const edition = this.#edition();
    if (edition === this.#seen) return;
    this.#seen = edition;
    this.#changes++;
    this.#isEmpty = false;
    this.#known.clear();
  }
}
