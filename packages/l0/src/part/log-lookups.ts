import type { LogRecord } from "@ehdb/contracts";
import { ENTRY_HEADER_BYTES, sortAt } from "../envelope.ts";
import { SectionCursor } from "./block-index.ts";
import { mayHold } from "./bloom.ts";
import { logEntries } from "./entry-cells.ts";
import { EntryRecord, viewOf } from "./entry-record.ts";
import { idCells, isIdOf, storedIdAt } from "./ids-section.ts";
import type { FoundId } from "./ids-section.ts";
import { run, runCached } from "./lookup.ts";
import type { Lookup } from "./lookup.ts";
import type { PartFile } from "./part-file.ts";
import type { PartFooter } from "./part-format.ts";
import { noBytes } from "./position.ts";
import type { Position } from "./position.ts";
import { isPostingOf, pieceAt, postingCells, versionRangeAt } from "./postings.ts";
import type { Piece, VersionRange } from "./postings.ts";
import { readRuns } from "./read-ahead.ts";
import type { SearchId, SearchKey } from "./search-key.ts";
import { lowerBound, SLOT_BYTES, slotAt, slotCount, slotEnd, tableAt } from "./slots.ts";

/** Blocks that the records given at a time may lie in: about 1 MiB. */
const mostBlocks = 64;
/** When they are so many, they are given: who deals with them has the event loop for as long. */
const enoughRecords = 2048;

export type Direction = "forwards" | "backwards";

/** Positions, or versions, from `from` to `to`, both included, whichever the direction. Default: all. */
export interface RangeOptions {
  readonly from?: number;
  readonly to?: number;
  readonly direction?: Direction;
}

export function recordAt(file: PartFile, sort: number): Promise<LogRecord | null> {
  return file.run("by-sort", function* ({ data }): Lookup<LogRecord | null> {
    const target = bySort(sort);
    const cursor = new SectionCursor(data, "data");
    if (!(yield* cursor.seek(target))) return null;
    const block = yield cursor.place;
    const at = slotAt(block, lowerBound(block, logEntries, target));
    return sortAt(block, at + ENTRY_HEADER_BYTES) === sort ? new EntryRecord(block, at, viewOf(block)) : null;
  });
}

export async function* scanLog(file: PartFile, options: RangeOptions): AsyncGenerator<LogRecord[], void, undefined> {
  const { from = 0, to = Infinity, direction = "forwards" } = options;
  const { data } = await file.footerOf("by-sort");
  file.counts.scanned++;
  const runs = readRuns(file, new SectionCursor(data, "data"), {
    direction,
    target: bySort(direction === "forwards" ? from : to),
    isLast: (at) => at.lastTail >= to,
    isBefore: (at) => at.lastTail < from,
  });
  for await (const blocks of runs) {
    let records: LogRecord[] = [];
    for (const block of blocks) {
      addRange(block, from, to, direction, records);
      if (records.length < enoughRecords) continue;
      yield records;
      records = [];
    }
    if (records.length > 0) yield records;
  }
}

/** Takes the block's records whose positions are in a range. */
function addRange(block: Buffer, from: number, to: number, direction: Direction, into: LogRecord[]): void {
  const low = from <= 0 ? 0 : lowerBound(block, logEntries, bySort(from));
  const high = to === Infinity ? slotCount(block) : lowerBound(block, logEntries, bySort(to + 1));
  const view = viewOf(block);
  const table = tableAt(block);
  const at = (slot: number): number => view.getUint32(table + SLOT_BYTES * slot, true);
  if (direction === "forwards") for (let i = low; i < high; i++) into.push(new EntryRecord(block, at(i), view));
  else for (let i = high - 1; i >= low; i--) into.push(new EntryRecord(block, at(i), view));
}

export async function* readKey(
  file: PartFile,
  key: SearchKey,
  options: RangeOptions,
): AsyncGenerator<LogRecord[], void, undefined> {
  const { direction = "forwards" } = options;
  const range = await file.run("by-sort", (footer) => findVersions(file, footer, key));
  if (range === null) return;
  const first = Math.max(range.first, options.from ?? 0);
  const last = Math.min(range.last, options.to ?? Infinity);
  let version = direction === "forwards" ? first : last;
  while (version >= first && version <= last) {
    const at = version;
    const piece = await file.run("by-sort", (footer) => findPiece(file, footer, key, at));
    const low = Math.max(first, piece.firstVersion) - piece.firstVersion;
    const high = Math.min(last, piece.firstVersion + piece.sorts.length - 1) - piece.firstVersion;
    const sorts = piece.sorts.slice(low, high + 1);
    yield* recordsAt(file, direction === "forwards" ? sorts : sorts.reverse(), direction);
    version = direction === "forwards" ? piece.firstVersion + high + 1 : piece.firstVersion + low - 1;
  }
}

export function* findVersions(file: PartFile, footer: PartFooter, key: SearchKey): Lookup<VersionRange | null> {
  if (!(yield* mayHold(footer.keyBloom, "keyBloom", key.hash))) return file.prunedByBloom();
  const target: Position = { first: key.bytes, second: noBytes, tail: -Infinity };
  const cursor = new SectionCursor(footer.postings, "postings");
  if (!(yield* cursor.seek(target))) return null;
  const block = yield cursor.place;
  file.counts.scanned++;
  const at = slotAt(block, lowerBound(block, postingCells, target));
  return isPostingOf(block, at, key.bytes) ? versionRangeAt(block, at) : null;
}

