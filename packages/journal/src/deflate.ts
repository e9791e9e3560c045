import { deflateRawSync, inflateRawSync } from "node:zlib";
import type { Job } from "@ehdb/host";
import { MAX_BODY_BYTES } from "./format.ts";

/** Compresses a body. Level 1: the journal waits for it. */
export const deflateBody: Job<Uint8Array, Uint8Array> = {
  name: "deflateBody",
  module: import.meta.url,
  run: (body) => deflateRawSync(body, { level: 1 }),
};

/** Restores a body; throws for bytes that aren't one. */
export const inflateBody: Job<Uint8Array, Uint8Array> = {
  name: "inflateBody",
  module: import.meta.url,
  run: (body) => inflateRawSync(body, { maxOutputLength: MAX_BODY_BYTES }),
};
