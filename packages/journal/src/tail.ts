import type { EhdbError } from "@ehdb/contracts";
import type { File, Host } from "@ehdb/host";
import { scanBeyond } from "./beyond.ts";
import { corrupt } from "./damage.ts";
import { BATCH_HEADER_BYTES, flag, raisedBy } from "./format.ts";
import type { LowWater } from "./format.ts";
import type { Segment } from "./segment.ts";
import { BatchWalker } from "./walker.ts";
import type { Expected, RawBatch } from "./walker.ts";

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
  /** Whole batches up to there. */
  readonly batches: number;
  readonly last: number;
  /** After the last batch that carries records; `undefined` when the segment has none. */
  readonly lastCarrier: ChainPosition | undefined;
  /** The highest sequence that any batch states durable. */
  readonly stated: number;
  readonly epoch: number;
  readonly time: number;
  readonly lowWater: LowWater;
  /** A clean close ended the segment. */
  readonly clean: boolean;
  /** From the end to the last byte that isn't zero. */
  readonly tornBytes: number;
}

/** Marks carry nothing; records do, and a mark that makes sequences jump. */
export const carries = (batch: RawBatch): boolean => batch.header.records > 0 || (batch.header.flags & flag.gap) !== 0;

/**
 * Walks the newest started segment to the end of its chain and tells a torn tail from rot: a later batch that states what is
 * missing durable means CORRUPT. Sets the segment's end and fills its index. With `known`, what an earlier call found, it only looks
 * at what has come since.
 */
export async function scanTail(host: Host, segment: Segment, bytes: number, known?: Tail): Promise<Tail> {
  const file = await host.files.open(segment.path, "read");
  try {
    const expected = known === undefined ? openingOf(segment) : continuationOf(segment, known);
    const walker = new BatchWalker(file, segment.seed, expected, bytes, { readsAhead: true });
    let { last, lastCarrier, stated, epoch, time, lowWater, clean, tornBytes } = known ?? startOf(segment);
    let { lastCrc } = segment;
    for (let judgedAt = -1; ;) {
      for (let batch = await walker.next(); batch !== undefined; batch = await walker.next()) {
        const { header } = batch;
        lowWater = raisedBy(lowWater, header, batch.body);
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
      if (clean || (known !== undefined && (await startsWithZeros(file, walker.offset)))) break;
      const end = { offset: walker.offset, last, batches: walker.number ?? 0 };
      const beyond = await statedBeyond(file, segment, end, bytes, end.offset !== judgedAt);
      if (beyond.proof === undefined) {
        stated = Math.max(stated, beyond.stated);
        tornBytes = beyond.tornBytes;
        break;
      }
      if (end.offset === judgedAt) throw unreachable(segment.path, end, beyond);
      // A writer beside may have written the batch, and then the proof, after the batch was looked for: only bytes read after the proof tell.
      walker.forget();
      judgedAt = end.offset;
    }
    // Only now: who looks again goes on from what the last look found.
    segment.index.complete = true;
    [segment.end, segment.last, segment.lastCrc] = [walker.offset, last, lastCrc];
    const batches = walker.number ?? 0;
    return { end: walker.offset, batches, last, lastCarrier, stated, epoch, time, lowWater, clean, tornBytes };
  } finally {
    await file.close();
  }
}

/** Where a chain ends. */
export interface ChainEnd {
  readonly offset: number;
  /** The last sequence before it. */
  readonly last: number;
  /** Whole batches before it. */
  readonly batches: number;
}

/** What the headers behind the end of a chain state. */
export interface Beyond {
  /** The highest sequence that one of them states durable. */
  readonly stated: number;
  /** Where the first one stands that states something durable which the chain doesn't reach. */
  readonly proof: number | undefined;
  readonly tornBytes: number;
}

/** `endsAtProof`: no more is looked at than it takes to know whether there is one. */
export async function statedBeyond(
  file: File,
  { seed }: { seed: number },
  end: ChainEnd,
  bytes: number,
  endsAtProof = false,
): Promise<Beyond> {
  let stated = 0;
  let proof: number | undefined;
  const tornBytes = await scanBeyond(file, seed, end.offset, bytes, (header, at) => {
    stated = Math.max(stated, header.durable);
    if (header.durable > end.last || header.synced > end.batches) proof ??= at;
    return endsAtProof && proof !== undefined;
  });
  return { stated, proof, tornBytes };
}

/** Something behind `end` is stated durable, and the chain to it is broken there. */
export function unreachable(file: string, { offset, last }: ChainEnd, { stated, proof }: Beyond): EhdbError {
  const what =
    stated > last
      ? "states these sequences durable"
      : "was written after it had been synced: a mark is lost, and perhaps what it said was dropped";
  const reason = `the batch there is not whole, and the one at byte ${proof} ${what}`;
  return corrupt({ file, offset, first: last + 1, last: stated, reason });
}

function startOf(segment: Segment): Omit<Tail, "end" | "batches"> {
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

/** What the batch after those must say that an earlier look has found. */
function continuationOf(segment: Segment, { last, batches }: Tail): Expected {
  return { offset: segment.end, sequence: last + 1, number: batches, previousCrc: segment.lastCrc };
}
