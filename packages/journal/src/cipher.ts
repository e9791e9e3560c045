import { createCipheriv, createDecipheriv, createHmac, hkdfSync } from "node:crypto";
import { EhdbError } from "@ehdb/contracts";
import type { DecryptionKeys } from "./api.ts";
import { BATCH_HEADER_BYTES, HEADER_FIELDS_END } from "./format.ts";

/** GCM's tag ends an encrypted body. */
export const TAG_BYTES = 16;
export const KEY_CHECK_BYTES = 8;

const context = "ehdb journal segment, version 1";

/** A segment's own key: HKDF-SHA256 (RFC 5869) of the master key and the segment's salt. */
export class SegmentCipher {
  readonly keyCheck: Uint8Array;
  readonly #key: Uint8Array;

  constructor(master: Uint8Array, salt: Uint8Array) {
    this.#key = new Uint8Array(hkdfSync("sha256", master, salt, context, 32));
    this.keyCheck = createHmac("sha256", this.#key).update("key check").digest().subarray(0, KEY_CHECK_BYTES);
  }

  /**
   * Encrypts the body of the batch in `bytes` in place and puts the tag behind it. The header's fields are
   * complete and authenticated; the batch number, used once with this key, is the nonce.
   */
  encrypt(bytes: Buffer, plainBytes: number, number: number): void {
    const cipher = createCipheriv("aes-256-gcm", this.#key, nonce(number));
    cipher.setAAD(bytes.subarray(8, HEADER_FIELDS_END));
    const body = bytes.subarray(BATCH_HEADER_BYTES, BATCH_HEADER_BYTES + plainBytes);
    body.set(cipher.update(body));
    cipher.final();
    bytes.set(cipher.getAuthTag(), BATCH_HEADER_BYTES + plainBytes);
  }

  /** The plain body of the whole batch in `batch`; `undefined` when the tag doesn't hold. */
  decrypt(batch: Buffer, bodyBytes: number, number: number): Buffer | undefined {
    const end = BATCH_HEADER_BYTES + bodyBytes;
    if (bodyBytes < TAG_BYTES) return undefined;
    const decipher = createDecipheriv("aes-256-gcm", this.#key, nonce(number));
    decipher.setAAD(batch.subarray(8, HEADER_FIELDS_END));
    decipher.setAuthTag(batch.subarray(end - TAG_BYTES, end));
    try {
      const plain = decipher.update(batch.subarray(BATCH_HEADER_BYTES, end - TAG_BYTES));
      decipher.final();
      return plain;
    } catch {
      return undefined;
    }
  }
}

function nonce(number: number): Uint8Array {
  const bytes = Buffer.alloc(12);
  bytes.writeUInt32LE(number, 0);
  return bytes;
}

/** The cipher of a segment; `undefined` when it isn't encrypted. KEY_MISSING when the ring lacks its key. */
export function segmentCipher(
  ring: DecryptionKeys | undefined,
  keyId: string,
  salt: Uint8Array,
  path: string,
): SegmentCipher | undefined {
  if (keyId === "") return undefined;
  const master = ring !== undefined && Object.hasOwn(ring.keys, keyId) ? ring.keys[keyId] : undefined;
  if (master === undefined) {
    throw new EhdbError("KEY_MISSING", `${path} is encrypted with key "${keyId}", which encryption.keys doesn't hold`, {
      file: path,
      keyId,
    });
  }
  return new SegmentCipher(master, salt);
}

export function wrongKey(path: string, keyId: string): EhdbError {
  return new EhdbError(
    "WRONG_KEY",
    `${path} is whole, but the key given as "${keyId}" doesn't decrypt it. Nothing was changed; open it with the key that wrote it`,
    { file: path, keyId },
  );
}
