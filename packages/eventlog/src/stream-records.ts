import type { LogDataset, LogRecord } from "@ehdb/contracts";

/** Up to `limit` records of a stream from a version on. */
export async function recordsFrom(
  events: Pick<LogDataset, "read">,
  stream: string,
  from: number,
  limit: number,
): Promise<readonly LogRecord[]> {
  const records: LogRecord[] = [];
  for await (const batch of events.read(stream, { from, limit })) records.push(...batch);
  return records;
}

/**
 * The first version of a stream, from `least` on, that is there and stands behind a position; when none does, one behind the last that can
 * be read, or `least`. It costs a read for each doubling of the stream's length, and none from position 0.
 */
export async function versionAfter(
  events: LogDataset,
  stream: string,
  position: number,
  least: number,
): Promise<number> {
  if (position === 0) return least;
  let low = least;
  let high = Math.max(least, (await events.version(stream)) + 1);
  /** What a read from `high` on begins with. */
  let found = high;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const [record] = await recordsFrom(events, stream, middle, 1);
    if (record !== undefined && record.sort <= position) low = record.version + 1;
    else {
      high = middle;
      // Erased versions are passed over.
      found = record?.version ?? found;
    }
  }
  return found;
}

/** The first version of a stream, from `least` on, that can be read; when none can, one behind the last, or `least`. */
export async function firstReadable(
  events: Pick<LogDataset, "read" | "version">,
  stream: string,
  least: number,
): Promise<number> {
  const [record] = await recordsFrom(events, stream, least, 1);
  return record?.version ?? Math.max(least, (await events.version(stream)) + 1);
}
