/**
 * A place in the order of a section: by the bytes of `first`, then those of `second`, then rising `tail`. What a section doesn't
 * order by is empty or 0; an order that falls has its numbers negated.
 */
export interface Position {
  readonly first: Uint8Array;
  readonly second: Uint8Array;
  readonly tail: number;
}

export const noBytes: Uint8Array = new Uint8Array(0);

/** How the cells of a section stand in order. `at` is a cell's offset in its block. */
export interface CellOrder {
  /** Below 0 when the cell stands before `target`. */
  compare(block: Buffer, at: number, target: Position): number;
  /** Its bytes are views of the block. */
  position(block: Buffer, at: number): Position;
}

/** Compares `length` bytes of `block` from `start` with `target`; a prefix stands first. */
export function compareBytes(block: Uint8Array, start: number, length: number, target: Uint8Array): number {
  const shared = Math.min(length, target.length);
  for (let i = 0; i < shared; i++) {
    const difference = (block[start + i] as number) - (target[i] as number);
    if (difference !== 0) return difference;
  }
  return length - target.length;
}

export function comparePositions(one: Position, other: Position): number {
  return (
    compareBytes(one.first, 0, one.first.length, other.first) ||
    compareBytes(one.second, 0, one.second.length, other.second) ||
    one.tail - other.tail
  );
}
