import type { Damage } from "./api.ts";
import { segmentCipher, wrongKey } from "./cipher.ts";
import { DATA_START, noLowWater } from "./format.ts";
import type { LowWater } from "./format.ts";
import { isDirectory } from "./machine-error.ts";
import { OPEN_BATCH_BYTES } from "./segment-writer.ts";
import { Segment, segmentId, segmentPath } from "./segment.ts";
import type { LoadContext } from "./segment.ts";
import { repairedHeader, seedOf, survey } from "./survey.ts";
import type { Survey } from "./survey.ts";
import { openingOf } from "./tail.ts";
import type { Expected } from "./walker.ts";

/** A segment of a damaged journal, and where its batches begin. */
export interface Part {
  readonly segment: Segment;
  readonly start: Expected;
  /** The segment before it, by its own word; `undefined` when the first batch, which says it, is damaged. */
  readonly predecessorId: number | undefined;
}

export interface Reachable {
  /** Oldest first. */
  readonly parts: readonly Part[];
  readonly lowWater: LowWater;
  /** The highest sequence that any batch states durable. */
  readonly stated: number;
  readonly epoch: number;
  /** Segments that should be there and can't be used. */
  readonly damage: readonly Damage[];
}

/**
 * The live chain of a journal that may be damaged anywhere: by predecessor where the chain holds; where it is broken, by the
 * next lower id. What a whole chain cuts off stays void.
 */
export async function findReachable(context: LoadContext): Promise<Reachable> {
  const names = await context.host.files.list(context.dir);
  const ids = names.flatMap((name) => segmentId(name) ?? []).sort((a, b) => b - a);
  const parts: Part[] = [];
  const damage: Damage[] = [];
  let lowWater = noLowWater;
  let stated = 0;
  let epoch = 0;
  let wanted: number | undefined;
  for (const id of ids) {
    const successor = parts[0];
    // Cut off by a recovery: void, and so is whatever it says.
    if (wanted !== undefined && id > wanted) continue;
    if (successor !== undefined && (wanted === 0 || successor.segment.first <= lowWater.sequence)) break;
    const path = segmentPath(context.dir, id);
    const lost = { file: path, offset: 0, first: lowWater.sequence, last: (successor?.segment.first ?? 1) - 1 };
    if (wanted !== undefined && id < wanted) {
      damage.push({ ...lost, file: segmentPath(context.dir, wanted), reason: "the file is missing" });
    }
    const found = await loadPart(context, id, successor).catch((error: unknown) => {
      if (isDirectory(error)) return "it is a directory";
      throw error;
    });
    if (typeof found === "string") {
      if (successor !== undefined || found !== unused) damage.push({ ...lost, reason: found });
      wanted = undefined;
      continue;
    }
    parts.unshift(found.part);
    wanted = found.part.predecessorId;
    if (successor === undefined) lowWater = found.survey.lowWater;
    stated = Math.max(stated, found.survey.stated);
    epoch = Math.max(epoch, found.survey.epoch);
  }
  const first = parts[0];
  if (
    first !== undefined &&
    wanted !== 0 &&
    first.segment.first > lowWater.sequence &&
    (wanted === undefined || !ids.includes(wanted))
  ) {
    const file = segmentPath(context.dir, wanted ?? first.segment.id);
    const reason = wanted === undefined ? "what came before it can't be told" : "the file is missing";
    damage.push({ file, offset: 0, first: lowWater.sequence, last: first.segment.first - 1, reason });
  }
  return { parts, lowWater, stated, epoch, damage };
}

const unused = "no batch in it is whole";

/** The segment as far as it can be used; or why it can't. */
async function loadPart(
  context: LoadContext,
  id: number,
  successor: Part | undefined,
): Promise<{ part: Part; survey: Survey } | string> {
  const path = segmentPath(context.dir, id);
  const file = await context.host.files.open(path, "read");
  try {
    const bytes = await file.size();
    const header = await repairedHeader(file, path, id);
    if (header === undefined) return "its header is damaged, and with it the salt that every checksum in it needs";
    const found = await survey(file, seedOf(header), bytes);
    if (found === undefined) return unused;
    const cipher = segmentCipher(context.encryption, header.keyId, header.salt, path);
    const { opening } = found;
    if (
      opening !== undefined &&
      cipher !== undefined &&
      !Buffer.from(opening.preamble.keyCheck).equals(cipher.keyCheck)
    ) {
      throw wrongKey(path, header.keyId);
    }
    const guess = {
      preamble: {
        firstSequence: found.first,
        predecessorId: 0,
        predecessorLast: found.first - 1,
        predecessorEnd: 0,
        predecessorCrc: 0,
        lowWater: found.lowWater,
        keyCheck: new Uint8Array(0),
      },
      epoch: found.epoch,
      time: found.time,
      crc: 0,
      end: DATA_START + OPEN_BATCH_BYTES,
    };
    const segment = new Segment(header, path, opening ?? guess, cipher, context.indexStride);
    segment.fileBytes = bytes;
    const saysEnd = successor?.predecessorId === id;
    const { predecessorEnd, predecessorLast } = successor?.segment.preamble ?? {};
    segment.end = saysEnd && predecessorEnd !== undefined ? predecessorEnd : found.end;
    segment.last = saysEnd && predecessorLast !== undefined ? predecessorLast : found.last;
    const start = opening === undefined ? { offset: segment.openEnd } : openingOf(segment);
    return { part: { segment, start, predecessorId: opening?.preamble.predecessorId }, survey: found };
  } finally {
    await file.close();
  }
}
