/**
 * Bloom filters over keys, and over ids with their keys: 10 bits and 7 probes a member, about 1% of false answers (Kirsch and Mitzenmacher's
 * double hashing, with Dillinger and Manolios' growing step). A large filter is cut into partitions by hash, so that a question loads
 * one block.
 */
import { crc32 } from "node:zlib";
import { BLOCK_HEADER_BYTES, blockRoom, TARGET_PLAIN_BYTES } from "./block.ts";
import type { BlockKind } from "./block.ts";
import type { Lookup } from "./lookup.ts";
import type { BloomSection } from "./part-format.ts";

const bitsPerMember = 10;
const probes = 7;
/** A tiny filter is more often wrong, and bytes this few cost nothing. */
const leastBytes = 32;

/** What a filter keeps of a key. */
export function keyHash(key: Uint8Array): number {
  return crc32(key);
}

/** What a filter keeps of an id under a key. */
export function idHash(id: Uint8Array, key: Uint8Array): number {
  return crc32(key, mix(crc32(id), 3));
}

export interface BloomShape {
  readonly partitions: number;
  /** Of one partition. */
  readonly bytes: number;
}

export function bloomShape(members: number): BloomShape {
  if (members === 0) return { partitions: 0, bytes: 0 };
  const bytes = Math.max(leastBytes, Math.ceil((members * bitsPerMember) / 8));
  const partitions = Math.ceil(bytes / TARGET_PLAIN_BYTES);
  return { partitions, bytes: Math.ceil(bytes / partitions) };
}

/** The partitions of the filter over `hashes`, as rooms of blocks. */
export function buildBloom(hashes: Uint32Array, shape: BloomShape): Buffer[] {
  const rooms = Array.from({ length: shape.partitions }, () => blockRoom(shape.bytes).fill(0));
  const parts = rooms.map((room) => room.subarray(BLOCK_HEADER_BYTES, BLOCK_HEADER_BYTES + shape.bytes));
  for (const hash of hashes) {
    const bits = parts[partitionOf(hash, shape.partitions)] as Buffer;
    probe(hash, bits.length * 8, (bit) => {
      bits[bit >>> 3] = (bits[bit >>> 3] as number) | (1 << (bit & 7));
      return true;
    });
  }
  return rooms;
}

/** Whether a partition may hold a member; false is certain. */
export function bloomHolds(partition: Buffer, hash: number): boolean {
  return probe(hash, partition.length * 8, (bit) => ((partition[bit >>> 3] as number) & (1 << (bit & 7))) !== 0);
}

export function partitionOf(hash: number, partitions: number): number {
  return partitions === 1 ? 0 : mix(hash, 2) % partitions;
}

/** Whether the section may hold a member; false is certain. */
export function* mayHold(
  section: BloomSection,
  kind: Extract<BlockKind, "keyBloom" | "idBloom">,
  hash: number,
): Lookup<boolean> {
  if (section.partitions === 0) return false;
  const offset = section.offset + partitionOf(hash, section.partitions) * section.blockBytes;
  return bloomHolds(yield { kind, offset, bytes: section.blockBytes }, hash);
}

function probe(hash: number, bits: number, visit: (bit: number) => boolean): boolean {
  let at = mix(hash, 0) % bits;
  let step = mix(hash, 1) % bits;
  for (let i = 0; i < probes; i++) {
    if (!visit(at)) return false;
    at = (at + step) % bits;
    step = (step + i + 1) % bits;
  }
  return true;
}

/** Independent functions of one hash, each a bijection (the finalizer of MurmurHash3). */
function mix(hash: number, which: number): number {
  let h = (hash + Math.imul(which + 1, 0x9e3779b9)) | 0;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}
