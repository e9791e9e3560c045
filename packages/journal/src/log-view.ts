import type { Host } from "@ehdb/host";
import type { LowWater } from "./format.ts";
import type { ReadFiles } from "./read-files.ts";
import type { Segment } from "./segment.ts";

/** What reading needs to know of a log, whoever writes it. */
export interface LogView {
  readonly host: Host;
  readonly files: ReadFiles;
  readonly segments: readonly Segment[];
  readonly first: number;
  readonly lowWater: LowWater;
  readonly last: number;
  readonly epoch: number;
  /** No record of this log is beyond, readable or not; Infinity when only the writer knows. */
  readonly furthest: number;
  /** Changes when segments may have been cut or replaced: a cursor finds its place again. */
  readonly generation: number;
  /** Throws CLOSED, or TRUNCATED when `sequence`, read in `epoch`, was taken back since. */
  assertContinues(sequence: number, epoch: number): void;
  /** Resolves at the next news: more to read, a reopen, a close. */
  news(): Promise<void>;
  /** Looks for what was written since, where that takes looking: when `sequence` or `epoch` is beyond what is known. */
  catchUp(sequence: number, epoch?: number): Promise<void>;
  /** A segment's file is gone: looks at the directory again. False when that explains nothing. */
  relist(): Promise<boolean>;
  /** Counts a read, or what it failed with; the error comes back as the one to throw. */
  noteRead(): void;
  noteError(error: unknown): unknown;
}
