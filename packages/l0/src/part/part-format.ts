/**
 * The first page and the footer of a part. docs/formats/part.md draws them and argues each crash case; change both together.
 *
 * All numbers are little-endian; u64 holds whole numbers up to 2^53 - 1.
 */
import { crc32 } from "node:zlib";
import type { DatasetOrder } from "@ehdb/contracts";
import { EhdbError, MAX_SEQUENCE } from "@ehdb/contracts";
import type { PartMeta } from "../meta.ts";
import { placeSeed } from "./block.ts";
import type { BlockPlace } from "./block.ts";
import { KEY_CHECK_BYTES } from "./part-cipher.ts";

/** 1 had no time in the cells of ids, no erasures, and no part of which anything was gone. It is read. */
export const PART_FORMAT_VERSION = 2;
const OLDEST_READ = 1;
/** Blocks start here. */
export const PART_HEADER_BYTES = 4096;
export const PART_FOOTER_BYTES = 320;
export const SALT_BYTES = 32;
export const MAX_KEY_ID_BYTES = 63;
/** The largest file: the block cache numbers blocks by 36 bits of offset. */
export const MAX_PART_BYTES: number = 2 ** 36;

const HEADER_MAGIC = Buffer.from("EHDBPART", "latin1");
const FOOTER_MAGIC = Buffer.from("EHDBPEND", "latin1");
const orders: readonly DatasetOrder[] = ["by-sort", "by-key"];
const headerCrcAt = PART_HEADER_BYTES - 4;
const footerCrcAt = PART_FOOTER_BYTES - 4;

export interface PartHeader {
  readonly version: number;
  readonly id: number;
  readonly dataset: number;
  readonly order: DatasetOrder;
  readonly salt: Uint8Array;
  /** Empty when the part isn't encrypted. */
  readonly keyId: string;
  /** Tells a wrong key before anything is decrypted; zeros when not encrypted. */
  readonly keyCheck: Uint8Array;
}

/** Blocks of cells in order, under a tree of index blocks. */
export interface Section {
  readonly root: BlockPlace;
  /** Levels of index blocks; 0 when the section is empty, and then there is no root. */
  readonly depth: number;
  /** Without the index. */
  readonly blocks: number;
  readonly cells: number;
}

export const noSection: Section = { root: { kind: "index", offset: 0, bytes: 0 }, depth: 0, blocks: 0, cells: 0 };

/** Partitions of one size, one block each, one behind the other. */
export interface BloomSection {
  readonly offset: number;
  readonly partitions: number;
  /** Of one partition's block as stored, header included. */
  readonly blockBytes: number;
}

export interface PartFooter {
  readonly meta: PartMeta;
  readonly order: DatasetOrder;
  readonly keys: number;
  /** All blocks of the file. */
  readonly blocks: number;
  readonly data: Section;
  readonly postings: Section;
  readonly ids: Section;
  readonly keyBloom: BloomSection;
  readonly idBloom: BloomSection;
  readonly erasures: Section;
}

export function encodePartHeader(header: Omit<PartHeader, "version">): Buffer {
  const bytes = Buffer.alloc(PART_HEADER_BYTES);
  const keyId = Buffer.from(header.keyId, "utf8");
  HEADER_MAGIC.copy(bytes, 0);
  bytes.writeUInt32LE(PART_FORMAT_VERSION, 8);
  bytes[12] = header.dataset;
  bytes[13] = orders.indexOf(header.order) + 1;
  writeU64(bytes, 16, header.id);
  bytes.set(header.salt, 24);
  bytes[56] = keyId.length;
  bytes.set(keyId, 57);
  bytes.set(header.keyCheck, 120);
  bytes.writeUInt32LE(crc32(bytes.subarray(0, headerCrcAt)), headerCrcAt);
  return bytes;
}

/** `undefined` for bytes that aren't a whole header. Throws UNSUPPORTED_VERSION for a whole one of another version. */
export function decodePartHeader(bytes: Buffer, path: string): PartHeader | undefined {
  if (bytes.length < PART_HEADER_BYTES || !bytes.subarray(0, 8).equals(HEADER_MAGIC)) return undefined;
  if (crc32(bytes.subarray(0, headerCrcAt)) !== bytes.readUInt32LE(headerCrcAt)) return undefined;
  const version = bytes.readUInt32LE(8);
  if (version < OLDEST_READ || version > PART_FORMAT_VERSION) {
    throw new EhdbError(
      "UNSUPPORTED_VERSION",
      `${path} has format version ${version}; this release reads versions ${OLDEST_READ} to ${PART_FORMAT_VERSION}. Open it with the release that wrote it`,
      { file: path, offset: 8, version, supported: PART_FORMAT_VERSION },
    );
  }
  const order = orders[(bytes[13] as number) - 1];
  const keyIdBytes = bytes[56] as number;
  if (order === undefined || keyIdBytes > MAX_KEY_ID_BYTES) return undefined;
  return {
    version,
    id: readU64(bytes, 16),
    dataset: bytes[12] as number,
    order,
    salt: Uint8Array.from(bytes.subarray(24, 24 + SALT_BYTES)),
    keyId: bytes.toString("utf8", 57, 57 + keyIdBytes),
    keyCheck: Uint8Array.from(bytes.subarray(120, 120 + KEY_CHECK_BYTES)),
  };
}

