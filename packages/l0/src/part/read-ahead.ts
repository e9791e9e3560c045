import type { SectionCursor } from "./block-index.ts";
import { run } from "./lookup.ts";
import type { BlockSource } from "./lookup.ts";
import type { Position } from "./position.ts";

export interface BlockWalk {
  readonly direction: "forwards" | "backwards";
  /** Where to begin; `undefined`: at the end that the direction comes from. */
  readonly target: Position | undefined;
  /** Whether nothing behind a block whose last position is this is wanted. Asked going forwards. */
  isLast(last: Position): boolean;
  /** Whether nothing in such a block is wanted. Asked going backwards. */
  isBefore(last: Position): boolean;
}

/**
 * The blocks of a section, in order or in reverse, from the one with the first cell at or behind the target; backwards from the last one
 * when there is no such cell. While one is used the next is on its way.
 */
export async function* readAhead(
  source: BlockSource,
  cursor: SectionCursor,
  walk: BlockWalk,
): AsyncGenerator<Buffer, void, undefined> {
  const { target } = walk;
  const backwards = walk.direction === "backwards";
  const isThere = target !== undefined && (await run(cursor.seek(target), source));
  if (!isThere) {
    if (target !== undefined && !backwards) return;
    if (!(await run(cursor.seekEnd(backwards ? "last" : "first"), source))) return;
  }
  let next: Promise<Buffer> | Buffer | undefined = source.peek(cursor.place) ?? source.load(cursor.place);
  while (next !== undefined) {
    const block: Buffer = await next;
    next = undefined;
    const more = backwards || !walk.isLast(cursor.last) ? await run(cursor.step(backwards ? -1 : 1), source) : false;
    if (more && !(backwards && walk.isBefore(cursor.last))) {
      next = source.peek(cursor.place) ?? source.load(cursor.place);
      // Whoever stops here never asks for it.
      if (next instanceof Promise) next.catch(() => undefined);
    }
    yield block;
  }
}
