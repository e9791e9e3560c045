import { KIB, MIB } from "@ehdb/contracts";
import type { BlockKind } from "./block.ts";
import { SectionCursor } from "./block-index.ts";
import type { PartFile } from "./part-file.ts";
import type { Section } from "./part-format.ts";
import type { CellOrder, Position } from "./position.ts";
import { readAhead } from "./read-ahead.ts";
import { slotAt, slotCount, slotEnd } from "./slots.ts";

/** What streams that are read side by side read at a time, together; and each of them at least. */
const besideBytes = 16 * MIB;
const leastBytes = 64 * KIB;

/** All cells of a section, from the first to the last: within a block without waiting. */
export class CellStream {
  block: Buffer = Buffer.alloc(0);
  readonly #blocks: AsyncGenerator<Buffer, void, undefined>;
  readonly #order: CellOrder;
  #slot = 0;
  #slots = 0;
  #position: Position | undefined;

  /** @param beside how many streams are read side by side with this one, itself among them */
  constructor(file: PartFile, section: Section, kind: BlockKind, order: CellOrder, beside: number = 1) {
    this.#order = order;
    this.#blocks = readAhead(file, new SectionCursor(section, kind), {
      direction: "forwards",
      target: undefined,
      isLast: () => false,
      isBefore: () => false,
      mostBytes: Math.max(leastBytes, besideBytes / beside),
    });
  }

  /** Goes to the first cell of the next block; false at the end. */
  async load(): Promise<boolean> {
    const next = await this.#blocks.next();
    if (next.done === true) return false;
    this.block = next.value;
    this.#slot = 0;
    this.#slots = slotCount(this.block);
    this.#position = undefined;
    return true;
  }

  /** Goes to the next cell of the block; false when there is none, and `load` is due. */
  advance(): boolean {
    this.#position = undefined;
    return ++this.#slot < this.#slots;
  }

  /** The cell's offset in the block. */
  get at(): number {
    return slotAt(this.block, this.#slot);
  }

  get end(): number {
    return slotEnd(this.block, this.#slot);
  }

  /** Views of the block. */
  get position(): Position {
    return (this.#position ??= this.#order.position(this.block, this.at));
  }

  async close(): Promise<void> {
    await this.#blocks.return();
  }
}
