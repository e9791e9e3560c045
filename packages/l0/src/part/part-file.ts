import { crc32 } from "node:zlib";
import type { DatasetOrder } from "@ehdb/contracts";
import { EhdbError } from "@ehdb/contracts";
import type { File } from "@ehdb/host";
import type { DecryptionKeys } from "@ehdb/journal";
import type { BlockCache } from "../block-cache.ts";
import type { PartMeta } from "../meta.ts";
import { decodeBlock } from "./block.ts";
import type { BlockCodec, BlockPlace } from "./block.ts";
import { run, runCached } from "./lookup.ts";
import type { BlockSource, Lookup } from "./lookup.ts";
import { noLookups } from "./lookup-counts.ts";
import type { LookupCounts } from "./lookup-counts.ts";
import { masterKey, PartCipher, wrongKey } from "./part-cipher.ts";
import { corruptPart } from "./part-damage.ts";
import {
  decodePartFooter,
  decodePartHeader,
  metaDifference,
  PART_FOOTER_BYTES,
  PART_HEADER_BYTES,
} from "./part-format.ts";
import type { PartFooter, PartHeader } from "./part-format.ts";
import type { PartHandles } from "./part-handles.ts";
import { isSlotted } from "./slots.ts";

/** What the parts of an engine share. */
export interface PartContext {
  readonly cache: BlockCache;
  readonly handles: PartHandles;
  readonly encryption: DecryptionKeys | undefined;
  readonly counts?: LookupCounts;
}

/** What is known of a part once its header and footer have been read. */
export interface OpenedPart {
  /** Of its format. */
  readonly version: number;
  readonly codec: BlockCodec;
  readonly footer: PartFooter;
}

/** A part's file: nothing is read before the first question, and every block is verified by the read that loads it. */
export class PartFile implements BlockSource {
  readonly path: string;
  readonly meta: PartMeta;
  readonly counts: LookupCounts;
  readonly #context: PartContext;
  #opened: OpenedPart | undefined;
  #opening: Promise<OpenedPart> | undefined;

  constructor(context: PartContext, path: string, meta: PartMeta) {
    this.#context = context;
    this.path = path;
    this.meta = meta;
    this.counts = context.counts ?? noLookups();
  }

