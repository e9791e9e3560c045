import { crc32 } from "node:zlib";
import { datasetAt, ENTRY_HEADER_BYTES, hashAt, idAt, keyAt, sortAt, versionAt } from "../envelope.ts";
import type { PartMeta } from "../meta.ts";
import type { BlockPlace } from "./block.ts";
import { bloomHolds, idHash, keyHash, partitionOf } from "./bloom.ts";
import { entryRevision, entryTime, isWholeEntry, logEntries, mapEntries } from "./entry-cells.ts";
import { erasedKeyAt, erasureCellBytes, erasureCells } from "./erasures.ts";
import { idCells, storedIdAt } from "./ids-section.ts";
import type { OpenedPart, PartFile } from "./part-file.ts";
import type { BloomSection, PartFooter } from "./part-format.ts";
import { compareBytes, noBytes } from "./position.ts";
import { pieceAt, postingCells, versionRangeAt } from "./postings.ts";
import { SectionWalk } from "./section-walk.ts";
import { SetDigest } from "./set-digest.ts";

/** Whether all that a part says agrees, its blocks being whole. Throws CORRUPT for the first that doesn't. */
export async function verifySections(file: PartFile, opened: OpenedPart): Promise<void> {
  const { footer } = opened;
  const data = await verifyData(file, footer, opened.version >= 2);
  const keys = await Filter.load(file, footer.keyBloom, "keyBloom");
  const ids = await Filter.load(file, footer.idBloom, "idBloom");
  let blocks = data.blocks + keys.partitions + ids.partitions;
  if (footer.order === "by-sort") {
    const postings = await verifyPostings(file, footer, keys);
    blocks += postings.blocks;
    agree(file, footer.postings.root, "the postings", postings.digest.equals(data.postings));
    agree(file, footer.postings.root, "the number of keys", postings.keys === footer.keys);
    const found = await verifyIds(file, footer, ids);
    blocks += found.blocks;
    agree(file, footer.ids.root, "the ids", found.digest.equals(data.ids));
    blocks += await verifyErasures(file, footer);
  } else {
    agree(file, footer.data.root, "the number of keys", data.keys.length === footer.keys);
    agree(
      file,
      footer.data.root,
      "the bloom of keys",
      data.keys.every((hash) => keys.holds(hash)),
    );
  }
  agree(file, footer.data.root, "the number of blocks", blocks === footer.blocks);
}

function agree(file: PartFile, place: BlockPlace, what: string, holds: boolean): void {
  if (!holds) throw file.corrupt(place.offset, `${what} and the rest of the part don't say the same`);
}

interface DataFacts {
  readonly postings: SetDigest;
  readonly ids: SetDigest;
  /** Of a map: each key's hash. */
  readonly keys: readonly number[];
  readonly blocks: number;
}

async function verifyData(file: PartFile, footer: PartFooter, hasTimes: boolean): Promise<DataFacts> {
  const { order } = footer;
  const facts = { postings: new SetDigest(), ids: new SetDigest(), keys: [] as number[] };
  const found = { records: 0, ids: 0, revisions: new Span(), times: new Span(), sorts: new Span() };
  let lastKey = noBytes;
  const walk = new SectionWalk(file, footer.data, "data", order === "by-sort" ? logEntries : mapEntries);
  await walk.visit((block, at, end, place) => {
    const op = at + ENTRY_HEADER_BYTES;
    if (!isWholeEntry(block, at, end, order) || datasetAt(block, op) !== footer.meta.dataset)
      throw file.corrupt(place.offset, "an entry isn't whole, or not of this dataset");
    const key = keyAt(block, op);
    found.records++;
    found.revisions.add(entryRevision(block, at));
    found.times.add(entryTime(block, at));
    if (order === "by-sort") {
      const sort = sortAt(block, op);
      const version = versionAt(block, op);
      found.sorts.add(sort);
      facts.postings.add(crc32(key), [version, sort]);
      const id = idAt(block, op);
      if (id.length === 0) return;
      found.ids++;
      facts.ids.add(idDigest(id, key, hashAt(block, op)), [
        sort,
        version,
        entryRevision(block, at),
        hasTimes ? entryTime(block, at) : 0,
      ]);
    } else if (found.records === 1 || compareBytes(key, 0, key.length, lastKey) !== 0) {
      lastKey = Uint8Array.from(key);
      facts.keys.push(keyHash(key));
    }
  });
  const { meta } = footer;
  const { sorts, revisions, times } = found;
  const same =
    found.records === meta.records &&
    found.ids <= meta.ids &&
    (order === "by-key" || isAsStated(meta, sorts, meta.firstSort, meta.lastSort)) &&
    isAsStated(meta, revisions, meta.firstRevision, meta.lastRevision) &&
    isAsStated(meta, times, meta.firstTime, meta.lastTime);
  agree(file, footer.data.root, "the footer", same);
  return { ...facts, blocks: walk.blocks };
}

