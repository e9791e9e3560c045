import type { FeedSource } from "@ehdb/contracts";
import type { ReadRequest } from "./call-options.ts";
import { subjectFilter } from "./subjects.ts";

const readAtOnce = 1_000;

/** Records of a source without a group, as of the first step. */
export async function* readSource<R>(
  source: FeedSource<R>,
  { after, subjects, limit, signal }: ReadRequest,
  assertOpen: () => void,
): AsyncGenerator<readonly R[]> {
  const wants = subjectFilter(subjects);
  const { last } = source;
  let next = after === undefined ? source.first : after + 1;
  for (let left = limit; left > 0 && next <= last;) {
    let isEnd = true;
    for await (const batch of source.read(next, readAtOnce, signal)) {
      assertOpen();
      isEnd = false;
      next = source.sequenceOf(batch.at(-1) as R) + 1;
      const wanted = batch.filter((one) => source.sequenceOf(one) <= last && wants(source.subjectOf(one)));
      if (wanted.length > 0) yield wanted.slice(0, left);
      left -= wanted.length;
      if (left <= 0) return;
    }
    if (isEnd) return;
  }
}
