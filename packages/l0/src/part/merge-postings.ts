import { keyHash } from "./bloom.ts";
import { CellStream } from "./cell-stream.ts";
import type { Words } from "./columns.ts";
import { mergeCells } from "./merge-cells.ts";
import type { Fate } from "./merge-log.ts";
import type { PartFile } from "./part-file.ts";
import type { Section } from "./part-format.ts";
import { compareBytes } from "./position.ts";
import {
  MAX_PIECE_VERSIONS,
  pieceAt,
  postingCellBytes,
  postingCells,
  versionRangeAt,
  writePostingCell,
} from "./postings.ts";
import { SectionWriter } from "./section-writer.ts";
import type { PartOutput } from "./section-writer.ts";

/** A key of which everything is gone keeps an empty posting: its last version is never forgotten. */
export async function mergePostings(
  files: readonly PartFile[],
  output: PartOutput,
  fate: Fate,
  keyHashes: Words,
  pace: () => Promise<void>,
): Promise<Section> {
  const section = new SectionWriter(output, "postings", postingCells);
  const fileOf = new Map<CellStream, PartFile>();
  for (const file of files) {
    const { postings } = await file.footerOf("by-sort");
    fileOf.set(new CellStream(file, postings, "postings", byKey, files.length), file);
  }
  let group: KeyPostings | undefined;
  await mergeCells(
    [...fileOf.keys()],
    (stream, all) => {
      const { block, at, end } = stream;
      const { first } = stream.position;
      if (group === undefined || compareBytes(first, 0, first.length, group.key) !== 0) {
        group?.finish();
        keyHashes.push(keyHash(first));
        group = new KeyPostings(section, Buffer.from(first), lastVersion(all, first), fate);
      }
      const piece = pieceAt(block, at, end);
      if (piece === undefined)
        throw (fileOf.get(stream) as PartFile).corrupt(0, "a posting doesn't hold the versions that it states");
      for (const [i, sort] of piece.sorts.entries()) group.add(piece.firstVersion + i, sort);
    },
    pace,
  );
  group?.finish();
  return section.finish();
}

/** Those of one key come by age of their parts, which is the order of versions. */
const byKey: typeof postingCells = {
  compare: (block, at, target) => postingCells.compare(block, at, target),
  position: (block, at) => ({ ...postingCells.position(block, at), tail: 0 }),
};

/** The key's in the newest part that has it: every stream that does stands at the first of its cells. */
function lastVersion(streams: readonly CellStream[], key: Uint8Array): number {
  let last = 0;
  for (const { block, at, position } of streams) {
    const { first } = position;
    if (compareBytes(first, 0, first.length, key) === 0) last = Math.max(last, versionRangeAt(block, at).last);
  }
  return last;
}

/** What stays of one key. */
class KeyPostings {
  readonly key: Buffer;
  readonly #section: SectionWriter;
  readonly #last: number;
  readonly #fate: Fate;
  readonly #firstVersion: number;
  readonly #sorts = new Float64Array(MAX_PIECE_VERSIONS);
  /** The key's first version that stays; 0 before there is one. */
  #first = 0;
  #pieceFirst = 0;
  #count = 0;

  constructor(section: SectionWriter, key: Buffer, last: number, fate: Fate) {
    this.#section = section;
    this.key = key;
    this.#last = last;
    this.#fate = fate;
    this.#firstVersion = fate.firstVersion(key);
  }

  add(version: number, sort: number): void {
    if (sort < this.#fate.floor || version < this.#firstVersion) return;
    // What a salvage couldn't bring back leaves holes.
    const follows = this.#count > 0 && version === this.#pieceFirst + this.#count;
    if (!follows || this.#count === MAX_PIECE_VERSIONS) this.#write(version);
    this.#sorts[this.#count++] = sort;
  }

  finish(): void {
    if (this.#first === 0) this.#cell(this.#last + 1, { first: this.#last + 1, last: this.#last }, noSorts);
    else this.#write(0);
  }

  /** Writes the piece that was begun, if any, and begins another. */
  #write(nextFirst: number): void {
    if (this.#first === 0) this.#first = nextFirst;
    if (this.#count > 0) {
      const range = { first: this.#first, last: this.#last };
      this.#cell(this.#pieceFirst, range, this.#sorts.subarray(0, this.#count));
    }
    this.#pieceFirst = nextFirst;
    this.#count = 0;
  }

  #cell(firstVersion: number, range: { readonly first: number; readonly last: number }, sorts: Float64Array): void {
    const at = this.#section.place(postingCellBytes(this.key, sorts));
    writePostingCell(this.#section.bytes, at, this.key, firstVersion, range, sorts);
  }
}

const noSorts = new Float64Array(0);