async function verifyPostings(
  file: PartFile,
  footer: PartFooter,
  filter: Filter,
): Promise<{ digest: SetDigest; keys: number; blocks: number }> {
  const digest = new SetDigest();
  let keys = 0;
  /** The version that the key's next cell begins with; 0 when the next cell is another key's. */
  let expected = 0;
  const walk = new SectionWalk(file, footer.postings, "postings", postingCells);
  await walk.visit((block, at, end, place) => {
    const key = postingCells.position(block, at).first;
    const piece = pieceAt(block, at, end);
    const range = versionRangeAt(block, at);
    const isFirst = expected === 0;
    if (piece === undefined || (isFirst ? piece.firstVersion !== range.first : piece.firstVersion < expected))
      throw file.corrupt(place.offset, "a posting doesn't hold the versions that it states");
    if (isFirst) keys++;
    const behind = piece.firstVersion + piece.sorts.length;
    expected = behind > range.last ? 0 : behind;
    const hash = crc32(key);
    for (const [i, sort] of piece.sorts.entries()) digest.add(hash, [piece.firstVersion + i, sort]);
    if (isFirst && !filter.holds(keyHash(key))) throw file.corrupt(place.offset, "the bloom of keys lacks a key");
  });
  return { digest, keys, blocks: walk.blocks };
}

async function verifyIds(
  file: PartFile,
  footer: PartFooter,
  filter: Filter,
): Promise<{ digest: SetDigest; blocks: number }> {
  const digest = new SetDigest();
  const walk = new SectionWalk(file, footer.ids, "ids", idCells);
  await walk.visit((block, at, end, place) => {
    const { first, second } = idCells.position(block, at);
    const { sort, version, revision, time, hash } = storedIdAt(block, at, end);
    if (version > 0) digest.add(idDigest(first, second, hash), [sort, version, revision, time ?? 0]);
    if (!filter.holds(idHash(first, second))) throw file.corrupt(place.offset, "the bloom of ids lacks an id");
  });
  return { digest, blocks: walk.blocks };
}

/** Returns their blocks. */
async function verifyErasures(file: PartFile, footer: PartFooter): Promise<number> {
  const walk = new SectionWalk(file, footer.erasures, "erasures", erasureCells);
  await walk.visit((block, at, end, place) => {
    if (at + erasureCellBytes(erasedKeyAt(block, at)) !== end)
      throw file.corrupt(place.offset, "an erasure isn't as long as its key");
  });
  return walk.blocks;
}

function idDigest(id: Uint8Array, key: Uint8Array, hash: Uint8Array): number {
  return crc32(hash, idHash(id, key));
}

/** What lay at the edges of a part that was merged may be gone; an erasure beside the records has a revision and a time, too. */
function isAsStated({ level, erasures }: PartMeta, found: Span, first: number, last: number): boolean {
  return level > 0 || erasures > 0 ? found.isWithin(first, last) : found.is(first, last);
}

/** The least and the most of some numbers. */
class Span {
  #least = Infinity;
  #most = -Infinity;

  add(value: number): void {
    if (value < this.#least) this.#least = value;
    if (value > this.#most) this.#most = value;
  }

  is(least: number, most: number): boolean {
    return this.#least === least && this.#most === most;
  }

  isWithin(least: number, most: number): boolean {
    return this.#least >= least && this.#most <= most;
  }
}

/** A whole bloom filter: a byte and a quarter a key. */
class Filter {
  readonly #blocks: readonly Buffer[];

  private constructor(blocks: readonly Buffer[]) {
    this.#blocks = blocks;
  }

  static async load(file: PartFile, section: BloomSection, kind: "keyBloom" | "idBloom"): Promise<Filter> {
    const blocks: Buffer[] = [];
    for (let i = 0; i < section.partitions; i++) {
      const offset = section.offset + i * section.blockBytes;
      blocks.push(await file.read({ kind, offset, bytes: section.blockBytes }));
    }
    return new Filter(blocks);
  }

  get partitions(): number {
    return this.#blocks.length;
  }

  holds(hash: number): boolean {
    const block = this.#blocks[partitionOf(hash, this.#blocks.length)];
    return block !== undefined && bloomHolds(block, hash);
  }
}
