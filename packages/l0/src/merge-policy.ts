import type { DatasetMeta, PartMeta } from "./meta.ts";

export interface MergePolicy {
  /** Parts of one level that make one of the next. */
  readonly fanOut: number;
  /** The share of a log part's records that may be erased before it's written anew. */
  readonly deadRatio: number;
  /** Of a log: no part larger than that is made by merging, for nothing would be gained. */
  readonly maxLogBytes: number;
  /** Parts that one merge takes: what it takes goes at its end only, and it reads them all at once. */
  readonly maxParts: number;
}

export const defaultPolicy: MergePolicy = {
  fanOut: 4,
  deadRatio: 0.2,
  maxLogBytes: 1024 * 1024 * 1024,
  maxParts: 16,
};

/** Parts of a dataset, from `from` to `to`, both included. */
export interface MergeRange {
  readonly from: number;
  readonly to: number;
}

/**
 * What is to be merged next of a dataset's parts, oldest first; `undefined` when nothing is. Size-tiered: what has been merged leaves fewer
 * parts of a level, so that it comes to an end.
 *
 * Of a log whatever lies below its floor goes first. Of a map newer parts may hide as much as the oldest one holds, and
 * then all are merged: it takes twice the space of what is there at most, beside what is above the floor. When there are more than one merge
 * takes, levels come first.
 */
export function nextMerge(
  dataset: Pick<DatasetMeta, "order" | "floor">,
  parts: readonly PartMeta[],
  policy: MergePolicy,
): MergeRange | undefined {
  if (dataset.order === "by-sort") return belowFloor(parts, dataset.floor, policy) ?? fullLevel(parts, policy);
  const ofMap = { ...policy, maxLogBytes: Infinity };
  if (parts.length > policy.maxParts) return fullLevel(parts, ofMap) ?? outgrown(parts);
  return outgrown(parts) ?? fullLevel(parts, ofMap);
}

/** The oldest part of a log of which much is erased: written anew it has fewer dead records. Asked when nothing else is to be merged. */
export function mostlyErased(
  parts: readonly PartMeta[],
  erased: ReadonlyMap<number, number>,
  { deadRatio }: MergePolicy,
): MergeRange | undefined {
  const at = parts.findIndex(({ id, records }) => records > 0 && (erased.get(id) ?? 0) / records > deadRatio);
  return at < 0 ? undefined : { from: at, to: at };
}

/** What lies below the floor and has records. What was made of such parts before becomes fewer by levels: it holds every key. */
function belowFloor(parts: readonly PartMeta[], floor: number, { maxParts }: MergePolicy): MergeRange | undefined {
  const first = parts.findIndex(({ lastSort }) => lastSort >= floor);
  const below = parts.slice(0, first < 0 ? parts.length : first);
  const from = below.findIndex(({ records }) => records > 0);
  return from < 0 ? undefined : { from, to: Math.min(below.length, from + maxParts) - 1 };
}

/** The first run, from the lowest level on, with `fanOut` parts of a level or more; lower ones that stand among them go with them. */
function fullLevel(parts: readonly PartMeta[], { fanOut, maxLogBytes, maxParts }: MergePolicy): MergeRange | undefined {
  const levels = [...new Set(parts.map(({ level }) => level))].sort((a, b) => a - b);
  for (const level of levels) {
    for (let from = 0; from < parts.length; from++) {
      let bytes = 0;
      let count = 0;
      let to = from - 1;
      for (let part = parts[from]; part !== undefined && part.level <= level; part = parts[to + 1]) {
        bytes += part.fileBytes;
        if (bytes > maxLogBytes || to - from + 1 === maxParts) break;
        if (part.level === level) count++;
        to++;
      }
      if (count >= fanOut) return { from, to };
    }
  }
  return undefined;
}

function outgrown(parts: readonly PartMeta[]): MergeRange | undefined {
  const [oldest, ...newer] = parts;
  if (oldest === undefined || newer.length === 0) return undefined;
  const records = newer.reduce((sum, part) => sum + part.records, 0);
  // Below that a full level is as good, and costs less.
  const isLarge = oldest.level > 0;
  return isLarge && records > oldest.records ? { from: 0, to: parts.length - 1 } : undefined;
}
