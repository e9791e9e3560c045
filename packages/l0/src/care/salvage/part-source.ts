import { crc32 } from "node:zlib";
import { isEhdbError, MIB } from "@ehdb/contracts";
import type { File } from "@ehdb/host";
import type { KeyRing } from "@ehdb/journal";
import type { PartMeta } from "../../meta.ts";
import { BLOCK_HEADER_BYTES, decodeBlock, statedPlace } from "../../part/block.ts";
import type { BlockCodec, BlockPlace } from "../../part/block.ts";
import { masterKey, PartCipher, wrongKey } from "../../part/part-cipher.ts";
import { decodePartFooter, decodePartHeader, PART_FOOTER_BYTES, PART_HEADER_BYTES } from "../../part/part-format.ts";
import type { PartFooter, PartHeader } from "../../part/part-format.ts";
import { isSlotted } from "../../part/slots.ts";
import { repairBit } from "./single-bit.ts";

const windowBytes = MIB;

/** A part that may be damaged anywhere, as far as its own bytes tell what it is. */
export class PartSource {
  readonly path: string;
  readonly header: PartHeader;
  readonly footer: PartFooter | undefined;
  /** Where blocks end at the latest. */
  readonly end: number;
  readonly #file: File;
  readonly #codec: BlockCodec;
  #window: Buffer = Buffer.alloc(0);
  #windowAt = 0;

  private constructor(
    path: string,
    file: File,
    header: PartHeader,
    codec: BlockCodec,
    footer: PartFooter | undefined,
    end: number,
  ) {
    this.path = path;
    this.#file = file;
    this.header = header;
    this.footer = footer;
    this.end = end;
    this.#codec = codec;
  }

  /** `undefined` when not even its header can be told. KEY_MISSING, WRONG_KEY, UNSUPPORTED_VERSION. */
  static async open(
    file: File,
    path: string,
    { encryption, fileBytes }: { readonly encryption: KeyRing | undefined; readonly fileBytes?: number | undefined },
  ): Promise<PartSource | undefined> {
    const bytes = Buffer.alloc(PART_HEADER_BYTES);
    await file.read(bytes, 0);
    const header = headerOf(bytes, path);
    if (header === undefined) return undefined;
    const seed = crc32(header.salt);
    const size = await file.size();
    let footer: PartFooter | undefined;
    for (const end of new Set([fileBytes ?? size, size])) {
      const last = Buffer.alloc(PART_FOOTER_BYTES);
      if (end < PART_HEADER_BYTES + PART_FOOTER_BYTES || end > size) continue;
      await file.read(last, end - PART_FOOTER_BYTES);
      footer ??= decodePartFooter(last, seed, end);
    }
    const end = footer === undefined ? size : footer.meta.fileBytes - PART_FOOTER_BYTES;
    const cipher = cipherOf(header, encryption, path);
    return new PartSource(path, file, header, { seed, cipher }, footer, end);
  }

  get meta(): PartMeta | undefined {
    return this.footer?.meta;
  }

  /** The plain bytes of a block; `undefined` when it isn't whole. */
  async block(place: BlockPlace): Promise<Buffer | undefined> {
    if (place.offset + place.bytes > this.end) return undefined;
    const bytes = await this.read(place.offset, place.bytes);
    try {
      const plain = decodeBlock(bytes, place, this.#codec, this.path);
      const isBloom = place.kind === "keyBloom" || place.kind === "idBloom";
      return isBloom || isSlotted(plain) ? plain : undefined;
    } catch (error) {
      if (isEhdbError(error, "CORRUPT")) return undefined;
      throw error;
    }
  }

  /** What a block at `offset` would be, by its own word. */
  async stated(offset: number): Promise<BlockPlace | undefined> {
    if (offset + BLOCK_HEADER_BYTES > this.end) return undefined;
    return statedPlace(await this.read(offset, BLOCK_HEADER_BYTES), offset);
  }

  /** A copy; short at the end of the file. */
  async read(offset: number, bytes: number): Promise<Buffer> {
    const start = offset - this.#windowAt;
    if (start >= 0 && start + bytes <= this.#window.length)
      return Buffer.from(this.#window.subarray(start, start + bytes));
    const window = Buffer.allocUnsafeSlow(Math.max(windowBytes, bytes));
    this.#window = window.subarray(0, await this.#file.read(window, offset));
    this.#windowAt = offset;
    return Buffer.from(this.#window.subarray(0, bytes));
  }
}

/** The header; one that differs in a single bit from what its checksum says is put right. */
function headerOf(bytes: Buffer, path: string): PartHeader | undefined {
  const whole = decodePartHeader(bytes, path);
  if (whole !== undefined) return whole;
  const checksumAt = PART_HEADER_BYTES - 4;
  const content = bytes.subarray(0, checksumAt);
  if (!repairBit(content, bytes.readUInt32LE(checksumAt))) return undefined;
  bytes.writeUInt32LE(crc32(content), checksumAt);
  return decodePartHeader(bytes, path);
}

function cipherOf(
  { keyId, salt, keyCheck }: PartHeader,
  encryption: KeyRing | undefined,
  path: string,
): PartCipher | undefined {
  if (keyId === "") return undefined;
  const cipher = new PartCipher(masterKey(encryption, keyId, path), salt);
  if (!Buffer.from(keyCheck).equals(cipher.keyCheck)) throw wrongKey(path, keyId);
  return cipher;
}
