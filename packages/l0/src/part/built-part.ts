import { crc32 } from "node:zlib";
import type { PartMeta } from "../meta.ts";
import { decodePartFooter, decodePartHeader, PART_FOOTER_BYTES, PART_HEADER_BYTES } from "./part-format.ts";

/** The name of a part's file. */
export const partName = (id: number): string => `${String(id).padStart(12, "0")}.part`;

/** What the manifest needs to know of a part that was built in memory; `undefined` for bytes that aren't a whole one. */
export function metaOfBuilt(bytes: Buffer): PartMeta | undefined {
  if (bytes.length < PART_HEADER_BYTES + PART_FOOTER_BYTES) return undefined;
  const header = decodePartHeader(bytes.subarray(0, PART_HEADER_BYTES), "the part in memory");
  const footer = bytes.subarray(bytes.length - PART_FOOTER_BYTES);
  return header && decodePartFooter(footer, crc32(header.salt), bytes.length)?.meta;
}
