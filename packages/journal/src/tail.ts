import type { EhdbError } from "@ehdb/contracts";
import type { File, Host } from "@ehdb/host";
import { scanBeyond } from "./beyond.ts";
import { corrupt } from "./damage.ts";
import { BATCH_HEADER_BYTES, flag, readU64 } from "./format.ts";
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
 * durable means CORRUPT. Sets the segment's end and fills its index. With `known`, what an earlier call found, it only looks
 * at what has come since.
 */
export async function scanTail(host: Host, segment: Segment, bytes: number, known?: Tail): Promise<Tail> {
  const file = await host.files.open(segment.path, "read");
  try {
    const place = { offset: segment.end, previousCrc: segment.lastCrc };
    const expected = known === undefined ? openingOf(segment) : { ...place, sequence: known.last + 1 };
    const walker = new BatchWalker(file, segment.seed, expected, bytes, { readsAhead: true });
    let { last, lastCarrier, stated, epoch, time, lowWater, clean, tornBytes } = known ?? startOf(segment);
    let { lastCrc } = segment;
    for (let batch = await walker.next(); batch !== undefined; batch = await walker.next()) {
      const { header } = batch;
      if ((header.flags & flag.lowWater) !== 0) lowWater = Math.max(lowWater, readU64(batch.body, 0));
      if (header.records > 0) {
        segment.index.add(header.firstSequence, batch.offset);
        segment.lastMillis = header.time;
      }
      last = (walker.sequence as number) - 1;
      lastCrc = header.crc;
      stated = Math.max(stated, header.durable);
      epoch = Math.max(epoch, header.epoch);
      time = Math.max(time, header.time);
      clean = (header.flags & flag.clean) !== 0;
      if (carries(batch)) lastCarrier = { offset: walker.offset, last, crc: header.crc };
    }
    if (!clean && (known === undefined || !(await startsWithZeros(file, walker.offset)))) {
      const beyond = await statedBeyond(file, segment, walker.offset, bytes);
      if (beyond.stated > last) throw unreachable(segment.path, walker.offset, last + 1, beyond);
      stated = Math.max(stated, beyond.stated);
      tornBytes = beyond.tornBytes;
    }
    // Only now: who looks again goes on from what the last look found.
    segment.index.complete = true;
    [segment.end, segment.last, segment.lastCrc] = [walker.offset, last, lastCrc];
    return { end: walker.offset, last, lastCarrier, stated, epoch, time, lowWater, clean, tornBytes };
  } finally {
    await file.close();
  }
}

/** What the headers behind the end of a chain state. */
export interface Beyond {
  /** The highest sequence that one of them states durable, and the first header that states so. */
  readonly stated: number;
  readonly offset: number;
  readonly tornBytes: number;
}

export async function statedBeyond(
  file: File,
  { seed }: { seed: number },
  from: number,
  bytes: number,
): Promise<Beyond> {
  let stated = 0;
  let offset = from;
  const tornBytes = await scanBeyond(file, seed, from, bytes, (header, at) => {
    if (header.durable > stated) [stated, offset] = [header.durable, at];
  });
  return { stated, offset, tornBytes };
}

/** Sequences from `first` on are stated durable, and the chain to them is broken at `offset`. */
export function unreachable(file: string, offset: number, first: number, beyond: Beyond): EhdbError {
  const reason = `the batch there is not whole, and the one at byte ${beyond.offset} states these sequences durable`;
  return corrupt({ file, offset, first, last: beyond.stated, reason });
}

function startOf(segment: Segment): Omit<Tail, "end"> {
  return {
    last: segment.first - 1,
    lastCarrier: undefined,
    stated: segment.first - 1,
    epoch: segment.epoch,
    time: segment.openedMillis,
    lowWater: segment.preamble.lowWater,
    clean: false,
    tornBytes: 0,
  };
}

async function startsWithZeros(file: File, offset: number): Promise<boolean> {
  const bytes = Buffer.alloc(BATCH_HEADER_BYTES);
  await file.read(bytes, offset);
  return bytes.every((byte) => byte === 0);
}

/** What the batch after a segment's first must say. */
export function openingOf(segment: Segment): { offset: number; sequence: number; number: number; previousCrc: number } {
  return { offset: segment.openEnd, sequence: segment.first, number: 1, previousCrc: segment.openCrc };
}
