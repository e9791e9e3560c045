import { createCipheriv, createDecipheriv, createHmac, hkdfSync } from "node:crypto";
import { EhdbError } from "@ehdb/contracts";
import type { DecryptionKeys } from "@ehdb/journal";

/** GCM's tag ends an encrypted block. */
export const TAG_BYTES = 16;
export const KEY_CHECK_BYTES = 8;

const context = "ehdb part, version 1";

/** A part's own key: HKDF-SHA256 (RFC 5869) of the master key and the part's salt. */
export class PartCipher {
  readonly keyCheck: Uint8Array;
  readonly #key: Uint8Array;

  constructor(master: Uint8Array, salt: Uint8Array) {
    this.#key = new Uint8Array(hkdfSync("sha256", master, salt, context, 32));
    this.keyCheck = Uint8Array.from(
      createHmac("sha256", this.#key).update("key check").digest().subarray(0, KEY_CHECK_BYTES),
    );
  }

  /** Encrypts `body` in place and returns the tag. A block's offset is used once with this key: it's the nonce. */
  encrypt(body: Buffer, header: Uint8Array, offset: number): Uint8Array {
    const cipher = createCipheriv("aes-256-gcm", this.#key, nonce(offset));
    cipher.setAAD(header);
    body.set(cipher.update(body));
    cipher.final();
    return cipher.getAuthTag();
  }

  /** The plain body; `undefined` when the tag that ends `stored` doesn't hold. */
  decrypt(stored: Buffer, header: Uint8Array, offset: number): Buffer | undefined {
    const end = stored.length - TAG_BYTES;
    if (end < 0) return undefined;
    const decipher = createDecipheriv("aes-256-gcm", this.#key, nonce(offset));
    decipher.setAAD(header);
    decipher.setAuthTag(stored.subarray(end));
    try {
      const plain = decipher.update(stored.subarray(0, end));
      decipher.final();
      return plain;
    } catch {
      return undefined;
    }
  }
}

function nonce(offset: number): Uint8Array {
  const bytes = Buffer.alloc(12);
  bytes.writeUIntLE(offset, 0, 6);
  return bytes;
}

/** The master key that a part names. KEY_MISSING when the ring lacks it. */
export function masterKey(ring: DecryptionKeys | undefined, keyId: string, path: string): Uint8Array {
  const master = ring !== undefined && Object.hasOwn(ring.keys, keyId) ? ring.keys[keyId] : undefined;
  if (master !== undefined) return master;
  throw new EhdbError("KEY_MISSING", `${path} is encrypted with key "${keyId}", which encryption.keys doesn't hold`, {
    file: path,
    offset: 0,
    keyId,
  });
}

export function wrongKey(path: string, keyId: string): EhdbError {
  return new EhdbError(
    "WRONG_KEY",
    `${path} is whole, but the key given as "${keyId}" doesn't decrypt it. Nothing was changed; open it with the key that wrote it`,
    { file: path, offset: 0, keyId },
  );
}
