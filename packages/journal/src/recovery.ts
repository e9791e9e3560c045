import { join } from "node:path";
import type { Host } from "@ehdb/host";
import { isNoSpace } from "./machine-error.ts";
import { giveUpReserve } from "./reserve.ts";
import type { Damage, KeyRing, RecoveryReport } from "./api.ts";
import { loadChain } from "./chain.ts";
import type { Chain } from "./chain.ts";
import { BATCH_HEADER_BYTES, flag, MARK_RESERVE_BYTES, padded } from "./format.ts";
import { plainBody } from "./body.ts";
import { TAG_BYTES } from "./cipher.ts";
import { corrupt } from "./damage.ts";
import { walkSegment } from "./walk-segment.ts";
import { createSegment, OPEN_BATCH_BYTES } from "./segment-writer.ts";
import type { LowWater } from "./format.ts";
import type { SegmentWriter } from "./segment-writer.ts";
import type { LoadContext, Segment } from "./segment.ts";
import { carries, openingOf } from "./tail.ts";
import type { ChainPosition } from "./tail.ts";
import { BatchWalker } from "./walker.ts";
import type { RawBatch } from "./walker.ts";

export interface RecoveryContext extends LoadContext {
  readonly encryption: KeyRing | undefined;
  readonly segmentBytes: number;
  readonly initialBytes: number;
  readonly verifyOnOpen: "tail" | "all";
  /** The epoch is this at least. */
  readonly leastEpoch: number;
}

export interface Recovered {
  /** The live segments, oldest first; the last one is `writer`'s when there is one. */
  readonly segments: Segment[];
  /** The segment that this incarnation writes; `undefined` when the disk is full and the log can only be read. */
  readonly writer: SegmentWriter | undefined;
  readonly lowWater: LowWater;
  readonly last: number;
  readonly epoch: number;
  readonly time: number;
  readonly maxId: number;
  /** Files that no chain reaches any more. They may go once nobody reads them; the next recovery would find them void again. */
  readonly voidFiles: readonly string[];
  readonly report: RecoveryReport;
}

/** Where the live chain is cut: at the highest sequence that the log itself states durable. */
interface Cut {
  readonly predecessorId: number;
  readonly position: ChainPosition;
  /** Where the batches begin that are copied, in the newest segment. */
  readonly copyFrom: number;
}

/**
 * Finds what is true, writes whatever isn't yet stated durable into a new segment, and only then removes what is void. A
 * crash at any point of it is just another crash.
 */
export async function recover(context: RecoveryContext): Promise<Recovered> {
  const started = context.host.clock.monotonic();
  const chain = await loadChain(context);
  if (context.verifyOnOpen === "all") await refuseDamage(context.host, chain.segments);
  const { tail } = chain;
  const stated = tail?.stated ?? 0;
  const last = tail?.last ?? 0;
  const segments = chain.segments.filter(
    (segment) => segment.last >= chain.lowWater.sequence || segment === chain.segments.at(-1),
  );
  const newest = segments.at(-1);
  const cut = newest === undefined ? emptyCut : await findCut(context.host, newest, chain);
  const epoch = Math.max(context.leastEpoch, (tail?.epoch ?? 0) + 1);
  const time = Math.max(tail?.time ?? 0, context.host.clock.now());
  let recordsCopied = 0;
  const build = (zeroBytes: number): Promise<SegmentWriter> =>
    createSegment(context, {
      id: chain.maxId + 1,
      capacity: context.segmentBytes,
      zeroBytes,
      content: async (writer) => {
        const preamble = {
          firstSequence: cut.position.last + 1,
          predecessorId: cut.predecessorId,
          predecessorLast: cut.position.last,
          predecessorEnd: cut.position.offset,
          predecessorCrc: cut.position.crc,
          lowWater: chain.lowWater,
        };
        await writer.file.write(
          writer.open(preamble, { durable: cut.position.last, epoch, time }, context.indexStride),
          writer.position,
        );
        writer.position += OPEN_BATCH_BYTES;
        recordsCopied = newest === undefined ? 0 : await copyBatches(context.host, newest, cut.copyFrom, writer);
        writer.capacity = Math.max(writer.capacity, writer.position + MARK_RESERVE_BYTES);
      },
    });
  const writer = await buildOnFullDisk(context, build, newest !== undefined);
  const report = (): RecoveryReport => ({
    epoch,
    last: writer === undefined ? stated : last,
    stated,
    recordsCopied,
    tornBytes: tail?.tornBytes ?? 0,
    voidSegments: chain.strays.length,
    segments: segments.length,
    millis: context.host.clock.monotonic() - started,
  });
  const common = { lowWater: chain.lowWater, epoch, time, maxId: chain.maxId + 1 };
  if (writer === undefined) {
    return { ...common, segments, writer, last: stated, epoch: epoch - 1, voidFiles: [], report: report() };
  }
  if (recordsCopied > 0) await stateDurable(writer, last, epoch, time);
  if (newest !== undefined) {
    if (cut.predecessorId === newest.id) {
      [newest.end, newest.last, newest.lastCrc] = [cut.position.offset, cut.position.last, cut.position.crc];
    } else {
      segments.pop();
    }
  }
  const voidFiles = voidOf(context, chain, segments);
  segments.push(writer.segment as Segment);
  return { ...common, segments, writer, last, voidFiles, report: report() };
}

