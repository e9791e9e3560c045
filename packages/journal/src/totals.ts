import type { JournalStats } from "./api.ts";
import type { Writer } from "./writer.ts";

/** What a writer counts; the journal adds up its incarnations. */
export type WriterTotals = Pick<
  JournalStats,
  | "appends"
  | "appendedBytes"
  | "batches"
  | "syncs"
  | "marks"
  | "rolls"
  | "preallocatedBytes"
  | "queueFull"
  | "noSpace"
  | "writeErrors"
>;

export const noTotals: WriterTotals = {
  appends: 0,
  appendedBytes: 0,
  batches: 0,
  syncs: 0,
  marks: 0,
  rolls: 0,
  preallocatedBytes: 0,
  queueFull: 0,
  noSpace: 0,
  writeErrors: 0,
};

/** `past`, and what `writer` has counted since. */
export function withWriter(past: WriterTotals, writer: Writer | undefined): WriterTotals {
  if (writer === undefined) return past;
  const now: WriterTotals = {
    ...writer.intake.stats,
    ...writer.pump.stats,
    preallocatedBytes: writer.space.preallocatedBytes,
    writeErrors: writer.writeErrors,
  };
  const names = Object.keys(past) as (keyof WriterTotals)[];
  return Object.fromEntries(names.map((name) => [name, past[name] + now[name]])) as unknown as WriterTotals;
}
