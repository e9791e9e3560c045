import { hashAt, HASH_BYTES, idAt, keyAt, versionAt } from "../envelope.ts";
import { idHash, keyHash } from "./bloom.ts";
import { Doubles, Words } from "./columns.ts";
import { addErasure, erasureCellBytes, erasureCells, writeErasureCell } from "./erasures.ts";
import type { Erasure, Erasures } from "./erasures.ts";
import { idCellBytes, idCells, writeIdCell } from "./ids-section.ts";
import type { Section } from "./part-format.ts";
import { MAX_PIECE_VERSIONS, postingCellBytes, postingCells, writePostingCell } from "./postings.ts";
import { SectionWriter } from "./section-writer.ts";
import type { PartOutput } from "./section-writer.ts";

/**
 * What a log's postings and ids are made from: columns of numbers, a string a key and a string an id. The strings are Latin-1, a
 * character a byte, so their own order is that of the bytes.
 */
export class LogTables {
  readonly #ordinals = new Map<string, number>();
  readonly #firstVersions = new Doubles();
  readonly #counts = new Words();
  readonly #keyHashes = new Words();
  /** By record. */
  readonly #keys = new Words();
  readonly #sorts = new Doubles();
  readonly #ids = new Ids();
  readonly #erasures: Erasures = new Map();

  get keys(): number {
    return this.#ordinals.size;
  }

  get ids(): number {
    return this.#ids.length;
  }

  get keyHashes(): Uint32Array {
    return this.#keyHashes.values();
  }

  get idHashes(): Uint32Array {
    return this.#ids.hashes.values();
  }

  /** Takes the append at `at`; false, and nothing is taken, when its version doesn't follow the one before it under its key. */
  add(bytes: Buffer, at: number, sort: number, revision: number, time: number): boolean {
    const key = keyAt(bytes, at);
    const version = versionAt(bytes, at);
    const text = key.toString("latin1");
    let ordinal = this.#ordinals.get(text);
    if (ordinal === undefined) {
      ordinal = this.#ordinals.size;
      this.#ordinals.set(text, ordinal);
      this.#firstVersions.push(version);
      this.#counts.push(0);
      this.#keyHashes.push(keyHash(key));
    } else if (version !== this.#firstVersions.at(ordinal) + this.#counts.at(ordinal)) {
      return false;
    }
    this.#counts.increment(ordinal);
    const id = idAt(bytes, at);
    if (id.length > 0)
      this.#ids.add(id, key, hashAt(bytes, at), { record: this.#keys.length, version, revision, time });
    this.#keys.push(ordinal);
    this.#sorts.push(sort);
    return true;
  }

  erase(key: Buffer, erasure: Erasure): void {
    addErasure(this.#erasures, key.toString("latin1"), erasure);
  }

  writePostings(output: PartOutput): Section {
    const section = new SectionWriter(output, "postings", postingCells);
    const sorts = this.#sortsByKey();
    for (const text of [...this.#ordinals.keys()].sort()) {
      const ordinal = this.#ordinals.get(text) as number;
      const key = Buffer.from(text, "latin1");
      const all = sorts[ordinal] as Float64Array;
      const first = this.#firstVersions.at(ordinal);
      const range = { first, last: first + all.length - 1 };
      for (let from = 0; from < all.length; from += MAX_PIECE_VERSIONS) {
        const piece = all.subarray(from, from + MAX_PIECE_VERSIONS);
        const at = section.place(postingCellBytes(key, piece));
        writePostingCell(section.bytes, at, key, first + from, range, piece);
      }
    }
    return section.finish();
  }

  writeIds(output: PartOutput): Section {
    const keys = [...this.#ordinals.keys()];
    const keyOf = (record: number): string => keys[this.#keys.at(record)] as string;
    return this.#ids.write(output, keyOf, (record) => this.#sorts.at(record));
  }

  writeErasures(output: PartOutput): Section {
    const section = new SectionWriter(output, "erasures", erasureCells);
    for (const text of [...this.#erasures.keys()].sort()) {
      const key = Buffer.from(text, "latin1");
      const at = section.place(erasureCellBytes(key));
      writeErasureCell(section.bytes, at, key, this.#erasures.get(text) as Erasure);
    }
    return section.finish();
  }

  /** Views of one array: the positions of each key, rising. */
  #sortsByKey(): Float64Array[] {
    const all = new Float64Array(this.#sorts.length);
    const ends = new Uint32Array(this.#counts.length);
    let end = 0;
    for (let ordinal = 0; ordinal < ends.length; ordinal++) {
      ends[ordinal] = end;
      end += this.#counts.at(ordinal);
    }
    for (let record = 0; record < all.length; record++) {
      const ordinal = this.#keys.at(record);
      const place = ends[ordinal] as number;
      all[place] = this.#sorts.at(record);
      ends[ordinal] = place + 1;
    }
    return Array.from(ends, (stop, ordinal) => all.subarray(stop - this.#counts.at(ordinal), stop));
  }
}

/** The records with an id. */
class Ids {
  readonly hashes = new Words();
  readonly #texts: string[] = [];
  readonly #records = new Words();
  readonly #versions = new Doubles();
  readonly #revisions = new Doubles();
  readonly #times = new Doubles();
  /** Two a record: its content hash. */
  readonly #contents = new Words();

  get length(): number {
    return this.#texts.length;
  }

  add(
    id: Buffer,
    key: Buffer,
    content: Buffer,
    of: { readonly record: number; readonly version: number; readonly revision: number; readonly time: number },
  ): void {
    this.#texts.push(id.toString("latin1"));
    this.hashes.push(idHash(id, key));
    this.#records.push(of.record);
    this.#versions.push(of.version);
    this.#revisions.push(of.revision);
    this.#times.push(of.time);
    this.#contents.push(content.readUInt32LE(0));
    this.#contents.push(content.readUInt32LE(4));
  }

  write(output: PartOutput, keyOf: (record: number) => string, sortOf: (record: number) => number): Section {
    const section = new SectionWriter(output, "ids", idCells);
    const hash = Buffer.alloc(HASH_BYTES);
    for (const i of this.#inOrder(keyOf)) {
      const record = this.#records.at(i);
      const id = Buffer.from(this.#texts[i] as string, "latin1");
      const key = Buffer.from(keyOf(record), "latin1");
      hash.writeUInt32LE(this.#contents.at(2 * i), 0);
      hash.writeUInt32LE(this.#contents.at(2 * i + 1), 4);
      const at = section.place(idCellBytes(id, key));
      const [version, revision, time] = [this.#versions.at(i), this.#revisions.at(i), this.#times.at(i)];
      const found = { sort: sortOf(record), version, revision, time, hash };
      writeIdCell(section.bytes, at, id, key, found);
    }
    return section.finish();
  }

  /** By id, then key, then from the newest to the oldest. */
  #inOrder(keyOf: (record: number) => string): Uint32Array {
    const texts = this.#texts;
    return Uint32Array.from(texts, (_, i) => i).sort((a, b) => {
      const one = texts[a] as string;
      const other = texts[b] as string;
      if (one !== other) return one < other ? -1 : 1;
      const key = keyOf(this.#records.at(a));
      const otherKey = keyOf(this.#records.at(b));
      return key === otherKey ? b - a : key < otherKey ? -1 : 1;
    });
  }
}
