import type { File } from "@ehdb/host";
import { BATCH_ALIGNMENT, BATCH_HEADER_BYTES, BATCH_MAGIC, decodeBatchHeader } from "./format.ts";
import type { BatchHeader } from "./format.ts";

/** What it looks for is mostly near: the first piece is small, and each one as large as those before it together. */
const firstChunkBytes = 4 * 1024;
const mostChunkBytes = 256 * 1024;
const magic = Buffer.alloc(4);
magic.writeUInt32LE(BATCH_MAGIC, 0);

/**
 * Looks at what stands behind the end of a chain: calls `onHeader` for every whole batch header of this segment, at any
 * 8-byte step, until it returns true. What such a header states was true when it was written, whether its body is whole or
 * not; and a copy of this segment stored as payload states only what came before itself.
 *
 * Resolves with the number of bytes from `from` to the last one that isn't zero.
 */
export async function scanBeyond(
  file: File,
  seed: number,
  from: number,
  limit: number,
  onHeader: (header: BatchHeader, offset: number) => boolean | void,
): Promise<number> {
  let lastNonZero = from - 1;
  for (let start = from; start < limit;) {
    const chunkBytes = Math.min(mostChunkBytes, Math.max(firstChunkBytes, start - from));
    // Each chunk overlaps the next by a header, so that none is missed at its edge.
    const chunk = Buffer.alloc(Math.min(chunkBytes + BATCH_HEADER_BYTES, limit - start));
    const read = await file.read(chunk, start);
    const bytes = chunk.subarray(0, read);
    for (let i = Math.min(read, chunkBytes) - 1; i >= 0; i--) {
      if (bytes[i] === 0) continue;
      lastNonZero = start + i;
      break;
    }
    for (let at = bytes.indexOf(magic); at !== -1 && at < chunkBytes; at = bytes.indexOf(magic, at + 1)) {
      if ((start + at) % BATCH_ALIGNMENT !== 0) continue;
      const header = decodeBatchHeader(bytes, at, seed);
      if (header !== undefined && onHeader(header, start + at) === true) return lastNonZero + 1 - from;
    }
    start += chunkBytes;
  }
  return lastNonZero + 1 - from;
}
