import { isEhdbError, MIB } from "@ehdb/contracts";
import { BLOCK_HEADER_BYTES, statedPlace } from "./block.ts";
import type { PartDamage } from "./part-damage.ts";
import type { OpenedPart, PartFile } from "./part-file.ts";
import { PART_FOOTER_BYTES, PART_HEADER_BYTES } from "./part-format.ts";
import { verifySections } from "./verify-sections.ts";

/**
 * Reads a part from front to back and tells of every damage: each block by itself, and when all of them are whole, whether they say the
 * same: the order, the index, the blooms, postings and ids against the data, and the footer's counts.
 */
export async function verifyPart(file: PartFile, onDamage: (damage: PartDamage) => void): Promise<void> {
  const report = (error: unknown): void => {
    if (!isEhdbError(error, "CORRUPT")) throw error;
    const { offset, reason } = error.data;
    onDamage({ file: file.path, offset: Number(offset), reason: String(reason) });
  };
  try {
    const opened = await file.readEnds();
    if (await eachBlock(file, opened, report)) await verifySections(file, opened);
  } catch (error) {
    report(error);
  }
}

/** Every block by itself. CORRUPT for the first that isn't whole. */
export async function verifyBlocks(file: PartFile): Promise<void> {
  await eachBlock(file, await file.readEnds(), (error) => {
    throw error;
  });
}

/** Every block by itself, one behind the other from the header to the footer; false when one was reported. */
async function eachBlock(file: PartFile, opened: OpenedPart, report: (error: unknown) => void): Promise<boolean> {
  const end = file.meta.fileBytes - PART_FOOTER_BYTES;
  const window = new Window(file);
  let blocks = 0;
  let whole = true;
  for (let at = PART_HEADER_BYTES; at < end; blocks++) {
    const place = statedPlace(await window.read(at, BLOCK_HEADER_BYTES), at);
    if (place === undefined || at + place.bytes > end) {
      report(file.corrupt(at, "a block's header is damaged, so those behind it can't be found"));
      return false;
    }
    try {
      file.decode(await window.read(at, place.bytes), place, opened.codec);
    } catch (error) {
      report(error);
      whole = false;
    }
    at += place.bytes;
  }
  if (whole && blocks !== opened.footer.blocks) {
    report(file.corrupt(end, `the file has ${blocks} blocks, and its footer says ${opened.footer.blocks}`));
    return false;
  }
  return whole;
}

/** Reads a file from the front in large pieces. */
class Window {
  readonly #file: PartFile;
  #bytes: Buffer = Buffer.alloc(0);
  #start = 0;

  constructor(file: PartFile) {
    this.#file = file;
  }

  /** A view; short at the end of the file. */
  async read(offset: number, bytes: number): Promise<Buffer> {
    if (offset < this.#start || offset + bytes > this.#start + this.#bytes.length) {
      this.#bytes = await this.#file.readBytes(offset, Math.max(bytes, MIB));
      this.#start = offset;
    }
    return this.#bytes.subarray(offset - this.#start, offset - this.#start + bytes);
  }
}
