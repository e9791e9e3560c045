import type { DatasetOrder } from "@ehdb/contracts";
import { EhdbError } from "@ehdb/contracts";
import type { PartMeta } from "../meta.ts";
import type { BlockKind } from "./block.ts";
import { bloomShape, buildBloom } from "./bloom.ts";
import { KEY_CHECK_BYTES, PartCipher } from "./part-cipher.ts";
import { encodePartFooter, encodePartHeader, MAX_KEY_ID_BYTES, PART_FOOTER_BYTES, SALT_BYTES } from "./part-format.ts";
import type { BloomSection, Section } from "./part-format.ts";
import { PartOutput } from "./section-writer.ts";

export interface PartWriterOptions {
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

/** What a part covers. */
export type PartRange = Pick<
  PartMeta,
  "firstSort" | "lastSort" | "firstRevision" | "lastRevision" | "firstTime" | "lastTime"
>;

/** What was written of a part before its filters and its footer. */
export interface PartContent {
  readonly records: number;
  readonly range: PartRange;
  readonly data: Section;
  readonly postings: Section;
  readonly ids: Section;
  readonly erasures: Section;
  /** One a key, and one an id. */
  readonly keyHashes: Uint32Array;
  readonly idHashes: Uint32Array;
}

/** A part's file from its header to its footer; what stands between is written to `output`. */
export class PartWriter {
  readonly output: PartOutput;
  readonly #options: PartWriterOptions;

  constructor(options: PartWriterOptions) {
    const { id, dataset, order, salt, encryption, sink, compression } = options;
    checkOptions(options);
    const cipher = encryption === undefined ? undefined : new PartCipher(encryption.masterKey, salt);
    this.#options = options;
    this.output = new PartOutput(sink, salt, cipher, compression);
    const keyCheck = cipher?.keyCheck ?? new Uint8Array(KEY_CHECK_BYTES);
    this.output.write(encodePartHeader({ id, dataset, order, salt, keyId: encryption?.keyId ?? "", keyCheck }));
  }

  /** Writes the rest of the file and says what the manifest needs to know. */
  finish({ records, range, data, postings, ids, erasures, keyHashes, idHashes }: PartContent): PartMeta {
    const { output } = this;
    const { id, dataset, level, order } = this.#options;
    const keyBloom = this.#writeBloom("keyBloom", keyHashes);
    const idBloom = this.#writeBloom("idBloom", idHashes);
    const meta: PartMeta = {
      id,
      dataset,
      level,
      records,
      fileBytes: output.offset + PART_FOOTER_BYTES,
      ...range,
      ids: ids.cells,
      erasures: erasures.cells,
    };
    const { blocks, seed } = output;
    const keys = keyHashes.length;
    const footer = { meta, order, keys, blocks, data, postings, ids, keyBloom, idBloom, erasures };
    output.write(encodePartFooter(footer, seed));
    return meta;
  }

  #writeBloom(kind: Extract<BlockKind, "keyBloom" | "idBloom">, hashes: Uint32Array): BloomSection {
    const shape = bloomShape(hashes.length);
    const offset = this.output.offset;
    let blockBytes = 0;
    for (const room of buildBloom(hashes, shape)) blockBytes = this.output.writeBlock(kind, room, shape.bytes).bytes;
    return { offset, partitions: shape.partitions, blockBytes };
  }
}

function checkOptions({ salt, encryption }: PartWriterOptions): void {
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
