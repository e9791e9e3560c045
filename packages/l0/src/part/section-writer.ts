import { crc32 } from "node:zlib";
import { EhdbError } from "@ehdb/contracts";
import { BLOCK_HEADER_BYTES, blockRoom, encodeBlock } from "./block.ts";
import type { BlockCodec, BlockKind, BlockPlace } from "./block.ts";
import { indexCellBytes, indexCells, writeIndexCell } from "./block-index.ts";
import type { PartCipher } from "./part-cipher.ts";
import { MAX_PART_BYTES } from "./part-format.ts";
import type { Section } from "./part-format.ts";
import type { CellOrder, Position } from "./position.ts";
import { slotAt, slotCount, SlottedWriter } from "./slots.ts";

/** The file as it is written: from the front to the back, each byte once. */
export class PartOutput {
  offset = 0;
  blocks = 0;
  readonly #sink: (bytes: Uint8Array) => void;
  readonly #codec: BlockCodec;
  readonly #compress: boolean;

  constructor(
    sink: (bytes: Uint8Array) => void,
    salt: Uint8Array,
    cipher: PartCipher | undefined,
    compression: "none" | "deflate",
  ) {
    this.#sink = sink;
    this.#codec = { seed: crc32(salt), cipher };
    this.#compress = compression === "deflate";
  }

  get seed(): number {
    return this.#codec.seed;
  }

  write(bytes: Uint8Array): void {
    this.#sink(bytes);
    this.offset += bytes.length;
    if (this.offset > MAX_PART_BYTES) {
      throw new EhdbError("TOO_LARGE", `a part would be larger than ${MAX_PART_BYTES} bytes: build several`, {
        maxBytes: MAX_PART_BYTES,
      });
    }
  }

  /** Blooms are never compressed: half of their bits are set, and partitions are found by their size. */
  writeBlock(kind: BlockKind, room: Buffer, plainBytes: number): BlockPlace {
    const offset = this.offset;
    const compress = this.#compress && kind !== "keyBloom" && kind !== "idBloom";
    const block = encodeBlock(room, plainBytes, { kind, offset, compress }, this.#codec);
    this.write(block);
    this.blocks++;
    return { kind, offset, bytes: block.length };
  }
}

/** Writes cells into blocks, and their index beside: an index block goes out as soon as it's full, so memory is a block a level. */
export class SectionWriter {
  readonly #output: PartOutput;
  readonly #kind: BlockKind;
  readonly #order: CellOrder;
  readonly #leaf = new SlottedWriter();
  readonly #levels: SlottedWriter[] = [];
  #blocks = 0;
  #cells = 0;

  /** @param order that of the cells, which come in it */
  constructor(output: PartOutput, kind: BlockKind, order: CellOrder) {
    this.#output = output;
    this.#kind = kind;
    this.#order = order;
  }

  /** Where the cell that was placed is to be written. */
  get bytes(): Buffer {
    return this.#leaf.bytes;
  }

  /** Makes room for a cell and returns its offset in `bytes`; the caller writes it before anything else. */
  place(cellBytes: number): number {
    if (!this.#leaf.isEmpty && !this.#leaf.fits(cellBytes)) this.#flushLeaf();
    this.#cells++;
    return this.#leaf.place(cellBytes);
  }

  /** Takes a whole block of cells as it is; returns how many they are. */
  placeBlock(block: Buffer): number {
    if (!this.#leaf.isEmpty) this.#flushLeaf();
    const room = blockRoom(block.length);
    block.copy(room, BLOCK_HEADER_BYTES);
    const cells = slotCount(block);
    const last = this.#order.position(block, slotAt(block, cells - 1));
    this.#index(0, last, this.#output.writeBlock(this.#kind, room, block.length));
    this.#blocks++;
    this.#cells += cells;
    return cells;
  }

  finish(): Section {
    if (!this.#leaf.isEmpty) this.#flushLeaf();
    const empty: BlockPlace = { kind: "index", offset: 0, bytes: 0 };
    let root = empty;
    for (let level = 0; level < this.#levels.length; level++) root = this.#flushLevel(level);
    return { root, depth: this.#levels.length, blocks: this.#blocks, cells: this.#cells };
  }

  #flushLeaf(): void {
    const last = this.#order.position(this.#leaf.bytes, this.#leaf.last);
    const { room, plainBytes } = this.#leaf.take();
    // The position is a view of the room, which encryption overwrites.
    const kept = { ...last, first: Uint8Array.from(last.first), second: Uint8Array.from(last.second) };
    this.#index(0, kept, this.#output.writeBlock(this.#kind, room, plainBytes));
    this.#blocks++;
  }

  /** The top level's one block is the root; any other is named in the level above. */
  #flushLevel(level: number): BlockPlace {
    const writer = this.#levels[level] as SlottedWriter;
    const last = indexCells.position(writer.bytes, writer.last);
    const kept = { ...last, first: Uint8Array.from(last.first), second: Uint8Array.from(last.second) };
    const { room, plainBytes } = writer.take();
    const place = this.#output.writeBlock("index", room, plainBytes);
    if (level + 1 < this.#levels.length) this.#index(level + 1, kept, place);
    return place;
  }

  #index(level: number, last: Position, place: BlockPlace): void {
    const writer = (this.#levels[level] ??= new SlottedWriter());
    const cellBytes = indexCellBytes(last);
    if (!writer.isEmpty && !writer.fits(cellBytes)) {
      if (level + 1 === this.#levels.length) this.#levels.push(new SlottedWriter());
      this.#flushLevel(level);
    }
    writeIndexCell(writer.bytes, writer.place(cellBytes), last, place);
  }
}
