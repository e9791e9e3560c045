import type { DatasetOrder } from "@ehdb/contracts";
import { EhdbError } from "@ehdb/contracts";
import { datasetAt, ENTRY_HEADER_BYTES, isWholeOp, keyAt, opEnd, operation, operationAt, sortAt } from "../envelope.ts";
import type { PartMeta } from "../meta.ts";
import type { BlockKind } from "./block.ts";
import { bloomShape, buildBloom, keyHash } from "./bloom.ts";
import { Words } from "./columns.ts";
import { logEntries, mapEntries } from "./entry-cells.ts";
import { LogTables } from "./log-tables.ts";
import { KEY_CHECK_BYTES, PartCipher } from "./part-cipher.ts";
import { encodePartFooter, encodePartHeader, MAX_KEY_ID_BYTES, PART_FOOTER_BYTES, SALT_BYTES } from "./part-format.ts";
import type { BloomSection, Section } from "./part-format.ts";
import { compareBytes, noBytes } from "./position.ts";
import { PartOutput, SectionWriter } from "./section-writer.ts";

export interface PartBuilderOptions {
  readonly id: number;
  /** The dataset's number. */
  readonly dataset: number;
  readonly order: DatasetOrder;
  readonly level: number;
  readonly compression: "none" | "deflate";
  /** 32 random bytes, used for no other part. */
  readonly salt: Uint8Array;
  readonly encryption?: { readonly keyId: string; readonly masterKey: Uint8Array } | undefined;
  /** Takes the file's bytes, from the front to the back. They aren't touched afterwards. */
  readonly sink: (bytes: Uint8Array) => void;
}

const noSection: Section = { root: { kind: "index", offset: 0, bytes: 0 }, depth: 0, blocks: 0, cells: 0 };

function checkOptions({ salt, encryption }: PartBuilderOptions): void {
  if (salt.length !== SALT_BYTES) {
    throw new EhdbError("INVALID_OPTION", `salt has ${salt.length} bytes: give ${SALT_BYTES} random ones`, {
      option: "salt",
      bytes: salt.length,
    });
  }
  const keyIdBytes = encryption === undefined ? 1 : Buffer.byteLength(encryption.keyId, "utf8");
  if (keyIdBytes < 1 || keyIdBytes > MAX_KEY_ID_BYTES) {
    throw new EhdbError("INVALID_OPTION", `keyId has ${keyIdBytes} bytes of UTF-8: give 1 to ${MAX_KEY_ID_BYTES}`, {
      option: "keyId",
      bytes: keyIdBytes,
      maxBytes: MAX_KEY_ID_BYTES,
    });
  }
}

/**
 * Builds a part from its dataset's ops in their order: a log's by sort, a map's by key, then from the newest revision to the oldest. Pure,
 * and it streams: what it keeps is a block, the hashes of keys, and of a log the positions and the ids.
 */
export class PartBuilder {
  readonly #options: PartBuilderOptions;
  readonly #output: PartOutput;
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
    const { id, dataset, order, salt, encryption, sink, compression } = options;
    checkOptions(options);
    const cipher = encryption === undefined ? undefined : new PartCipher(encryption.masterKey, salt);
    this.#options = options;
    this.#output = new PartOutput(sink, salt, cipher, compression);
    this.#log = order === "by-sort" ? new LogTables() : undefined;
    this.#data = new SectionWriter(this.#output, "data", order === "by-sort" ? logEntries : mapEntries);
    const keyCheck = cipher?.keyCheck ?? new Uint8Array(KEY_CHECK_BYTES);
    this.#output.write(encodePartHeader({ id, dataset, order, salt, keyId: encryption?.keyId ?? "", keyCheck }));
  }

  /** Takes the op at `at`, copied. UNEXPECTED when it isn't of this dataset, or not in its order. */
  add(bytes: Buffer, at: number, revision: number, time: number): void {
    if (!isWholeOp(bytes, at, bytes.length)) throw this.#unexpected(`the op at ${at} isn't whole`);
    if (datasetAt(bytes, at) !== this.#options.dataset)
      throw this.#unexpected(`an op is of dataset ${datasetAt(bytes, at)}`);
    if ((operationAt(bytes, at) === operation.append) !== (this.#log !== undefined))
      throw this.#unexpected(`operation ${operationAt(bytes, at)} in a dataset that is ${this.#options.order}`);
    if (this.#log === undefined) this.#addToMap(bytes, at, revision);
    else this.#addToLog(this.#log, bytes, at, revision);
    const end = opEnd(bytes, at);
    const cell = this.#data.place(ENTRY_HEADER_BYTES + end - at);
    const into = this.#data.bytes;
    into.writeDoubleLE(revision, cell);
    into.writeDoubleLE(time, cell + 8);
    bytes.copy(into, cell + ENTRY_HEADER_BYTES, at, end);
    this.#records++;
    if (revision < this.#firstRevision) this.#firstRevision = revision;
    if (revision > this.#lastRevision) this.#lastRevision = revision;
    if (time < this.#firstTime) this.#firstTime = time;
    if (time > this.#lastTime) this.#lastTime = time;
  }

  /** Writes the rest of the file and says what the manifest needs to know. UNEXPECTED when nothing was added. */
  finish(): PartMeta {
    if (this.#records === 0) throw this.#unexpected("nothing was added");
    const output = this.#output;
    const log = this.#log;
    const data = this.#data.finish();
    const postings = log?.writePostings(output) ?? noSection;
    const ids = log?.writeIds(output) ?? noSection;
    const keyHashes = log?.keyHashes ?? this.#mapKeyHashes.values();
    const keyBloom = this.#writeBloom("keyBloom", keyHashes);
    const idBloom = this.#writeBloom("idBloom", log?.idHashes ?? new Uint32Array(0));
    const meta: PartMeta = {
      id: this.#options.id,
      dataset: this.#options.dataset,
      level: this.#options.level,
      records: this.#records,
      fileBytes: output.offset + PART_FOOTER_BYTES,
      firstSort: this.#firstSort,
      lastSort: this.#lastSort,
      firstRevision: this.#firstRevision,
      lastRevision: this.#lastRevision,
      firstTime: this.#firstTime,
      lastTime: this.#lastTime,
      ids: log?.ids ?? 0,
    };
    const { blocks, seed } = output;
    const keys = keyHashes.length;
    const { order } = this.#options;
    output.write(encodePartFooter({ meta, order, keys, blocks, data, postings, ids, keyBloom, idBloom }, seed));
    return meta;
  }

  #addToLog(log: LogTables, bytes: Buffer, at: number, revision: number): void {
    const sort = sortAt(bytes, at);
    if (!(sort > this.#lastSort)) throw this.#unexpected(`sort ${sort} came after ${this.#lastSort}`);
    if (!log.add(bytes, at, sort, revision))
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

  #writeBloom(kind: Extract<BlockKind, "keyBloom" | "idBloom">, hashes: Uint32Array): BloomSection {
    const shape = bloomShape(hashes.length);
    const offset = this.#output.offset;
    let blockBytes = 0;
    for (const room of buildBloom(hashes, shape)) blockBytes = this.#output.writeBlock(kind, room, shape.bytes).bytes;
    return { offset, partitions: shape.partitions, blockBytes };
  }

  #unexpected(reason: string): EhdbError {
    const { id, dataset } = this.#options;
    return new EhdbError("UNEXPECTED", `building part ${id} of dataset ${dataset}: ${reason}`, { part: id, dataset });
  }
}