  /**
   * Reads header and footer. CORRUPT when they are damaged, or aren't those of the part that the manifest names; KEY_MISSING,
   * WRONG_KEY, UNSUPPORTED_VERSION, IO_ERROR. After an error the next call tries again.
   */
  async open(): Promise<OpenedPart> {
    if (this.#opened !== undefined) return this.#opened;
    this.#opening ??= this.readEnds();
    try {
      this.#opened = await this.#opening;
      return this.#opened;
    } finally {
      this.#opening = undefined;
    }
  }

  /** The same from the disk, whatever is known already. */
  readEnds(): Promise<OpenedPart> {
    return this.#context.handles.use(this.path, (file) => this.#readEnds(file));
  }

  /** The footer of a part that is of a dataset of this order; UNEXPECTED for another. */
  async footerOf(order: DatasetOrder): Promise<PartFooter> {
    const { footer } = this.#opened ?? (await this.open());
    this.#assertOrder(footer, order);
    return footer;
  }

  async run<T>(order: DatasetOrder, steps: (footer: PartFooter) => Lookup<T>): Promise<T> {
    return run(steps(await this.footerOf(order)), this);
  }

  /** `undefined` when a block that it needs isn't in memory. */
  runCached<T>(order: DatasetOrder, steps: (footer: PartFooter) => Lookup<T>): T | undefined {
    if (this.#opened === undefined) return undefined;
    this.#assertOrder(this.#opened.footer, order);
    return runCached(steps(this.#opened.footer), this);
  }

  /** What is looked for certainly isn't here. */
  prunedByBloom(): null {
    this.counts.bloomPruned++;
    return null;
  }

  peek(place: BlockPlace): Buffer | undefined {
    return this.#context.cache.peek(this.meta.id, place.offset);
  }

  load(place: BlockPlace): Promise<Buffer> {
    return this.#context.cache.load(this.meta.id, place.offset, () => this.read(place));
  }

  /**
   * Blocks that a scan wants, in its order. Neighbours that aren't in memory are read at once, and don't push out of it what others come back
   * to; a single one is kept.
   */
  async loadRun(places: readonly BlockPlace[]): Promise<Buffer[]> {
    if (places.length === 1) return [this.peek(places[0] as BlockPlace) ?? (await this.load(places[0] as BlockPlace))];
    const { codec } = await this.open();
    const blocks: Buffer[] = [];
    while (blocks.length < places.length) {
      const cached = this.peek(places[blocks.length] as BlockPlace);
      if (cached !== undefined) blocks.push(cached);
      else blocks.push(...(await this.#readNeighbours(places.slice(blocks.length), codec)));
    }
    return blocks;
  }

  /** The first of `places`, and those that lie beside it and aren't in memory, with one read. */
  async #readNeighbours(places: readonly BlockPlace[], codec: BlockCodec): Promise<Buffer[]> {
    let [from, to] = ends(places[0] as BlockPlace);
    let count = 1;
    for (; count < places.length; count++) {
      const place = places[count] as BlockPlace;
      const [start, end] = ends(place);
      if ((start !== to && end !== from) || this.peek(place) !== undefined) break;
      [from, to] = [Math.min(from, start), Math.max(to, end)];
    }
    const bytes = await this.readBytes(from, to - from);
    return places.slice(0, count).map((place) => {
      const at = place.offset - from;
      return this.decode(bytes.subarray(at, at + place.bytes), place, codec);
    });
  }

  /** From the disk, whatever the cache holds. */
  async read(place: BlockPlace): Promise<Buffer> {
    const { codec } = await this.open();
    const bytes = await this.readBytes(place.offset, place.bytes);
    return this.decode(bytes, place, codec);
  }

  /** Short at the end of the file. */
  readBytes(offset: number, bytes: number): Promise<Buffer> {
    return this.#context.handles.use(this.path, (file) => readBytes(file, offset, bytes));
  }

  decode(bytes: Buffer, place: BlockPlace, codec: BlockCodec): Buffer {
    const block = decodeBlock(bytes, place, codec, this.path);
    const isBloom = place.kind === "keyBloom" || place.kind === "idBloom";
    if (isBloom ? block.length === 0 : !isSlotted(block)) throw this.corrupt(place.offset, "a block holds no cells");
    return block;
  }

  corrupt(offset: number, reason: string): Error {
    return corruptPart(this.path, offset, reason);
  }

  /** Lets go of its blocks and its file; a later question opens it again. */
  async close(): Promise<void> {
    this.#context.cache.forget(this.meta.id);
    await this.#context.handles.release(this.path);
  }

  async #readEnds(file: File): Promise<OpenedPart> {
    const { fileBytes } = this.meta;
    const header = decodePartHeader(await readBytes(file, 0, PART_HEADER_BYTES), this.path);
    if (header === undefined) throw this.corrupt(0, "the header doesn't match its checksum");
    this.#checkHeader(header);
    const size = await file.size();
    if (size !== fileBytes) throw this.corrupt(Math.min(size, fileBytes), `it has ${size} bytes and not ${fileBytes}`);
    const seed = crc32(header.salt);
    const cipher = this.#cipher(header);
    const footerAt = fileBytes - PART_FOOTER_BYTES;
    const footer = decodePartFooter(await readBytes(file, footerAt, PART_FOOTER_BYTES), seed, fileBytes);
    if (footer === undefined) throw this.corrupt(footerAt, "the footer doesn't match its checksum");
    const wrong = footer.order === header.order ? metaDifference(footer.meta, this.meta) : "order";
    if (wrong !== undefined) throw this.corrupt(footerAt, `the footer and the manifest differ in ${wrong}`);
    return { version: header.version, codec: { seed, cipher }, footer: { ...footer, meta: this.meta } };
  }

  #assertOrder(footer: PartFooter, order: DatasetOrder): void {
    if (footer.order === order) return;
    const message = `${this.path} is asked as if it were ${order}, and it is ${footer.order}`;
    throw new EhdbError("UNEXPECTED", message, { file: this.path });
  }

  #checkHeader(header: PartHeader): void {
    const { id, dataset } = this.meta;
    if (header.id !== id) throw this.corrupt(16, `its header says part ${header.id}, and the manifest part ${id}`);
    if (header.dataset !== dataset)
      throw this.corrupt(12, `its header says dataset ${header.dataset}, and the manifest ${dataset}`);
  }

  #cipher({ keyId, salt, keyCheck }: PartHeader): PartCipher | undefined {
    if (keyId === "") return undefined;
    const cipher = new PartCipher(masterKey(this.#context.encryption, keyId, this.path), salt);
    if (!Buffer.from(keyCheck).equals(cipher.keyCheck)) throw wrongKey(this.path, keyId);
    return cipher;
  }
}

function ends({ offset, bytes }: BlockPlace): [start: number, end: number] {
  return [offset, offset + bytes];
}

async function readBytes(file: File, offset: number, bytes: number): Promise<Buffer> {
  const into = Buffer.allocUnsafeSlow(bytes);
  return into.subarray(0, await file.read(into, offset));
}
