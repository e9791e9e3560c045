/**
 * The index of a section: a cell a block, with the block's last position and its place; over several index blocks another level,
 * until one block is the root. By last positions, what stands at or behind a target is always in the block that is found.
 *
 *     cell := u16 bytes, first | u16 bytes, second | f64 tail | f64 offset | u32 bytes
 */
import type { BlockKind, BlockPlace } from "./block.ts";
import type { Lookup } from "./lookup.ts";
import type { Section } from "./part-format.ts";
import { compareBytes } from "./position.ts";
import type { CellOrder, Position } from "./position.ts";
import { lowerBound, slotAt, slotCount } from "./slots.ts";

export const indexCells: CellOrder = {
  compare(block, at, target) {
    const firstBytes = u16At(block, at);
    const byFirst = compareBytes(block, at + 2, firstBytes, target.first);
    if (byFirst !== 0) return byFirst;
    const second = at + 2 + firstBytes;
    const secondBytes = u16At(block, second);
    const bySecond = compareBytes(block, second + 2, secondBytes, target.second);
    return bySecond !== 0 ? bySecond : block.readDoubleLE(second + 2 + secondBytes) - target.tail;
  },
  position(block, at) {
    const second = at + 2 + block.readUInt16LE(at);
    const tail = second + 2 + block.readUInt16LE(second);
    return {
      first: block.subarray(at + 2, second),
      second: block.subarray(second + 2, tail),
      tail: block.readDoubleLE(tail),
    };
  },
};

/** A search compares many cells, and Buffer's own reading checks each time. */
function u16At(block: Buffer, at: number): number {
  return (block[at] as number) | ((block[at + 1] as number) << 8);
}

export function indexCellBytes({ first, second }: Position): number {
  return 24 + first.length + second.length;
}

export function writeIndexCell(into: Buffer, at: number, last: Position, place: BlockPlace): void {
  into.writeUInt16LE(last.first.length, at);
  into.set(last.first, at + 2);
  const second = at + 2 + last.first.length;
  into.writeUInt16LE(last.second.length, second);
  into.set(last.second, second + 2);
  const tail = second + 2 + last.second.length;
  into.writeDoubleLE(last.tail, tail);
  into.writeDoubleLE(place.offset, tail + 8);
  into.writeUInt32LE(place.bytes, tail + 16);
}

/** The place in a cell; the kind is that of the section. */
export function indexedPlace(block: Buffer, at: number, kind: BlockKind): BlockPlace {
  const tail = tailOffset(block, at);
  return { kind, offset: block.readDoubleLE(tail + 8), bytes: block.readUInt32LE(tail + 16) };
}

function tailOffset(block: Buffer, at: number): number {
  const second = at + 2 + block.readUInt16LE(at);
  return second + 2 + block.readUInt16LE(second);
}

/** Walks the blocks of a section, either way. */
export class SectionCursor {
  readonly #section: Section;
  readonly #kind: BlockKind;
  /** From the root down. */
  readonly #blocks: Buffer[] = [];
  readonly #slots: number[] = [];

  constructor(section: Section, kind: BlockKind) {
    this.#section = section;
    this.#kind = kind;
  }

  /** The block that the cursor is at. */
  get place(): BlockPlace {
    return this.#child(this.#section.depth - 1);
  }

  /** The position of the last cell in that block. */
  get last(): Position {
    return indexCells.position(this.#leaf, this.#leafCell);
  }

  /** The number in that position. */
  get lastTail(): number {
    return this.#leaf.readDoubleLE(tailOffset(this.#leaf, this.#leafCell));
  }

  /** Goes to the block with the first cell at or behind `target`; false when there is none. */
  *seek(target: Position): Lookup<boolean> {
    const { depth, root } = this.#section;
    if (depth === 0) return false;
    let block = yield root;
    for (let level = 0; ; level++) {
      const slot = lowerBound(block, indexCells, target);
      if (slot === slotCount(block)) return false;
      this.#blocks[level] = block;
      this.#slots[level] = slot;
      if (level === depth - 1) return true;
      block = yield this.#child(level);
    }
  }

  /** Goes to the first or the last block; false when the section is empty. */
  *seekEnd(end: "first" | "last"): Lookup<boolean> {
    if (this.#section.depth === 0) return false;
    this.#blocks[0] = yield this.#section.root;
    this.#slots[0] = this.#endSlot(0, end);
    yield* this.#descend(0, end);
    return true;
  }

  /** Goes one block on, or back; false when there is none that way, and then it stays. */
  *step(by: 1 | -1): Lookup<boolean> {
    for (let level = this.#section.depth - 1; level >= 0; level--) {
      const slot = (this.#slots[level] as number) + by;
      if (slot < 0 || slot >= slotCount(this.#blocks[level] as Buffer)) continue;
      this.#slots[level] = slot;
      yield* this.#descend(level, by === 1 ? "first" : "last");
      return true;
    }
    return false;
  }

  *#descend(from: number, end: "first" | "last"): Lookup<void> {
    for (let level = from + 1; level < this.#section.depth; level++) {
      this.#blocks[level] = yield this.#child(level - 1);
      this.#slots[level] = this.#endSlot(level, end);
    }
  }

  #endSlot(level: number, end: "first" | "last"): number {
    return end === "first" ? 0 : slotCount(this.#blocks[level] as Buffer) - 1;
  }

  get #leaf(): Buffer {
    return this.#blocks[this.#section.depth - 1] as Buffer;
  }

  get #leafCell(): number {
    return slotAt(this.#leaf, this.#slots[this.#section.depth - 1] as number);
  }

  #child(level: number): BlockPlace {
    const block = this.#blocks[level] as Buffer;
    const kind = level === this.#section.depth - 1 ? this.#kind : "index";
    return indexedPlace(block, slotAt(block, this.#slots[level] as number), kind);
  }
}
