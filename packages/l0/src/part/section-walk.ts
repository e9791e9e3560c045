import type { BlockKind, BlockPlace } from "./block.ts";
import { indexCells, indexedPlace } from "./block-index.ts";
import type { PartFile } from "./part-file.ts";
import type { Section } from "./part-format.ts";
import { comparePositions } from "./position.ts";
import type { CellOrder, Position } from "./position.ts";
import { slotAt, slotCount, slotEnd } from "./slots.ts";

type Visit = (block: Buffer, at: number, end: number, place: BlockPlace) => void;

/** Walks a whole section from its root, from the disk, and checks what holds of any: order, index and counts. Throws CORRUPT. */
export class SectionWalk {
  /** Blocks that were met, index blocks included. */
  blocks = 0;
  readonly #file: PartFile;
  readonly #section: Section;
  readonly #kind: BlockKind;
  readonly #order: CellOrder;
  #leaves = 0;
  #cells = 0;
  #before: Position | undefined;

  constructor(file: PartFile, section: Section, kind: BlockKind, order: CellOrder) {
    this.#file = file;
    this.#section = section;
    this.#kind = kind;
    this.#order = order;
  }

  async visit(visit: Visit): Promise<void> {
    const { root, depth, blocks, cells } = this.#section;
    if (depth > 0) await this.#walk(root, depth, visit);
    if (this.#leaves !== blocks || this.#cells !== cells)
      throw this.#file.corrupt(root.offset, `the ${this.#kind} section has other counts than the footer says`);
  }

  /** Returns the position of the last cell below. */
  async #walk(place: BlockPlace, level: number, visit: Visit): Promise<Position> {
    const block = await this.#file.read(place);
    this.blocks++;
    const order = level === 0 ? this.#order : indexCells;
    if (level === 0) this.#leaves++;
    let last: Position | undefined;
    for (let slot = 0; slot < slotCount(block); slot++) {
      const at = slotAt(block, slot);
      const end = slotEnd(block, slot);
      if (end <= at) throw this.#file.corrupt(place.offset, "the cells of a block don't follow each other");
      last = order.position(block, at);
      if (level > 0) await this.#below(block, at, last, level - 1, visit);
      else this.#cell(block, at, end, place, last, visit);
    }
    return last as Position;
  }

  async #below(block: Buffer, at: number, last: Position, level: number, visit: Visit): Promise<void> {
    const child = indexedPlace(block, at, level === 0 ? this.#kind : "index");
    const found = await this.#walk(child, level, visit);
    if (comparePositions(found, last) !== 0)
      throw this.#file.corrupt(child.offset, "a block doesn't end where its index says");
  }

  #cell(block: Buffer, at: number, end: number, place: BlockPlace, position: Position, visit: Visit): void {
    if (this.#before !== undefined && comparePositions(this.#before, position) >= 0)
      throw this.#file.corrupt(place.offset, "cells are out of order");
    this.#before = position;
    this.#cells++;
    visit(block, at, end, place);
  }
}
