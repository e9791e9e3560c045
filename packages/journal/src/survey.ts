import type { File } from "@ehdb/host";
import { scanBeyond } from "./beyond.ts";
import {
  DATA_START,
  decodePreamble,
  decodeSegmentHeader,
  flag,
  noLowWater,
  raisedBy,
  saltSeed,
  SEGMENT_HEADER_BYTES,
} from "./format.ts";
import type { LowWater, Preamble, SegmentHeader } from "./format.ts";
import { BatchWalker } from "./walker.ts";

/** What can be told of a segment from those of its batches that are whole, wherever they stand. */
export interface Survey {
  /** The end of the last whole batch, and the last sequence before it. */
  readonly end: number;
  readonly last: number;
  /** The first sequence of the first whole batch. */
  readonly first: number;
  readonly lowWater: LowWater;
  readonly stated: number;
  readonly epoch: number;
  readonly time: number;
  /** The segment's first batch, when it is whole. */
  readonly opening:
    | {
        readonly preamble: Preamble;
        readonly epoch: number;
        readonly time: number;
        readonly crc: number;
        readonly end: number;
      }
    | undefined;
}

/** Looks at every place where a batch may begin. `undefined` when no batch is whole: nothing was ever written, or nothing is left. */
export async function survey(file: File, seed: number, bytes: number): Promise<Survey | undefined> {
  const offsets: number[] = [];
  let stated = 0;
  await scanBeyond(file, seed, DATA_START, bytes, (header, offset) => {
    offsets.push(offset);
    stated = Math.max(stated, header.durable);
  });
  let found: Survey | undefined;
  // One for all of them: what it has read of the file serves the next ones.
  const walker = new BatchWalker(file, seed, { offset: DATA_START }, bytes);
  for (const offset of offsets) {
    // What stands inside a whole batch is its payload.
    if (found !== undefined && offset < found.end) continue;
    walker.skipTo(offset);
    const batch = await walker.next();
    if (batch === undefined) continue;
    const { header, body } = batch;
    let { lowWater, opening } = found ?? { lowWater: noLowWater, opening: undefined };
    if ((header.flags & flag.open) !== 0) {
      opening = {
        preamble: decodePreamble(body),
        epoch: header.epoch,
        time: header.time,
        crc: header.crc,
        end: walker.offset,
      };
      lowWater = opening.preamble.lowWater;
    }
    lowWater = raisedBy(lowWater, header, body);
    found = {
      end: walker.offset,
      last: (walker.sequence as number) - 1,
      first: found?.first ?? header.firstSequence,
      lowWater,
      stated,
      epoch: Math.max(found?.epoch ?? 0, header.epoch),
      time: header.time,
      opening,
    };
  }
  return found;
}

/** The segment's header; where it is damaged, the one header whose checksum fits that differs from it in a single bit. */
export async function repairedHeader(file: File, path: string, id: number): Promise<SegmentHeader | undefined> {
  const bytes = Buffer.alloc(SEGMENT_HEADER_BYTES);
  if ((await file.read(bytes, 0)) < SEGMENT_HEADER_BYTES) return undefined;
  const header = decodeSegmentHeader(bytes, path);
  if (header !== undefined) return header.id === id ? header : undefined;
  for (let bit = 0; bit < SEGMENT_HEADER_BYTES * 8; bit++) {
    const at = bit >>> 3;
    bytes[at] = (bytes[at] as number) ^ (1 << (bit & 7));
    const repaired = decodeSegmentHeader(bytes, path);
    if (repaired?.id === id) return repaired;
    bytes[at] ^= 1 << (bit & 7);
  }
  return undefined;
}

export const seedOf = (header: SegmentHeader): number => saltSeed(header.salt);
