import { MIB } from "@ehdb/contracts";
import type { BlockPlace } from "./block.ts";
import type { SectionCursor } from "./block-index.ts";
import { run, runSoon } from "./lookup.ts";
import type { PartFile } from "./part-file.ts";
import type { Position } from "./position.ts";

export interface BlockWalk {
  readonly direction: "forwards" | "backwards";
  /** Where to begin; `undefined`: at the end that the direction comes from. */
  readonly target: Position | undefined;
  /** Whether nothing behind the block that a cursor is at is wanted. Asked going forwards. */
  isLast(at: SectionCursor): boolean;
  /** Whether nothing in that block is wanted. Asked going backwards. */
  isBefore(at: SectionCursor): boolean;
  /** Read at a time at most, when less than usual. */
  readonly mostBytes?: number;
}

/** Blocks read at a time: few at first, for who wants little; then more, for who reads on. */
const mostRunBytes = MIB;
const growth = 4;

/** The blocks of a section one by one, as `readRuns` finds them. */
export async function* readAhead(
  file: PartFile,
  cursor: SectionCursor,
  walk: BlockWalk,
): AsyncGenerator<Buffer, void, undefined> {
  for await (const blocks of readRuns(file, cursor, walk)) yield* blocks;
}

/**
 * The blocks of a section, some at a time, in order or in reverse, from the one with the first cell at or behind the target; backwards from
 * the last one when there is no such cell. While some are used the next are on their way.
 */
export async function* readRuns(
  file: PartFile,
  cursor: SectionCursor,
  walk: BlockWalk,
): AsyncGenerator<readonly Buffer[], void, undefined> {
  const { target } = walk;
  const backwards = walk.direction === "backwards";
  const isThere = target !== undefined && (await run(cursor.seek(target), file));
  if (!isThere) {
    if (target !== undefined && !backwards) return;
    if (!(await run(cursor.seekEnd(backwards ? "last" : "first"), file))) return;
  }
  let blocks = 1;
  let next: Promise<Run> | undefined = nextRun(file, cursor, walk, blocks);
  while (next !== undefined) {
    const { loaded, isLast }: Run = await next;
    blocks *= growth;
    next = isLast ? undefined : nextRun(file, cursor, walk, blocks);
    // Whoever stops here never asks for it.
    next?.catch(() => undefined);
    yield loaded;
  }
}

interface Run {
  readonly loaded: readonly Buffer[];
  readonly isLast: boolean;
}

/** The block that the cursor is at and those that follow it; leaves the cursor behind them. */
async function nextRun(file: PartFile, cursor: SectionCursor, walk: BlockWalk, blocks: number): Promise<Run> {
  const backwards = walk.direction === "backwards";
  const places: BlockPlace[] = [];
  const most = Math.min(mostRunBytes, walk.mostBytes ?? Infinity);
  for (let bytes = 0; ;) {
    const { place } = cursor;
    places.push(place);
    bytes += place.bytes;
    const more = (backwards || !walk.isLast(cursor)) && (await runSoon(cursor.step(backwards ? -1 : 1), file));
    const isLast = !more || (backwards && walk.isBefore(cursor));
    if (isLast || places.length >= blocks || bytes + cursor.place.bytes > most)
      return { loaded: await file.loadRun(places), isLast };
  }
}
