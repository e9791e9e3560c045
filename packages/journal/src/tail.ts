import type { Host } from "@ehdb/host";
import { scanBeyond } from "./beyond.ts";
import { corrupt } from "./damage.ts";
import { flag, readU64 } from "./format.ts";
import type { Segment } from "./segment.ts";
import { BatchWalker } from "./walker.ts";
import type { RawBatch } from "./walker.ts";

/** A place between two batches of a segment, and the state of the chain there. */
export interface ChainPosition {
  readonly offset: number;
  /** The last sequence before it. */
  readonly last: number;
  readonly crc: number;
}

/** What the newest started segment holds. */
export interface Tail {
  /** After the last whole batch. */
  readonly end: number;
  readonly last: number;
  /** After the last batch that carries records; `undefined` when the segment has none. */
  readonly lastCarrier: ChainPosition | undefined;
  /** The highest sequence that any batch states durable. */
  readonly stated: number;
  readonly epoch: number;
  readonly time: number;
  readonly lowWater: number;
  /** A clean close ended the segment. */
  readonly clean: boolean;
  /** From the end to the last byte that isn't zero. */
  readonly tornBytes: number;
}

/** Marks carry nothing; records do, and a mark that makes sequences jump. */
export const carries = (batch: RawBatch): boolean => batch.header.records > 0 || (batch.header.flags & flag.gap) !== 0;

/**
 * Walks the newest started segment to the end of its chain and tells a torn tail from rot: a later batch that states the gap
 * durable means CORRUPT. Sets the segment's end and fills its index.
 */
export async function scanTail(host: Host, segment: Segment, bytes: number): Promise<Tail> {
  const file = await host.files.open(segment.path, "read");
  try {
    const walker = new BatchWalker(file, segment.seed, openingOf(segment), bytes);
    let { lowWater } = segment.preamble;
    let [last, lastCrc, stated, epoch, time] = [segment.last, segment.openCrc, segment.first - 1, segment.epoch, segment.openedMillis];
    let lastCarrier: ChainPosition | undefined;
    let clean = false;
    for (let batch = await walker.next(); batch !== undefined; batch = await walker.next()) {
      const { header } = batch;
      if ((header.flags & flag.lowWater) !== 0) lowWater = Math.max(lowWater, readU64(batch.body, 0));
      if (header.records > 0) segment.index.add(header.firstSequence, batch.offset);
      last = (walker.sequence as number) - 1;
      lastCrc = header.crc;
      stated = Math.max(stated, header.durable);
      epoch = Math.max(epoch, header.epoch);
      time = Math.max(time, header.time);
      clean = (header.flags & flag.clean) !== 0;
      if (carries(batch)) lastCarrier = { offset: walker.offset, last, crc: header.crc };
    }
    segment.index.complete = true;
    segment.end = walker.offset;
    segment.last = last;
    segment.lastCrc = lastCrc;
    const missing = last + 1;
    let tornBytes = 0;
    if (!clean) {
      tornBytes = await scanBeyond(file, segment.seed, walker.offset, bytes, (header, offset) => {
        if (header.durable < missing) {
          stated = Math.max(stated, Math.min(header.durable, last));
          return;
        }
        throw corrupt({
          file: segment.path,
          offset: walker.offset,
          first: missing,
          last: header.durable,
          reason: `the batch there is not whole, and the one at byte ${offset} states these sequences durable`,
        });
      });
    }
    return { end: walker.offset, last, lastCarrier, stated, epoch, time, lowWater, clean, tornBytes };
  } finally {
    await file.close();
  }
}

/** What the batch after a segment's first must say. */
export function openingOf(segment: Segment): { offset: number; sequence: number; number: number; previousCrc: number } {
  return { offset: segment.openEnd, sequence: segment.first, number: 1, previousCrc: segment.openCrc };
}
