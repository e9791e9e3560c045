import { isEhdbError } from "@ehdb/contracts";
import type { File, Host } from "@ehdb/host";
import type { Damage, JournalRecord } from "./api.ts";
import { scanBeyond } from "./beyond.ts";
import { decodeRecords } from "./body.ts";
import { BATCH_ALIGNMENT, BATCH_HEADER_BYTES } from "./format.ts";
import type { BatchHeader } from "./format.ts";
import type { Segment } from "./segment.ts";
import { openingOf } from "./tail.ts";
import { BatchWalker } from "./walker.ts";
import type { Expected, RawBatch } from "./walker.ts";

export interface Visitor {
  readonly onBatch?: (records: readonly JournalRecord[], batch: RawBatch) => Promise<void> | void;
  readonly onDamage: (damage: Damage) => void;
}

/** Walks a segment from its first batch to `segment.end`; where one isn't whole, goes on at the next that is. */
export async function walkSegment(
  host: Host,
  file: File,
  segment: Segment,
  visitor: Visitor,
  start: Expected = openingOf(segment),
): Promise<void> {
  // A segment in use grows meanwhile: what it holds now is what is looked at.
  const { end, last } = segment;
  const walker = new BatchWalker(file, segment.seed, start, end, { readsAhead: true });
  let expected = segment.first;
  for (;;) {
    const batch = await walker.next();
    if (batch === undefined) {
      if (walker.offset >= end) break;
      const found = await nextWhole(file, segment.seed, { start: walker.offset, end, number: walker.number ?? 0 });
      const lastLost = Math.min(last, (found?.header.firstSequence ?? last + 1) - 1);
      const reason = "the batch there is not whole, or not the one that belongs there";
      visitor.onDamage({ file: segment.path, offset: walker.offset, first: expected, last: lastLost, reason });
      if (found === undefined) return;
      walker.skipTo(found.offset);
      expected = found.header.firstSequence;
      continue;
    }
    expected = walker.sequence as number;
    if (batch.header.records === 0) continue;
    try {
      await visitor.onBatch?.(await decodeRecords(host, segment, batch), batch);
    } catch (error) {
      if (!isEhdbError(error, "CORRUPT")) throw error;
      const { firstSequence, records } = batch.header;
      const reason = String(error.data["reason"]);
      visitor.onDamage({
        file: segment.path,
        offset: batch.offset,
        first: firstSequence,
        last: firstSequence + records - 1,
        reason,
      });
    }
  }
  if (expected <= last) {
    const reason = "the segment ends before its last record";
    visitor.onDamage({ file: segment.path, offset: walker.offset, first: expected, last, reason });
  }
}

/** The first whole batch from `start` that isn't older than what was expected there. */
async function nextWhole(
  file: File,
  seed: number,
  { start, end, number }: { start: number; end: number; number: number },
): Promise<{ header: BatchHeader; offset: number } | undefined> {
  for (let from = start; from < end;) {
    let candidate: { header: BatchHeader; offset: number } | undefined;
    await scanBeyond(file, seed, from, end, (header, offset) => {
      if (header.number < number || (offset === start && header.number === number)) return false;
      candidate = { header, offset };
      return true;
    });
    if (candidate === undefined) return undefined;
    // No more than the batch: there may be as many such places as batches.
    const walker = new BatchWalker(file, seed, { offset: candidate.offset }, end, { chunkBytes: BATCH_HEADER_BYTES });
    if ((await walker.next()) !== undefined) return candidate;
    from = candidate.offset + BATCH_ALIGNMENT;
  }
  return undefined;
}
