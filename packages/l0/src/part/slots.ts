/**
 * How every block but a bloom's is laid out: cells, then the offset of each as a u32, then their number as a u32. So a cell is found
 * by binary search.
 */
import { BLOCK_HEADER_BYTES, blockRoom, TARGET_PLAIN_BYTES } from "./block.ts";
import type { CellOrder, Position } from "./position.ts";

/** Of an offset in the table of a block's slots. */
export const SLOT_BYTES = 4;

export function slotCount(block: Buffer): number {
  return block.readUInt32LE(block.length - SLOT_BYTES);
}

/** Where the offsets of the cells begin. */
export function tableAt(block: Buffer): number {
  return block.length - SLOT_BYTES * (1 + slotCount(block));
}

/** The offset of a cell. */
export function slotAt(block: Buffer, slot: number): number {
  return block.readUInt32LE(block.length - SLOT_BYTES * (1 + slotCount(block) - slot));
}

/** The offset behind a cell. */
export function slotEnd(block: Buffer, slot: number): number {
  return slot + 1 < slotCount(block) ? slotAt(block, slot + 1) : tableAt(block);
}

/** Whether the cells stand one behind the other, and there is at least one. */
export function isSlotted(block: Buffer): boolean {
  if (block.length < 2 * SLOT_BYTES) return false;
  const count = slotCount(block);
  if (count === 0 || (count + 1) * SLOT_BYTES > block.length) return false;
  return slotAt(block, 0) === 0 && slotAt(block, count - 1) < tableAt(block);
}

/** The first slot whose cell stands at or behind `target`; the number of slots when there is none. */
export function lowerBound(block: Buffer, order: CellOrder, target: Position): number {
  let low = 0;
  let high = slotCount(block);
  const table = tableAt(block);
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (order.compare(block, block.readUInt32LE(table + SLOT_BYTES * middle), target) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Fills one block after the other. */
export class SlottedWriter {
  /** Where the cells are: the block's room. */
  bytes: Buffer = blockRoom(TARGET_PLAIN_BYTES);
  #end = BLOCK_HEADER_BYTES;
  #slots: number[] = [];

  get isEmpty(): boolean {
    return this.#slots.length === 0;
  }

  /** The last cell's offset in `bytes`. */
  get last(): number {
    return this.#slots.at(-1) as number;
  }

  fits(cellBytes: number): boolean {
    return this.#plainBytes(cellBytes, 1) <= TARGET_PLAIN_BYTES;
  }

  /** Makes room for a cell and returns its offset in `bytes`. One that doesn't fit must be its block's only one. */
  place(cellBytes: number): number {
    if (this.isEmpty && !this.fits(cellBytes)) this.bytes = blockRoom(this.#plainBytes(cellBytes, 1));
    const at = this.#end;
    this.#slots.push(at);
    this.#end += cellBytes;
    return at;
  }

  /** The block's room, full, and its plain bytes; the writer begins another. */
  take(): { readonly room: Buffer; readonly plainBytes: number } {
    const room = this.bytes;
    let end = this.#end;
    for (const slot of this.#slots) end = room.writeUInt32LE(slot - BLOCK_HEADER_BYTES, end);
    end = room.writeUInt32LE(this.#slots.length, end);
    this.bytes = blockRoom(TARGET_PLAIN_BYTES);
    this.#end = BLOCK_HEADER_BYTES;
    this.#slots = [];
    return { room, plainBytes: end - BLOCK_HEADER_BYTES };
  }

  #plainBytes(cellBytes: number, cells: number): number {
    return this.#end - BLOCK_HEADER_BYTES + cellBytes + SLOT_BYTES * (this.#slots.length + cells + 1);
  }
}
