import { EhdbError, isEhdbError } from "@ehdb/contracts";
import type { FeedSource } from "@ehdb/contracts";

/** TRUNCATED, when what a group has seen isn't in its source, or not any more. */
export async function assertGroupContinues<R>(
  source: FeedSource<R>,
  group: string,
  sequence: number,
  epoch: number,
): Promise<void> {
  try {
    await source.assertContinues(sequence, epoch);
  } catch (error) {
    if (!isEhdbError(error, "TRUNCATED", "OUT_OF_RANGE")) throw error;
    const { last } = source;
    const message = `${group} has seen sequence ${sequence}, and the source, which ends at ${last}, doesn't hold that: a crash took it back, or it's another copy. Move the group, as with seek({ sequence: ${last + 1} })`;
    throw new EhdbError("TRUNCATED", message, { group, sequence, last }, error);
  }
}
