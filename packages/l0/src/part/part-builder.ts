import { EhdbError } from "@ehdb/contracts";
import {
  datasetAt,
  ENTRY_HEADER_BYTES,
  isOfLog,
  isWholeOp,
  keyAt,
  opEnd,
  operation,
  operationAt,
  sortAt,
  versionAt,
} from "../envelope.ts";
import type { PartMeta } from "../meta.ts";
import { keyHash } from "./bloom.ts";
import { Words } from "./columns.ts";
import { logEntries, mapEntries } from "./entry-cells.ts";
import { LogTables } from "./log-tables.ts";
import { noSection } from "./part-format.ts";
import { PartWriter } from "./part-writer.ts";
import type { PartWriterOptions } from "./part-writer.ts";
import { compareBytes, noBytes } from "./position.ts";
import { SectionWriter } from "./section-writer.ts";

export type PartBuilderOptions = PartWriterOptions;

/**
 * Builds a part from its dataset's ops in their order: a log's by sort, a map's by key, then from the newest revision to the oldest. Pure,
 * and it streams: what it keeps is a block, the hashes of keys, and of a log the positions and the ids.
 */
export class PartBuilder {
  readonly #options: PartBuilderOptions;
  readonly #writer: PartWriter;
  readonly #data: SectionWriter;
  readonly #log: LogTables | undefined;
  readonly #mapKeyHashes = new Words();
  #records = 0;
  #firstSort = 0;
  #lastSort = 0;
  #lastKey: Uint8Array = noBytes;
  #lastKeyRevision = 0;
  #firstRevision = Infinity;
  #lastRevision = 0;
  #firstTime = Infinity;
  #lastTime = 0;

  constructor(options: PartBuilderOptions) {
    this.#options = options;
    this.#writer = new PartWriter(options);
    const isLog = options.order === "by-sort";
    this.#log = isLog ? new LogTables() : undefined;
    this.#data = new SectionWriter(this.#writer.output, "data", isLog ? logEntries : mapEntries);
  }

  /** Takes the op at `at`, copied. UNEXPECTED when it isn't of this dataset, or not in its order. */
  add(bytes: Buffer, at: number, revision: number, time: number): void {
    if (!isWholeOp(bytes, at, bytes.length)) throw this.#unexpected(`the op at ${at} isn't whole`);
    if (datasetAt(bytes, at) !== this.#options.dataset)
      throw this.#unexpected(`an op is of dataset ${datasetAt(bytes, at)}`);
    const op = operationAt(bytes, at);
    if (isOfLog(op) !== (this.#log !== undefined))
      throw this.#unexpected(`operation ${op} in a dataset that is ${this.#options.order}`);
    if (op === operation.erase) {
      this.#log?.erase(keyAt(bytes, at), { below: versionAt(bytes, at), revision });
    } else {
      if (this.#log === undefined) this.#addToMap(bytes, at, revision);
      else this.#addToLog(this.#log, bytes, at, revision, time);
      this.#place(bytes, at, revision, time);
    }
    if (revision < this.#firstRevision) this.#firstRevision = revision;
    if (revision > this.#lastRevision) this.#lastRevision = revision;
    if (time < this.#firstTime) this.#firstTime = time;
    if (time > this.#lastTime) this.#lastTime = time;
  }

  /** Writes the rest of the file and says what the manifest needs to know. UNEXPECTED when nothing was added. */
  finish(): PartMeta {
    if (this.#lastRevision === 0) throw this.#unexpected("nothing was added");
    const { output } = this.#writer;
    const log = this.#log;
    return this.#writer.finish({
      records: this.#records,
      range: {
        firstSort: this.#firstSort,
        lastSort: this.#lastSort,
        firstRevision: this.#firstRevision,
        lastRevision: this.#lastRevision,
        firstTime: this.#firstTime,
        lastTime: this.#lastTime,
      },
      data: this.#data.finish(),
      postings: log?.writePostings(output) ?? noSection,
      ids: log?.writeIds(output) ?? noSection,
      erasures: log?.writeErasures(output) ?? noSection,
      keyHashes: log?.keyHashes ?? this.#mapKeyHashes.values(),
      idHashes: log?.idHashes ?? new Uint32Array(0),
    });
  }

  #place(bytes: Buffer, at: number, revision: number, time: number): void {
    const end = opEnd(bytes, at);
    const cell = this.#data.place(ENTRY_HEADER_BYTES + end - at);
    const into = this.#data.bytes;
    into.writeDoubleLE(revision, cell);
    into.writeDoubleLE(time, cell + 8);
    bytes.copy(into, cell + ENTRY_HEADER_BYTES, at, end);
    this.#records++;
  }

  #addToLog(log: LogTables, bytes: Buffer, at: number, revision: number, time: number): void {
    const sort = sortAt(bytes, at);
    if (!(sort > this.#lastSort)) throw this.#unexpected(`sort ${sort} came after ${this.#lastSort}`);
    if (!log.add(bytes, at, sort, revision, time))
      throw this.#unexpected(`the record at sort ${sort} isn't its key's next version`);
    if (this.#firstSort === 0) this.#firstSort = sort;
    this.#lastSort = sort;
  }

  #addToMap(bytes: Buffer, at: number, revision: number): void {
    const key = keyAt(bytes, at);
    const byKey = this.#records === 0 ? 1 : compareBytes(key, 0, key.length, this.#lastKey);
    if (byKey < 0) throw this.#unexpected(`key "${key.toString("utf8")}" came after one that stands behind it`);
    if (byKey === 0 && revision >= this.#lastKeyRevision)
      throw this.#unexpected(
        `revision ${revision} of key "${key.toString("utf8")}" came after ${this.#lastKeyRevision}`,
      );
    this.#lastKeyRevision = revision;
    if (byKey === 0) return;
    this.#lastKey = Uint8Array.from(key);
    this.#mapKeyHashes.push(keyHash(key));
  }

  #unexpected(reason: string): EhdbError {
    const { id, dataset } = this.#options;
    return new EhdbError("UNEXPECTED", `building part ${id} of dataset ${dataset}: ${reason}`, { part: id, dataset });
  }
}
