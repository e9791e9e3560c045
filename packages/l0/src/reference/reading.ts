import type { LogReadOptions, LogRecord, MapRecord, MapScanOptions } from "@ehdb/contracts";

/** The records of a log that a read wants, in its order. */
export function wantedRecords(
  records: readonly LogRecord[],
  place: (record: LogRecord) => number,
  { direction, from, limit }: LogReadOptions,
): LogRecord[] {
  if (direction === "backwards") {
    const wanted = records.filter((record) => from === undefined || place(record) <= from);
    return wanted.toReversed().slice(0, limit);
  }
  return records.filter((record) => from === undefined || place(record) >= from).slice(0, limit);
}

/** The values of a map that a scan wants, in its order. */
export function wantedValues(values: Iterable<MapRecord>, options: MapScanOptions): MapRecord[] {
  const { prefix = "", from = "", before, limit } = options;
  return [...values]
    .filter(({ key }) => key.startsWith(prefix))
    .filter(({ key }) => inBytes(key, from) >= 0)
    .filter(({ key }) => before === undefined || inBytes(key, before) < 0)
    .sort((a, b) => inBytes(a.key, b.key))
    .slice(0, limit);
}

function inBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