/** The meta's numbers, in their order in the footer. */
const metaFields = [
  "id",
  "level",
  "records",
  "fileBytes",
  "firstSort",
  "lastSort",
  "firstRevision",
  "lastRevision",
  "firstTime",
  "lastTime",
  "ids",
] as const satisfies readonly (keyof PartMeta)[];

const countsAt = 16 + metaFields.length * 8;
const sectionsAt = countsAt + 16;
const sectionBytes = 32;
const bloomsAt = sectionsAt + 3 * sectionBytes;
const bloomBytes = 16;
const erasuresAt = bloomsAt + 2 * bloomBytes;

/** @param seed that of the part's salt */
export function encodePartFooter(footer: PartFooter, seed: number): Buffer {
  const bytes = Buffer.alloc(PART_FOOTER_BYTES);
  FOOTER_MAGIC.copy(bytes, 0);
  bytes[8] = footer.meta.dataset;
  bytes[9] = orders.indexOf(footer.order) + 1;
  for (const [i, field] of metaFields.entries()) writeU64(bytes, 16 + i * 8, footer.meta[field]);
  writeU64(bytes, countsAt, footer.keys);
  writeU64(bytes, countsAt + 8, footer.blocks);
  const { data, postings, ids, erasures } = footer;
  for (const [i, section] of [data, postings, ids].entries())
    writeSection(bytes, sectionsAt + i * sectionBytes, section);
  writeSection(bytes, erasuresAt, erasures);
  for (const [i, bloom] of [footer.keyBloom, footer.idBloom].entries()) {
    const at = bloomsAt + i * bloomBytes;
    writeU64(bytes, at, bloom.offset);
    bytes.writeUInt32LE(bloom.partitions, at + 8);
    bytes.writeUInt32LE(bloom.blockBytes, at + 12);
  }
  bytes.writeUInt32LE(footerCrc(bytes, seed, footer.meta.fileBytes), footerCrcAt);
  return bytes;
}

/** `undefined` for bytes that aren't the footer of this part with a file of `fileBytes`. */
export function decodePartFooter(bytes: Buffer, seed: number, fileBytes: number): PartFooter | undefined {
  if (bytes.length < PART_FOOTER_BYTES || !bytes.subarray(0, 8).equals(FOOTER_MAGIC)) return undefined;
  if (footerCrc(bytes, seed, fileBytes) !== bytes.readUInt32LE(footerCrcAt)) return undefined;
  const order = orders[(bytes[9] as number) - 1];
  const numbers = metaFields.map((field, i) => [field, readU64(bytes, 16 + i * 8)] as const);
  if (order === undefined || numbers.some(([, value]) => value > MAX_SEQUENCE)) return undefined;
  const erasures = readSection(bytes, erasuresAt);
  const meta: PartMeta = {
    ...(Object.fromEntries(numbers) as Record<(typeof metaFields)[number], number>),
    dataset: bytes[8] as number,
    erasures: erasures.cells,
  };
  const bloom = (i: number): BloomSection => {
    const at = bloomsAt + i * bloomBytes;
    return {
      offset: readU64(bytes, at),
      partitions: bytes.readUInt32LE(at + 8),
      blockBytes: bytes.readUInt32LE(at + 12),
    };
  };
  return {
    meta,
    order,
    keys: readU64(bytes, countsAt),
    blocks: readU64(bytes, countsAt + 8),
    data: readSection(bytes, sectionsAt),
    postings: readSection(bytes, sectionsAt + sectionBytes),
    ids: readSection(bytes, sectionsAt + 2 * sectionBytes),
    keyBloom: bloom(0),
    idBloom: bloom(1),
    erasures,
  };
}

function writeSection(bytes: Buffer, at: number, { root, blocks, cells, depth }: Section): void {
  writeU64(bytes, at, root.offset);
  writeU64(bytes, at + 8, blocks);
  writeU64(bytes, at + 16, cells);
  bytes.writeUInt32LE(root.bytes, at + 24);
  bytes.writeUInt32LE(depth, at + 28);
}

function readSection(bytes: Buffer, at: number): Section {
  return {
    root: { kind: "index", offset: readU64(bytes, at), bytes: bytes.readUInt32LE(at + 24) },
    depth: bytes.readUInt32LE(at + 28),
    blocks: readU64(bytes, at + 8),
    cells: readU64(bytes, at + 16),
  };
}

/** The first field in which two metas differ. */
export function metaDifference(one: PartMeta, other: PartMeta): keyof PartMeta | undefined {
  return (["dataset", "erasures", ...metaFields] as const).find((field) => one[field] !== other[field]);
}

function footerCrc(bytes: Buffer, seed: number, fileBytes: number): number {
  return crc32(bytes.subarray(0, footerCrcAt), placeSeed(seed, fileBytes - PART_FOOTER_BYTES));
}

function readU64(bytes: Buffer, at: number): number {
  return bytes.readUInt32LE(at) + bytes.readUInt32LE(at + 4) * 0x1_0000_0000;
}

function writeU64(bytes: Buffer, at: number, value: number): void {
  bytes.writeUInt32LE(value % 0x1_0000_0000, at);
  bytes.writeUInt32LE(Math.floor(value / 0x1_0000_0000), at + 4);
}
