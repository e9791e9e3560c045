/**
 * As much of the log's format as it takes to damage a file on purpose, from the format's own page (docs/formats/journal.md):
 * where batches begin and end. The engine isn't asked, because it is what is being checked.
 */
import type { Files } from "@ehdb/host";
import { readWhole } from "./tree.ts";

const MAGIC = Buffer.from("EHDB", "latin1");
const DATA_START = 4096;
const HEADER_BYTES = 64;
const ALIGNMENT = 8;

export interface Batch {
  readonly offset: number;
  readonly bodyOffset: number;
  readonly bodyBytes: number;
  /** Where the next one begins. */
  readonly end: number;
  readonly records: number;
  readonly first: number;
}

export interface SegmentFile {
  readonly path: string;
  readonly batches: readonly Batch[];
}

/** The segments of a log that hold batches, oldest first. */
export async function readSegments(files: Files, directory: string): Promise<SegmentFile[]> {
  const names = (await files.list(directory)).filter((name) => name.endsWith(".segment"));
  const segments: SegmentFile[] = [];
  for (const name of names) {
    const path = `${directory}/${name}`;
    const batches = batchesOf(Buffer.from(await readWhole(files, path)));
    if (batches.length > 0) segments.push({ path, batches });
  }
  return segments;
}

/**
 * The batches with records of a segment that has a successor, without those that a recovery copied into the successor: a
 * segment's first batch says with which sequence it begins.
 */
export function liveBatches(segment: SegmentFile, successor: SegmentFile): Batch[] {
  const next = successor.batches[0]?.first ?? 0;
  return segment.batches.filter((batch) => batch.records > 0 && batch.first + batch.records <= next);
}

function batchesOf(bytes: Buffer): Batch[] {
  const batches: Batch[] = [];
  let offset = DATA_START;
  while (offset + HEADER_BYTES <= bytes.length && bytes.subarray(offset, offset + 4).equals(MAGIC)) {
    const bodyBytes = bytes.readUInt32LE(offset + 8);
    const end = offset + Math.ceil((HEADER_BYTES + bodyBytes) / ALIGNMENT) * ALIGNMENT;
    if (end > bytes.length) break;
    const records = bytes.readUInt32LE(offset + 12);
    const first = Number(bytes.readBigUInt64LE(offset + 16));
    batches.push({ offset, bodyOffset: offset + HEADER_BYTES, bodyBytes, end, records, first });
    offset = end;
  }
  return batches;
}
