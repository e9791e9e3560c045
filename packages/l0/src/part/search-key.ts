import { idHash, keyHash } from "./bloom.ts";

/** A key made ready to be looked for in any number of parts. */
export interface SearchKey {
  readonly bytes: Uint8Array;
  readonly hash: number;
}

/** An id under its key, made ready to be looked for. */
export interface SearchId {
  readonly key: SearchKey;
  readonly bytes: Uint8Array;
  readonly hash: number;
}

export function searchKey(key: string): SearchKey {
  const bytes = Buffer.from(key, "utf8");
  return { bytes, hash: keyHash(bytes) };
}

export function searchId(key: SearchKey, id: string): SearchId {
  const bytes = Buffer.from(id, "utf8");
  return { key, bytes, hash: idHash(bytes, key.bytes) };
}
