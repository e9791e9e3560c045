import { throwIfAborted } from "@ehdb/contracts";
import type { File } from "@ehdb/host";
import type { Damage, JournalRecord, VerifyReport } from "./api.ts";
import { scanBeyond } from "./beyond.ts";
import { decodeRecords } from "./cursor.ts";
import type { LogView } from "./cursor.ts";
import type { BatchHeader } from "./format.ts";
import { isEhdbError } from "@ehdb/contracts";
import type { Segment } from "./segment.ts";
import { openingOf } from "./tail.ts";
import { BatchWalker } from "./walker.ts";

export interface Visitor {
  readonly onBatch?: (records: readonly JournalRecord[], bytes: number) => Promise<void> | void;
  readonly onDamage: (damage: Damage) => void;
}

/** Walks a segment from its first batch to `segment.end`; where one isn't whole, goes on at the next that is. */
export async function walkSegment(view: Pick<LogView, "host">, file: File, segment: Segment, visitor: Visitor): Promise<void> {
  const walker = new BatchWalker(file, segment.seed, openingOf(segment), segment.end);
  let expected = segment.first;
  for (;;) {
    const batch = await walker.next();
    if (batch === undefined) {
      if (walker.offset >= segment.end) break;
      const found = await nextWhole(file, segment, walker.offset, walker.number ?? 0);
      const last = (found?.header.firstSequence ?? segment.last + 1) - 1;
      const reason = "the batch there is not whole, or not the one that belongs there";
      visitor.onDamage({ file: segment.path, offset: walker.offset, first: expected, last: Math.min(last, segment.last), reason });
      if (found === undefined) return;
      walker.skipTo(found.offset);
      expected = found.header.firstSequence;
      continue;
    }
    expected = walker.sequence as number;
    if (batch.header.records === 0) continue;
    try {
      await visitor.onBatch?.(await decodeRecords(view.host, segment, batch), batch.bytes.length);
    } catch (error) {
      if (!isEhdbError(error, "CORRUPT")) throw error;
      const { firstSequence, records } = batch.header;
      const reason = String(error.data["reason"]);
      visitor.onDamage({ file: segment.path, offset: batch.offset, first: firstSequence, last: firstSequence + records - 1, reason });
    }
  }
  if (expected <= segment.last) {
    const reason = "the segment ends before its last record";
    visitor.onDamage({ file: segment.path, offset: walker.offset, first: expected, last: segment.last, reason });
  }
}

/** The first whole batch behind a gap that isn't older than what was expected there. */
async function nextWhole(
  file: File,
  segment: Segment,
  from: number,
  number: number,
): Promise<{ header: BatchHeader; offset: number } | undefined> {
  for (let start = from; start < segment.end; ) {
    let candidate: { header: BatchHeader; offset: number } | undefined;
    await scanBeyond(file, segment.seed, start, segment.end, (header, offset) => {
      if (header.number < number || (offset === from && header.number === number)) return false;
      candidate = { header, offset };
      return true;
    });
    if (candidate === undefined) return undefined;
    const walker = new BatchWalker(file, segment.seed, { offset: candidate.offset }, segment.end);
    if ((await walker.next()) !== undefined) return candidate;
    start = candidate.offset + 8;
  }
  return undefined;
}

export async function verify(
  view: LogView,
  options: { readonly signal?: AbortSignal; readonly onProgress?: (doneBytes: number, totalBytes: number) => void } = {},
): Promise<VerifyReport> {
  const segments = [...view.segments];
  const totalBytes = segments.reduce((sum, segment) => sum + segment.end, 0);
  const damage: Damage[] = [];
  let [batches, records, bytes, done] = [0, 0, 0, 0];
  for (const segment of segments) {
    throwIfAborted(options.signal, "verify()");
    if (!view.segments.includes(segment)) continue;
    await view.files.use(segment, (file) =>
      walkSegment(view, file, segment, {
        onBatch: (found, size) => {
          throwIfAborted(options.signal, "verify()");
          batches++;
          records += found.length;
          bytes += size;
          options.onProgress?.(done + bytes, totalBytes);
        },
        onDamage: (found) => damage.push(found),
      }),
    );
    done += segment.end - bytes;
    options.onProgress?.(done + bytes, totalBytes);
  }
  return { ok: damage.length === 0, segments: segments.length, batches, records, bytes, damage };
}
