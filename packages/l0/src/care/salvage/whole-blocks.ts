import { BLOCK_HEADER_BYTES } from "../../part/block.ts";
import type { BlockKind, BlockPlace } from "../../part/block.ts";
import { indexedPlace } from "../../part/block-index.ts";
import { PART_HEADER_BYTES } from "../../part/part-format.ts";
import type { Section } from "../../part/part-format.ts";
import { slotAt, slotCount } from "../../part/slots.ts";
import type { PartSource } from "./part-source.ts";

/** Some blocks in their order: what is whole, and where something isn't. */
export type FoundBlock =
  | { readonly plain: Buffer; readonly offset: number }
  /** `isOfSection`: a block of the section is damaged. Otherwise it isn't known whose. */
  | { readonly plain: undefined; readonly offset: number; readonly isOfSection: boolean };

/**
 * The blocks of a kind in the order of their section: by its index when that is whole, else by walking from block to block.
 */
export async function* wholeBlocks(
  source: PartSource,
  kind: BlockKind,
  section: Section | undefined,
): AsyncGenerator<FoundBlock, void, undefined> {
  if (section?.depth === 0) return;
  const places = section && (await placesByIndex(source, kind, section));
  if (places === undefined) {
    yield* walked(source, kind);
    return;
  }
  for (const place of places) {
    const plain = await source.block(place);
    yield plain === undefined ? { plain, offset: place.offset, isOfSection: true } : { plain, offset: place.offset };
  }
}

/** `undefined` when the index isn't whole. */
async function placesByIndex(
  source: PartSource,
  kind: BlockKind,
  { root, depth }: Section,
): Promise<BlockPlace[] | undefined> {
  let level: BlockPlace[] = [root];
  for (let below = depth - 1; below >= 0; below--) {
    const next: BlockPlace[] = [];
    for (const place of level) {
      const block = await source.block(place);
      if (block === undefined) return undefined;
      for (let slot = 0; slot < slotCount(block); slot++)
        next.push(indexedPlace(block, slotAt(block, slot), below === 0 ? kind : "index"));
    }
    level = next;
  }
  return level;
}

/** Block by block from the front; behind a damaged one from the next place where a whole one begins. */
async function* walked(source: PartSource, kind: BlockKind): AsyncGenerator<FoundBlock, void, undefined> {
  for (let at = firstBlock; at + BLOCK_HEADER_BYTES <= source.end;) {
    const place = await source.stated(at);
    const plain = place && (await source.block(place));
    if (place !== undefined && plain !== undefined) {
      if (place.kind === kind) yield { plain, offset: at };
      at += place.bytes;
      continue;
    }
    yield { plain: undefined, offset: at, isOfSection: false };
    const next = await nextWhole(source, at, place);
    if (next === undefined) return;
    at = next;
  }
}

const firstBlock = PART_HEADER_BYTES;

/** Where the next whole block begins: where a damaged one says that it ends, or wherever one is found. */
async function nextWhole(source: PartSource, at: number, damaged: BlockPlace | undefined): Promise<number | undefined> {
  if (damaged !== undefined && (await isWhole(source, at + damaged.bytes))) return at + damaged.bytes;
  for (let from = at + 1; from + BLOCK_HEADER_BYTES <= source.end; from += scanBytes) {
    const bytes = await source.read(from, scanBytes + BLOCK_HEADER_BYTES);
    for (let i = 0; i < scanBytes && i + BLOCK_HEADER_BYTES <= bytes.length; i++) {
      if (mayBegin(bytes, i) && (await isWhole(source, from + i))) return from + i;
    }
  }
  return undefined;
}

const scanBytes = 64 * 1024;

async function isWhole(source: PartSource, offset: number): Promise<boolean> {
  const place = await source.stated(offset);
  return place !== undefined && (await source.block(place)) !== undefined;
}

/** Cheap, and nearly always says no where nothing begins. */
function mayBegin(bytes: Buffer, at: number): boolean {
  const kind = bytes[at + 12] as number;
  return kind >= 1 && kind <= 7 && (bytes[at + 13] as number) <= 3 && bytes[at + 14] === 0 && bytes[at + 15] === 0;
}
