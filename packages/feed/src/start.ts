import { EhdbError } from "@ehdb/contracts";
import type { FeedSource, FeedStart } from "@ehdb/contracts";

/** The sequence of the first record that is wanted. OUT_OF_RANGE, COMPACTED. */
export async function sequenceAt<R>(source: FeedSource<R>, start: FeedStart): Promise<number> {
  const { first, last } = source;
  if (start === "first") return first;
  if (start === "end") return last + 1;
  if ("time" in start) return await sequenceAtTime(source, start.time);
  const { sequence, clamp = false } = start;
  if (clamp) return Math.min(Math.max(sequence, first), Math.max(last + 1, first));
  if (sequence > last + 1) {
    const message = `sequence ${sequence} is beyond the end: the last one is ${last}. Begin at ${last + 1} at most, or with clamp`;
    throw new EhdbError("OUT_OF_RANGE", message, { sequence, last });
  }
  if (sequence < first) throw compacted(sequence, first);
  return sequence;
}

async function sequenceAtTime<R>(source: FeedSource<R>, time: number): Promise<number> {
  const { last } = source;
  for await (const batch of source.read(source.first, Number.MAX_SAFE_INTEGER)) {
    const found = batch.find((record) => source.timeOf(record) >= time);
    if (found !== undefined) return source.sequenceOf(found);
  }
  return last + 1;
}

export function compacted(sequence: number, first: number): EhdbError {
  const message = `sequence ${sequence} is gone from the source, whose first one is ${first}. Begin there: seek("first")`;
  return new EhdbError("COMPACTED", message, { sequence, first });
}

/** The end is where it was when it was asked for. */
export function asOfNow<R>(start: FeedStart, { last }: FeedSource<R>): FeedStart {
  return start === "end" ? { sequence: last + 1, clamp: true } : start;
}
