import type { Damage } from "./api.ts";
import { corrupt } from "./damage.ts";
import { DATA_START, noLowWater } from "./format.ts";
import type { LowWater } from "./format.ts";
import { isTemporary, loadSegment, segmentId, segmentPath } from "./segment.ts";
import type { FoundSegment, LoadContext, Segment } from "./segment.ts";
import { openingOf, scanTail, statedBeyond, unreachable } from "./tail.ts";
import type { Tail } from "./tail.ts";
import { BatchWalker } from "./walker.ts";

/** The log as its files tell it. */
export interface Chain {
  /** The live segments, oldest first; each but the newest has its readable end from its successor. */
  readonly segments: readonly Segment[];
  /** The newest started segment's content; `undefined` for a journal that holds nothing. */
  readonly tail: Tail | undefined;
  readonly lowWater: LowWater;
  /** The highest id ever seen under a segment's name. */
  readonly maxId: number;
  /** Files that no chain reaches: prepared and never used, or cut off by a recovery, or dropped. */
  readonly strays: readonly string[];
  readonly temporaries: readonly string[];
  readonly diskBytes: number;
}

/**
 * Finds the live chain: from the newest started segment backwards by predecessor. Whatever the chain doesn't reach is void,
 * and is neither scanned nor believed. Throws CORRUPT where something stated durable can't be read.
 */
export async function loadChain(context: LoadContext): Promise<Chain> {
  const names = await context.host.files.list(context.dir);
  const ids = names.flatMap((name) => segmentId(name) ?? []).sort((a, b) => a - b);
  const found = new Map<number, FoundSegment>();
  for (const id of ids) found.set(id, await loadSegment(context, id));

  const newest = [...found.values()].findLast((one) => one.state === "started");
  const later = [...found.values()].filter((one) => idOf(one) > (newest === undefined ? 0 : idOf(newest)));
  for (const one of later) {
    if (one.state === "damaged") throw corrupt({ file: one.path, offset: 0, first: 1, last: 0, reason: one.reason });
  }
  const tail = newest === undefined ? undefined : await scanTail(context.host, newest.segment, newest.bytes);
  for (const one of later) await refuseEvidence(context, one, tail);

  const lowWater = tail?.lowWater ?? noLowWater;
  const segments = newest === undefined ? [] : await walkBack(context, newest.segment, found, lowWater.sequence);
  const live = new Set(segments.map((segment) => segment.id));
  return {
    segments,
    tail,
    lowWater,
    maxId: ids.at(-1) ?? 0,
    strays: [...found.values()].filter((one) => !live.has(idOf(one))).map(pathOf),
    temporaries: names.filter(isTemporary),
    diskBytes: [...found.values()].reduce((sum, one) => sum + (live.has(idOf(one)) ? one.bytes : 0), 0),
  };
}

const idOf = (found: FoundSegment): number => (found.state === "started" ? found.segment.id : found.id);
const pathOf = (found: FoundSegment): string => (found.state === "started" ? found.segment.path : found.path);

async function walkBack(
  context: LoadContext,
  newest: Segment,
  found: ReadonlyMap<number, FoundSegment>,
  lowWater: number,
): Promise<Segment[]> {
  const segments = [newest];
  for (let successor = newest; ;) {
    const { predecessorId, predecessorLast, predecessorEnd, predecessorCrc } = successor.preamble;
    if (predecessorId === 0 || successor.first <= lowWater) return segments;
    const before = found.get(predecessorId);
    const isWhole = before?.state === "started" && before.bytes >= predecessorEnd;
    // It was read before its successor: a writer beside may have started it, or made it longer, and gone on since.
    const one = isWhole || before === undefined ? before : await loadSegment(context, predecessorId);
    const lost: Damage = {
      file: segmentPath(context.dir, predecessorId),
      offset: 0,
      first: one?.state === "started" ? one.segment.first : lowWater,
      last: predecessorLast,
      reason: "",
    };
    if (one === undefined) throw corrupt({ ...lost, reason: "the file is missing" });
    if (one.state === "damaged") throw corrupt({ ...lost, reason: one.reason });
    if (one.state === "empty") throw corrupt({ ...lost, reason: "it holds only zeros" });
    if (one.state === "unstarted")
      throw corrupt({ ...lost, offset: DATA_START, reason: "its first batch is not whole" });
    if (one.bytes < predecessorEnd) {
      const whole = await wholeUpTo(context, one.segment, one.bytes);
      const reason = `the file ends at byte ${one.bytes}, and its successor says at ${predecessorEnd}`;
      throw corrupt({ ...lost, ...whole, reason });
    }
    const segment = one.segment;
    segment.end = predecessorEnd;
    segment.last = predecessorLast;
    segment.lastCrc = predecessorCrc;
    segments.unshift(segment);
    successor = segment;
  }
}

/** Where the whole batches of a cut segment end, and the first sequence that is missing. */
async function wholeUpTo(
  { host }: LoadContext,
  segment: Segment,
  bytes: number,
): Promise<{ offset: number; first: number }> {
  const file = await host.files.open(segment.path, "read");
  try {
    const walker = new BatchWalker(file, segment.seed, openingOf(segment), bytes, { readsAhead: true });
    while ((await walker.next()) !== undefined);
    return { offset: walker.offset, first: walker.sequence ?? segment.first };
  } finally {
    await file.close();
  }
}

/**
 * A later segment without a whole first batch was never used, or was being started in the crash, or has rotted: then it says so. One that a
 * writer beside has started since it was looked at is no part of what is read now: what had been stated by then stands before it.
 */
async function refuseEvidence(context: LoadContext, found: FoundSegment, tail: Tail | undefined): Promise<void> {
  if (found.state !== "unstarted") return;
  const end = { offset: DATA_START, last: tail?.last ?? 0, batches: 0 };
  const file = await context.host.files.open(found.path, "read");
  try {
    const beyond = await statedBeyond(file, found, end, found.bytes);
    if (beyond.proof === undefined) return;
    if ((await loadSegment(context, found.id)).state !== "started") throw unreachable(found.path, end, beyond);
  } finally {
    await file.close();
  }
}
