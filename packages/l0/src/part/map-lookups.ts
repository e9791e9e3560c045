import { SectionCursor } from "./block-index.ts";
import { mayHold } from "./bloom.ts";
import { mapEntries, mapEntryAt } from "./entry-cells.ts";
import type { MapEntry } from "./entry-cells.ts";
import type { Direction } from "./log-lookups.ts";
import type { Lookup } from "./lookup.ts";
import type { PartFile } from "./part-file.ts";
import type { PartFooter } from "./part-format.ts";
import { compareBytes, comparePositions, noBytes } from "./position.ts";
import type { Position } from "./position.ts";
import { readAhead } from "./read-ahead.ts";
import type { SearchKey } from "./search-key.ts";
import { lowerBound, slotAt, slotCount } from "./slots.ts";

export interface KeyRangeOptions {
  /** UTF-8 of the first key, included. Default: the first there is. */
  readonly from?: Uint8Array | undefined;
  /** UTF-8 of the key to stop before. Default: none. */
  readonly before?: Uint8Array | undefined;
  /** `backwards` is the exact reverse: of one key, from the oldest revision to the newest. */
  readonly direction?: Direction | undefined;
}

export async function* scanMap(file: PartFile, options: KeyRangeOptions): AsyncGenerator<MapEntry[], void, undefined> {
  const { from = noBytes, before, direction = "forwards" } = options;
  const { data } = await file.footerOf("by-key");
  file.counts.scanned++;
  const start = inFrontOf(from);
  const stop = before === undefined ? undefined : inFrontOf(before);
  const blocks = readAhead(file, new SectionCursor(data, "data"), {
    direction,
    target: direction === "forwards" ? start : stop,
    isLast: ({ last }) => stop !== undefined && comparePositions(last, stop) >= 0,
    isBefore: ({ last }) => compareBytes(last.first, 0, last.first.length, from) < 0,
  });
  for await (const block of blocks) {
    const low = from.length === 0 ? 0 : lowerBound(block, mapEntries, start);
    const high = stop === undefined ? slotCount(block) : lowerBound(block, mapEntries, stop);
    const entries: MapEntry[] = [];
    if (direction === "forwards") for (let i = low; i < high; i++) entries.push(mapEntryAt(block, slotAt(block, i)));
    else for (let i = high - 1; i >= low; i--) entries.push(mapEntryAt(block, slotAt(block, i)));
    if (entries.length > 0) yield entries;
  }
}

/** The newest entry of a key at or below a revision. */
export function* findEntry(
  file: PartFile,
  footer: PartFooter,
  key: SearchKey,
  atRevision: number,
): Lookup<MapEntry | null> {
  if (!(yield* mayHold(footer.keyBloom, "keyBloom", key.hash))) return file.prunedByBloom();
  const target: Position = { first: key.bytes, second: noBytes, tail: -atRevision };
  const cursor = new SectionCursor(footer.data, "data");
  if (!(yield* cursor.seek(target))) return null;
  const block = yield cursor.place;
  file.counts.scanned++;
  const at = slotAt(block, lowerBound(block, mapEntries, target));
  const { first } = mapEntries.position(block, at);
  return compareBytes(first, 0, first.length, key.bytes) === 0 ? mapEntryAt(block, at) : null;
}

/** In front of every version of a key. */
function inFrontOf(key: Uint8Array): Position {
  return { first: key, second: noBytes, tail: -Infinity };
}
