import { crc32 } from "node:zlib";
import type { PartMeta } from "../meta.ts";
import { BLOCK_HEADER_BYTES, decodeBlock, statedPlace } from "./block.ts";
import { PartCipher } from "./part-cipher.ts";
import { corruptPart } from "./part-damage.ts";
import { decodePartFooter, decodePartHeader, PART_FOOTER_BYTES, PART_HEADER_BYTES } from "./part-format.ts";

/** The name of a part's file. */
export const partName = (id: number): string => `${String(id).padStart(12, "0")}.part`;

/** The id in the name of a part's file; `undefined` for another file. */
export function partIdIn(name: string): number | undefined {
  const digits = /^(\d{12})\.part$/.exec(name)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/**
 * Looks at every block of a part that was built in memory, before it's written: whether it can be read back, and whether the footer counts
 * it. CORRUPT for the first one that can't.
 */
export function verifyBuilt(bytes: Buffer, masterKey: Uint8Array | undefined): void {
  const file = "the part in memory";
  const header = decodePartHeader(bytes.subarray(0, PART_HEADER_BYTES), file);
  if (header === undefined) throw corruptPart(file, 0, "the header doesn't match its checksum");
  const seed = crc32(header.salt);
  const end = bytes.length - PART_FOOTER_BYTES;
  const footer = decodePartFooter(bytes.subarray(end), seed, bytes.length);
  if (footer === undefined) throw corruptPart(file, end, "the footer doesn't match its checksum");
  const codec = { seed, cipher: masterKey && new PartCipher(masterKey, header.salt) };
  let blocks = 0;
  for (let at = PART_HEADER_BYTES; at < end; blocks++) {
    const place = statedPlace(bytes.subarray(at, at + BLOCK_HEADER_BYTES), at);
    if (place === undefined || at + place.bytes > end) throw corruptPart(file, at, "a block's header is damaged");
    // Decrypting is done in place: the block itself is to be written.
    decodeBlock(Buffer.from(bytes.subarray(at, at + place.bytes)), place, codec, file);
    at += place.bytes;
  }
  if (blocks !== footer.blocks)
    throw corruptPart(file, end, `it has ${blocks} blocks, and the footer says ${footer.blocks}`);
}

/** What the manifest needs to know of a part that was built in memory; `undefined` for bytes that aren't a whole one. */
export function metaOfBuilt(bytes: Buffer): PartMeta | undefined {
  if (bytes.length < PART_HEADER_BYTES + PART_FOOTER_BYTES) return undefined;
  const header = decodePartHeader(bytes.subarray(0, PART_HEADER_BYTES), "the part in memory");
  const footer = bytes.subarray(bytes.length - PART_FOOTER_BYTES);
  return header && decodePartFooter(footer, crc32(header.salt), bytes.length)?.meta;
}
