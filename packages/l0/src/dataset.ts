import type { DatasetOrder } from "@ehdb/contracts";
import { LRUCache } from "lru-cache";
import type { DatasetMeta } from "./meta.ts";

/** Heads of keys that are only in parts, kept after they were loaded. */
const mostHeads = 131_072;

/** Opens of which the log's end is remembered, to tell checkpoints that a crash took back. */
const mostCuts = 32;

/** One dataset at run time: what the next commit needs to know without reading. */
export class Dataset {
  readonly id: number;
  readonly name: string;
  readonly order: DatasetOrder;
  /** Of a log: see `DatasetMeta`. */
  cuts: DatasetMeta["cuts"];
  /** Of a log: the position that the next record gets. */
  nextSort: number;
  /** See `DatasetMeta`: it counts once it's durable. */
  floor: number;
  /** Of a log: to how many bytes retention limits it, as it was said since the open. */
  keptBytes: number = Infinity;
  /**
   * The head of keys as far as parts know it: a log's last version, a map's live revision; 0 for none. What is newer stands in
   * the generations, which are asked first.
   */
  // By size: `max` would take all its memory at once.
  readonly heads: LRUCache<string, number> = new LRUCache({ maxSize: mostHeads, sizeCalculation: () => 1 });

  /** Rises when heads begin or end to come from generations that leave memory: a load that was under way may be stale. */
  fills = 0;

  constructor(meta: DatasetMeta, nextSort: number) {
    this.id = meta.id;
    this.name = meta.name;
    this.order = meta.order;
    this.cuts = meta.cuts;
    this.nextSort = nextSort;
    this.floor = meta.floor;
  }

  /** For an edit of the manifest. */
  get identity(): Pick<DatasetMeta, "id" | "name" | "order"> {
    const { id, name, order } = this;
    return { id, name, order };
  }

  /** From here on positions are given in `epoch`. */
  beginEpoch(epoch: number): void {
    if (this.order === "by-sort") this.cuts = [...this.cuts, { epoch, firstSort: this.nextSort }].slice(-mostCuts);
  }
}
