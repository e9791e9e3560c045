import type { FileInode } from "./inode.ts";
import { type Extent, type Page, PAGE_BYTES, SECTOR_BYTES } from "./page.ts";
import type { Statistics } from "./statistics.ts";
import type { Stream } from "./stream.ts";

/** What a crash keeps of what was written and not synced. */
export type Keep =
  /** Only what was synced. */
  | "nothing"
  /** All of it, as if a sync had just ended. */
  | "everything"
  /** Of each sector, independently, any of its versions since the sync. */
  | "sectors"
  /** All writes up to some moment, and of the write at that moment some sectors. */
  | "prefix";

export interface SurvivalPolicy {
  readonly keep: Keep;
  /** For `prefix`: the moment, as the order of a write. */
  readonly cut: number;
  /** Whether pages that a failed sync covered are lost, or of each sector any version. */
  readonly failedPagesLost: boolean;
  readonly stream: Stream;
}

/** How many sectors of a write a crash kept and lost. */
interface WriteFate {
  kept: number;
  lost: number;
}

/** The part of a file's truncations that a crash keeps: shortening is journalled, so it's kept in order. */
interface KeptTruncations {
  readonly keptThrough: number;
  readonly lostFrom: number;
  readonly smallest: number;
  readonly largest: number;
}

/** Decides, file by file, what is on disk after a crash, and counts it. */
export class Survival {
  readonly #policy: SurvivalPolicy;
  readonly #fates: Map<number, WriteFate> = new Map();

  constructor(policy: SurvivalPolicy) {
    this.#policy = policy;
  }

  /** Replaces the content of `inode` by what survives. */
  apply(inode: FileInode): void {
    const truncations = this.#truncations(inode);
    let written = 0;
    for (const [index, page] of inode.dirty) {
      const end = this.#page(page, truncations);
      if (end > 0) written = Math.max(written, index * PAGE_BYTES + end);
    }
    const size = this.#size(truncations, Math.min(written, truncations.largest));
    for (const [index, page] of inode.pages) {
      const end = size - index * PAGE_BYTES;
      if (end <= 0) inode.pages.delete(index);
      else if (end < PAGE_BYTES) clearFrom(page, end);
    }
    inode.settle(size);
  }

  count(statistics: Statistics): void {
    for (const { kept, lost } of this.#fates.values()) {
      if (lost === 0) continue;
      if (kept === 0) statistics.lostUnsyncedWrites++;
      else {
        statistics.tornWrites++;
        statistics.tornSectors += lost;
      }
    }
  }

  #truncations(inode: FileInode): KeptTruncations {
    const all = inode.truncations;
    const { keep, cut, stream } = this.#policy;
    let kept = 0;
    if (keep === "everything") kept = all.length;
    else if (keep === "sectors") kept = stream.integer(all.length + 1);
    else if (keep === "prefix") kept = all.filter(({ order }) => order < cut).length;
    const last = all[kept - 1];
    const next = all[kept];
    const smallest = last?.size ?? inode.durableSize;
    return {
      keptThrough: last?.order ?? 0,
      lostFrom: next?.order ?? Infinity,
      smallest,
      largest: Math.max(smallest, next?.sizeBefore ?? inode.size),
    };
  }

  #size({ smallest, largest }: KeptTruncations, written: number): number {
    const { keep, stream } = this.#policy;
    if (keep === "nothing") return smallest;
    if (keep === "everything") return largest;
    const least = Math.max(smallest, written);
    return stream.chance(0.5) ? least : least + stream.integer(largest - least + 1);
  }

  /** Sets the page to what survives; the end of the last sector that an unsynced write reached, or 0. */
  #page(page: Page, truncations: KeptTruncations): number {
    const result = page.durable?.slice() ?? new Uint8Array(PAGE_BYTES);
    let reached = 0;
    for (let sector = 0; sector < PAGE_BYTES; sector += SECTOR_BYTES) {
      const extents = page.extents.filter(({ start, end }) => start < sector + SECTOR_BYTES && end > sector);
      if (extents.length === 0) continue;
      const kept = this.#keptOf(extents, page.cleanedAt !== 0, truncations);
      for (const [place, extent] of extents.entries()) {
        this.#note(extent, place < kept);
        if (place >= kept) continue;
        const start = Math.max(extent.start, sector);
        const end = Math.min(extent.end, sector + SECTOR_BYTES);
        result.set(extent.bytes.subarray(start - extent.start, end - extent.start), start);
        if (!extent.truncation && end > reached) reached = end;
      }
    }
    page.current = result;
    page.durable = result.slice();
    page.extents = [];
    page.cleanedAt = 0;
    return reached;
  }

  /** How many of a sector's unsynced writes, from the oldest, are on disk. */
  #keptOf(extents: readonly Extent[], failed: boolean, { keptThrough, lostFrom }: KeptTruncations): number {
    const { keep, cut, stream } = this.#policy;
    let least = 0;
    let most = extents.length;
    for (const [place, { truncation, order }] of extents.entries()) {
      if (!truncation) continue;
      if (order <= keptThrough) least = place + 1;
      else if (order >= lostFrom) most = Math.min(most, place);
    }
    if (keep === "nothing") return least;
    if (failed) return this.#policy.failedPagesLost ? least : least + stream.integer(most - least + 1);
    if (keep === "everything") return most;
    if (keep === "sectors") return least + stream.integer(most - least + 1);
    let before = 0;
    while (before < most && (extents[before]?.order ?? 0) < cut) before++;
    // The write at the cut was on its way: each of its sectors may have arrived.
    if (before < most && extents[before]?.order === cut && stream.chance(0.5)) before++;
    return Math.max(least, before);
  }

  #note({ order, truncation }: Extent, kept: boolean): void {
    if (truncation) return;
    let fate = this.#fates.get(order);
    if (fate === undefined) {
      fate = { kept: 0, lost: 0 };
      this.#fates.set(order, fate);
    }
    if (kept) fate.kept++;
    else fate.lost++;
  }
}

/** What is past the end of a file reads as zeros when it grows again. */
function clearFrom(page: Page, end: number): void {
  page.current.fill(0, end);
  page.durable?.fill(0, end);
}
