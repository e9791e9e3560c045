/**
 * A block: a header of 16 bytes, then what is stored of its plain bytes.
 *
 *     u32 checksum of all that follows | u32 stored bytes | u32 plain bytes | u8 kind | u8 flags | u16 0 | stored bytes
 */
import { crc32, deflateRawSync, inflateRawSync } from "node:zlib";
import { KIB, MAX_WRITE_BYTES } from "@ehdb/contracts";
import { TAG_BYTES } from "./part-cipher.ts";
import type { PartCipher } from "./part-cipher.ts";
import { corruptPart } from "./part-damage.ts";

export const BLOCK_HEADER_BYTES = 16;
/** What a block is filled up to; one cell that is larger has a block of its own. */
export const TARGET_PLAIN_BYTES: number = 16 * KIB;
/** The largest record, its entry's header and its slot. */
export const MAX_PLAIN_BYTES: number = MAX_WRITE_BYTES + 64 * KIB;

export const blockKinds = ["data", "postings", "ids", "index", "keyBloom", "idBloom", "erasures"] as const;
export type BlockKind = (typeof blockKinds)[number];

export interface BlockPlace {
  readonly kind: BlockKind;
  readonly offset: number;
  /** As stored, with the header. */
  readonly bytes: number;
}

const flag = { compressed: 1, encrypted: 2 } as const;
const fieldsAt = 4;

/** What the blocks of one part have in common. */
export interface BlockCodec {
  /** The checksum of the salt. */
  readonly seed: number;
  readonly cipher: PartCipher | undefined;
}

/** Different for any two places below 4 GiB, so that a block is valid where it was written, and nowhere else. */
export function placeSeed(seed: number, offset: number): number {
  return (seed ^ (offset % 0x1_0000_0000) ^ Math.imul(Math.floor(offset / 0x1_0000_0000), 0x9e3779b1)) >>> 0;
}

/** Where a block's plain bytes are put together: space for its header before them, and for a tag behind. */
export function blockRoom(plainBytes: number): Buffer {
  return Buffer.allocUnsafeSlow(BLOCK_HEADER_BYTES + plainBytes + TAG_BYTES);
}

/** Completes the block in `room`, in place, and returns it. */
export function encodeBlock(
  room: Buffer,
  plainBytes: number,
  place: { readonly kind: BlockKind; readonly offset: number; readonly compress: boolean },
  codec: BlockCodec,
): Buffer {
  let stored = plainBytes;
  let flags = 0;
  if (place.compress) {
    const small = deflateRawSync(room.subarray(BLOCK_HEADER_BYTES, BLOCK_HEADER_BYTES + plainBytes), { level: 1 });
    if (small.length < plainBytes) {
      room.set(small, BLOCK_HEADER_BYTES);
      stored = small.length;
      flags |= flag.compressed;
    }
  }
  const bodyEnd = BLOCK_HEADER_BYTES + stored;
  if (codec.cipher !== undefined) {
    stored += TAG_BYTES;
    flags |= flag.encrypted;
  }
  room.writeUInt32LE(stored, 4);
  room.writeUInt32LE(plainBytes, 8);
  room[12] = blockKinds.indexOf(place.kind) + 1;
  room[13] = flags;
  room.writeUInt16LE(0, 14);
  if (codec.cipher !== undefined) {
    const header = room.subarray(fieldsAt, BLOCK_HEADER_BYTES);
    room.set(codec.cipher.encrypt(room.subarray(BLOCK_HEADER_BYTES, bodyEnd), header, place.offset), bodyEnd);
  }
  const block = room.subarray(0, BLOCK_HEADER_BYTES + stored);
  block.writeUInt32LE(crc32(block.subarray(fieldsAt), placeSeed(codec.seed, place.offset)), 0);
  return block;
}

/** The kind and size that the header of a block states; not verified. `undefined` when it can't be one. */
export function statedPlace(header: Buffer, offset: number): BlockPlace | undefined {
  if (header.length < BLOCK_HEADER_BYTES) return undefined;
  const kind = blockKinds[(header[12] as number) - 1];
  const bytes = BLOCK_HEADER_BYTES + header.readUInt32LE(4);
  if (kind === undefined || bytes > BLOCK_HEADER_BYTES + MAX_PLAIN_BYTES + TAG_BYTES) return undefined;
  return { kind, offset, bytes };
}

/** The plain bytes of the block `bytes`, which was read from `place`. CORRUPT when it isn't what was written there. */
export function decodeBlock(bytes: Buffer, place: BlockPlace, codec: BlockCodec, file: string): Buffer {
  const refuse = (reason: string, cause?: unknown): Error => corruptPart(file, place.offset, reason, cause);
  if (bytes.length < BLOCK_HEADER_BYTES || bytes.length !== place.bytes) throw refuse("the file ends within a block");
  if (crc32(bytes.subarray(fieldsAt), placeSeed(codec.seed, place.offset)) !== bytes.readUInt32LE(0))
    throw refuse("a block doesn't match its checksum");
  const plainBytes = bytes.readUInt32LE(8);
  const flags = bytes[13] as number;
  if (
    bytes.readUInt32LE(4) !== place.bytes - BLOCK_HEADER_BYTES ||
    blockKinds[(bytes[12] as number) - 1] !== place.kind
  )
    throw refuse(`there is another block than the ${place.kind} block that is named`);
  if ((flags & ~(flag.compressed | flag.encrypted)) !== 0 || plainBytes > MAX_PLAIN_BYTES)
    throw refuse("a block states what none can be");
  let plain = bytes.subarray(BLOCK_HEADER_BYTES);
  if (((flags & flag.encrypted) !== 0) !== (codec.cipher !== undefined))
    throw refuse("a block is encrypted other than its part");
  if (codec.cipher !== undefined) {
    const opened = codec.cipher.decrypt(plain, bytes.subarray(fieldsAt, BLOCK_HEADER_BYTES), place.offset);
    if (opened === undefined) throw refuse("a block doesn't decrypt, although its checksum and the key fit");
    plain = opened;
  }
  if ((flags & flag.compressed) !== 0) {
    try {
      plain = inflateRawSync(plain, { maxOutputLength: Math.max(1, plainBytes) });
    } catch (error) {
      throw refuse("a block doesn't decompress, although its checksum fits", error);
    }
  }
  if (plain.length !== plainBytes) throw refuse("a block isn't as long as it states");
  return plain;
}