/** Every segment is read before anything is written. */
async function refuseDamage(host: Host, segments: readonly Segment[]): Promise<void> {
  const onDamage = (damage: Damage): void => {
    throw corrupt(damage);
  };
  for (const segment of segments) {
    const file = await host.files.open(segment.path, "read");
    try {
      await walkSegment(host, file, segment, { onDamage });
    } finally {
      await file.close();
    }
  }
}

function voidOf(context: RecoveryContext, chain: Chain, live: readonly Segment[]): string[] {
  const kept = new Set(live.map((segment) => segment.path));
  const dropped = chain.segments.map((segment) => segment.path).filter((path) => !kept.has(path));
  return [...chain.temporaries.map((name) => join(context.dir, name)), ...chain.strays, ...dropped];
}

const emptyCut: Cut = { predecessorId: 0, position: { offset: 0, last: 0, crc: 0 }, copyFrom: 0 };

async function findCut(host: Host, newest: Segment, chain: Chain): Promise<Cut> {
  const tail = chain.tail as NonNullable<Chain["tail"]>;
  let position = tail.lastCarrier;
  if (tail.stated < tail.last) {
    position = undefined;
    await walk(host, newest, newest.openEnd, (batch, walker) => {
      const last = (walker.sequence as number) - 1;
      if (last > tail.stated) return true;
      if (carries(batch)) position = { offset: walker.offset, last, crc: batch.header.crc };
      return false;
    });
  }
  if (position !== undefined) return { predecessorId: newest.id, position, copyFrom: position.offset };
  // Nothing in it is stated durable, its first batch included: the new segment follows its predecessor instead.
  const { predecessorId, predecessorLast, predecessorEnd, predecessorCrc, firstSequence } = newest.preamble;
  const last = predecessorId === 0 ? firstSequence - 1 : predecessorLast;
  return { predecessorId, position: { offset: predecessorEnd, last, crc: predecessorCrc }, copyFrom: newest.openEnd };
}

/** Copies the batches that carry something: same sequences, borders, times and epochs. */
async function copyBatches(host: Host, from: Segment, offset: number, writer: SegmentWriter): Promise<number> {
  let records = 0;
  await walk(host, from, offset, async (batch, walker) => {
    if (!carries(batch)) return false;
    const { header } = batch;
    const body = plainBody(from, batch);
    const buffer = Buffer.alloc(padded(BATCH_HEADER_BYTES + body.length + TAG_BYTES));
    body.copy(buffer, BATCH_HEADER_BYTES);
    const fields = {
      ...header,
      flags: header.flags & ~flag.encrypted,
      durable: Math.min(header.durable, header.firstSequence - 1),
    };
    const bytes = writer.seal(buffer, body.length, fields);
    await writer.file.write(bytes, writer.position);
    writer.wrote(bytes.length, fields, walker.sequence);
    records += header.records;
    return false;
  });
  return records;
}

/** Calls `visit` for each batch from `offset` to the segment's end, until it returns true. */
async function walk(
  host: Host,
  segment: Segment,
  offset: number,
  visit: (batch: RawBatch, walker: BatchWalker) => boolean | Promise<boolean>,
): Promise<void> {
  const file = await host.files.open(segment.path, "read");
  try {
    const expected = offset === segment.openEnd ? openingOf(segment) : { offset };
    const walker = new BatchWalker(file, segment.seed, expected, segment.end);
    for (let batch = await walker.next(); batch !== undefined; batch = await walker.next()) {
      if (await visit(batch, walker)) return;
    }
  } finally {
    await file.close();
  }
}

/** A mark that states everything durable, synced: only now may the copies be built upon. */
async function stateDurable(writer: SegmentWriter, last: number, epoch: number, time: number): Promise<void> {
  const fields = { records: 0, firstSequence: last + 1, durable: last, epoch, time, flags: flag.mark };
  const bytes = writer.seal(Buffer.alloc(BATCH_HEADER_BYTES), 0, fields);
  try {
    await writer.file.write(bytes, writer.position);
    writer.wrote(bytes.length, fields);
    await writer.file.dataSync();
  } catch (error) {
    await writer.file.close();
    throw error;
  }
  writer.synced = writer.position;
  writer.syncedBatches = writer.batches;
  writer.admitted = writer.position;
}

/** `undefined` when there is no space even so, and something that can be read. */
async function buildOnFullDisk(
  context: RecoveryContext,
  build: (zeroBytes: number) => Promise<SegmentWriter>,
  isReadable: boolean,
): Promise<SegmentWriter | undefined> {
  const least = MARK_RESERVE_BYTES * 2;
  try {
    return await build(Math.max(least, context.initialBytes));
  } catch (error) {
    if (!isNoSpace(error)) throw error;
  }
  try {
    await giveUpReserve(context.host, context.dir);
    return await build(least);
  } catch (error) {
    if (!isNoSpace(error) || !isReadable) throw error;
    return undefined;
  }
}
