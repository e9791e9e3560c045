import type { LogRecord } from "@ehdb/contracts";
import type { PartMeta } from "../meta.ts";
import { keyHash } from "./bloom.ts";
import { CellStream } from "./cell-stream.ts";
import { erasedKeyAt, erasureAt, erasureCells } from "./erasures.ts";
import type { FoundId } from "./ids-section.ts";
import { findId, findVersions, readKey, recordAt, scanLog } from "./log-lookups.ts";
import type { RangeOptions } from "./log-lookups.ts";
import type { PartDamage } from "./part-damage.ts";
import { PartFile } from "./part-file.ts";
import type { PartContext } from "./part-file.ts";
import type { VersionRange } from "./postings.ts";
import type { SearchId, SearchKey } from "./search-key.ts";
import { verifyPart } from "./verify-part.ts";

/**
 * A part of a log. Nothing is read before the first question, and every block is verified by the read that loads it.
 *
 * Methods reject with CORRUPT (file and offset), KEY_MISSING, WRONG_KEY, UNSUPPORTED_VERSION or IO_ERROR when what they need can't be read as it
 * was written; the next call tries again. Those named `...Cached` read nothing: `undefined` means that the answer isn't in memory,
 * and `null` that the part has none. After the same question without `Cached` it's in memory until other blocks push it out.
 */
export class LogPart {
  readonly #file: PartFile;

  constructor(context: PartContext, path: string, meta: PartMeta) {
    this.#file = new PartFile(context, path, meta);
  }

  get path(): string {
    return this.#file.path;
  }

  get meta(): PartMeta {
    return this.#file.meta;
  }

  /** The record at a position. */
  async recordAt(sort: number): Promise<LogRecord | undefined> {
    return (await recordAt(this.#file, sort)) ?? undefined;
  }

  /** Records by position, those of one block at a time. */
  scan(options: RangeOptions = {}): AsyncGenerator<LogRecord[], void, undefined> {
    return scanLog(this.#file, options);
  }

  /** The versions that a key has in this part; they follow each other without a hole. */
  async versions(key: SearchKey): Promise<VersionRange | undefined> {
    return (await this.#file.run("by-sort", (footer) => findVersions(this.#file, footer, key))) ?? undefined;
  }

  /** The last of them, 0 when there is none. */
  lastVersionCached(key: SearchKey): number | undefined {
    const range = this.#file.runCached("by-sort", (footer) => findVersions(this.#file, footer, key));
    return range === undefined ? undefined : (range?.last ?? 0);
  }

  /** The records of a key by version, some at a time; `from` and `to` are versions. */
  read(key: SearchKey, options: RangeOptions = {}): AsyncGenerator<LogRecord[], void, undefined> {
    return readKey(this.#file, key, options);
  }

  /** Where an id was last used under a key in this part. */
  async findId(id: SearchId): Promise<FoundId | undefined> {
    return (await this.#file.run("by-sort", (footer) => findId(this.#file, footer, id))) ?? undefined;
  }

  findIdCached(id: SearchId): FoundId | null | undefined {
    return this.#file.runCached("by-sort", (footer) => findId(this.#file, footer, id));
  }

  /** What it erases, a block at a time: of each key the first version that stays. */
  async *erasures(): AsyncGenerator<{ key: SearchKey; below: number }[], void, undefined> {
    const { erasures } = await this.#file.footerOf("by-sort");
    const stream = new CellStream(this.#file, erasures, "erasures", erasureCells);
    while (await stream.load()) {
      const found: { key: SearchKey; below: number }[] = [];
      do {
        const bytes = erasedKeyAt(stream.block, stream.at);
        found.push({ key: { bytes, hash: keyHash(bytes) }, below: erasureAt(stream.block, stream.at).below });
      } while (stream.advance());
      yield found;
    }
  }

  /**
   * Reads the whole file from the disk and tells of every damage that it finds: each block by itself, and when all are whole, whether
   * they agree. Rejects for what isn't damage: IO_ERROR, KEY_MISSING, WRONG_KEY, UNSUPPORTED_VERSION.
   */
  verify(onDamage: (damage: PartDamage) => void): Promise<void> {
    return verifyPart(this.#file, onDamage);
  }

  /** Lets go of its blocks and its file; a later question opens it again. */
  close(): Promise<void> {
    return this.#file.close();
  }
}
