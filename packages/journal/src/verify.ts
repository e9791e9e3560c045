import { throwIfAborted } from "@ehdb/contracts";
import type { File } from "@ehdb/host";
import type { Damage, SequenceRange, VerifyOptions, VerifyReport } from "./api.ts";
import { checkOptions } from "./arguments.ts";
import type { LogView } from "./log-view.ts";
import { DATA_START, decodeSegmentHeader, SEGMENT_HEADER_BYTES } from "./format.ts";
import { isAbsent } from "./machine-error.ts";
import type { Segment } from "./segment.ts";
import { walkSegment } from "./walk-segment.ts";
import { BatchWalker } from "./walker.ts";

/** Reads every byte of every segment. A segment that is dropped meanwhile is passed over. */
export async function verify(view: LogView, options: VerifyOptions = {}): Promise<VerifyReport> {
  checkOptions(options, ["signal", "onProgress"] satisfies (keyof VerifyOptions)[]);
  const segments = [...view.segments];
  const totalBytes = segments.reduce((sum, segment) => sum + segment.end, 0);
  const damage: Damage[] = [];
  const gaps = new Gaps();
  let [batches, records, bytes, doneBytes] = [0, 0, 0, 0];
  for (const segment of segments) {
    throwIfAborted(options.signal, "verify()");
    const wholeBytes = segment.end;
    const read = async (file: File): Promise<void> => {
      damage.push(...(await openingDamage(file, segment)));
      await walkSegment(view.host, file, segment, {
        onBatch: async (found, batch) => {
          throwIfAborted(options.signal, "verify()");
          batches++;
          records += found.length;
          bytes += batch.bytes.length;
          gaps.met(batch.header.firstSequence, found.length);
          await options.onProgress?.(doneBytes + batch.offset, totalBytes);
        },
        onDamage: (found) => {
          damage.push(found);
          gaps.met(found.first, Math.max(0, found.last - found.first + 1));
        },
      });
    };
    try {
      await view.files.use(segment, read);
    } catch (error) {
      if (!isAbsent(error)) throw error;
      if (view.segments.includes(segment)) damage.push(wholeSegment(segment, 0, "the file is missing"));
    }
    doneBytes += wholeBytes;
    await options.onProgress?.(doneBytes, totalBytes);
  }
  return { ok: damage.length === 0, segments: segments.length, batches, records, bytes, damage, gaps: gaps.found };
}

/** What is missing between batches that follow each other. */
class Gaps {
  readonly found: SequenceRange[] = [];
  #next: number | undefined;

  met(first: number, records: number): void {
    if (this.#next !== undefined && first > this.#next) this.found.push({ first: this.#next, last: first - 1 });
    this.#next = Math.max(this.#next ?? 0, first + records);
  }
}

/** The header and the first batch, against what was read when the segment was opened or made. */
async function openingDamage(file: File, segment: Segment): Promise<Damage[]> {
  const bytes = Buffer.alloc(SEGMENT_HEADER_BYTES);
  await file.read(bytes, 0);
  const header = decodeSegmentHeader(bytes, segment.path);
  if (header === undefined || header.id !== segment.id || !Buffer.from(header.salt).equals(segment.salt)) {
    return [wholeSegment(segment, 0, "its header doesn't match its checksum, or isn't the one it was opened with")];
  }
  const walker = new BatchWalker(file, segment.seed, { offset: DATA_START, number: 0 }, segment.openEnd, {
    chunkBytes: DATA_START,
  });
  const opening = await walker.next();
  return opening?.header.crc === segment.openCrc
    ? []
    : [wholeSegment(segment, DATA_START, "its first batch is not whole")];
}

function wholeSegment(segment: Segment, offset: number, reason: string): Damage {
  return { file: segment.path, offset, first: segment.first, last: segment.last, reason };
}
