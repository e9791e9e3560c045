import xxhash from "xxhash-wasm";
import { HASH_BYTES } from "./envelope.ts";

/** 64 bits of xxHash: tells whether content that comes under a known id is the same. */
export type ContentHash = (content: Uint8Array) => Buffer;

let loading: Promise<ContentHash> | undefined;

/** Compiled once a process. */
export function loadContentHash(): Promise<ContentHash> {
  loading ??= load();
  return loading;
}

async function load(): Promise<ContentHash> {
  const hasher = await xxhash();
  return (content) => {
    const hash = Buffer.allocUnsafe(HASH_BYTES);
    hash.writeBigUInt64LE(hasher.h64Raw(content));
    return hash;
  };
}