export function* findId(file: PartFile, footer: PartFooter, id: SearchId): Lookup<FoundId | null> {
  if (!(yield* mayHold(footer.idBloom, "idBloom", id.hash))) return file.prunedByBloom();
  const target: Position = { first: id.bytes, second: id.key.bytes, tail: -Infinity };
  const cursor = new SectionCursor(footer.ids, "ids");
  if (!(yield* cursor.seek(target))) return null;
  const block = yield cursor.place;
  file.counts.scanned++;
  const slot = lowerBound(block, idCells, target);
  const at = slotAt(block, slot);
  if (!isIdOf(block, at, id.bytes, id.key.bytes)) return null;
  const found = storedIdAt(block, at, slotEnd(block, slot));
  const time = found.time ?? (yield* timeOf(file, footer, found.sort));
  return { ...found, version: Math.abs(found.version), time };
}

/** Of a record that is there. */
export function* timeOf(file: PartFile, footer: PartFooter, sort: number): Lookup<number> {
  const block = yield* dataBlock(file, new SectionCursor(footer.data, "data"), sort);
  return recordIn(file, block, viewOf(block), sort).time;
}

/** The posting that holds a version which the key has. */
function* findPiece(file: PartFile, footer: PartFooter, key: SearchKey, version: number): Lookup<Piece> {
  const target: Position = { first: key.bytes, second: noBytes, tail: version };
  const cursor = new SectionCursor(footer.postings, "postings");
  if (!(yield* cursor.seek(target))) throw file.corrupt(footer.postings.root.offset, "a posting is missing");
  const { place } = cursor;
  const block = yield place;
  const slot = lowerBound(block, postingCells, target);
  const at = slotAt(block, slot);
  const piece = isPostingOf(block, at, key.bytes) ? pieceAt(block, at, slotEnd(block, slot)) : undefined;
  if (piece === undefined || piece.firstVersion > version)
    throw file.corrupt(place.offset, "a posting doesn't hold the versions that it states");
  return piece;
}

/** The records at `sorts`, which stand in the order of reading; those of one block at a time, and the next block is on its way. */
async function* recordsAt(
  file: PartFile,
  sorts: readonly number[],
  direction: Direction,
): AsyncGenerator<LogRecord[], void, undefined> {
  const { data } = await file.footerOf("by-sort");
  const cursor = new SectionCursor(data, "data");
  for (let i = 0; i < sorts.length;) {
    const records: LogRecord[] = [];
    let loading: Promise<Buffer> | undefined;
    for (let blocks = 0; i < sorts.length && blocks < mostBlocks && records.length < enoughRecords; blocks++) {
      const wanted = dataBlock(file, cursor, sorts[i] as number);
      const cached = runCached(wanted, file);
      if (cached === undefined) {
        loading = run(dataBlock(file, cursor, sorts[i] as number), file);
        break;
      }
      i = addRecords(file, cached, sorts, i, direction, records);
    }
    // Whoever stops reading here never asks for it.
    loading?.catch(() => undefined);
    if (records.length > 0) yield records;
    if (loading === undefined) continue;
    const loaded: LogRecord[] = [];
    i = addRecords(file, await loading, sorts, i, direction, loaded);
    yield loaded;
  }
}

/** Takes what of `sorts` from `from` on is in the block; returns where the rest begins. */
function addRecords(
  file: PartFile,
  block: Buffer,
  sorts: readonly number[],
  from: number,
  direction: Direction,
  into: LogRecord[],
): number {
  const edge = sortAt(block, slotAt(block, direction === "forwards" ? slotCount(block) - 1 : 0) + ENTRY_HEADER_BYTES);
  const view = viewOf(block);
  let i = from;
  let sort = sorts[i] as number;
  do {
    into.push(recordIn(file, block, view, sort));
    sort = sorts[++i] as number;
  } while (i < sorts.length && (direction === "forwards" ? sort <= edge : sort >= edge));
  return i;
}

function recordIn(file: PartFile, block: Buffer, view: DataView, sort: number): LogRecord {
  const slot = slotOf(block, sort);
  const record = slot < slotCount(block) ? new EntryRecord(block, slotAt(block, slot), view) : undefined;
  if (record?.sort !== sort) throw file.corrupt(0, `a posting names position ${sort}, where nothing is`);
  return record;
}

/** Where the record at a position is, or would be. Positions follow each other as long as no record between them is gone. */
function slotOf(block: Buffer, sort: number): number {
  const ifDense = sort - sortAt(block, slotAt(block, 0) + ENTRY_HEADER_BYTES);
  const isThere =
    ifDense >= 0 && ifDense < slotCount(block) && sortAt(block, slotAt(block, ifDense) + ENTRY_HEADER_BYTES) === sort;
  return isThere ? ifDense : lowerBound(block, logEntries, bySort(sort));
}

function* dataBlock(file: PartFile, cursor: SectionCursor, sort: number): Lookup<Buffer> {
  if (!(yield* cursor.seek(bySort(sort))))
    throw file.corrupt(0, `a posting names position ${sort}, which is beyond the last`);
  return yield cursor.place;
}

function bySort(sort: number): Position {
  return { first: noBytes, second: noBytes, tail: sort };
}
