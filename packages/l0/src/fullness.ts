import type { Generation } from "./generation.ts";

/** When a generation is to be sealed. */
export interface Fullness {
  readonly sealMaxBytes: number;
  readonly sealMaxCommits: number;
}

export function isFull({ chunks, commits }: Generation, { sealMaxBytes, sealMaxCommits }: Fullness): boolean {
  return chunks.bytes >= sealMaxBytes || commits.places.length >= sealMaxCommits;
}
