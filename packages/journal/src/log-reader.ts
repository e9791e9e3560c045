import { EhdbError, isEhdbError } from "@ehdb/contracts";
import type { Host } from "@ehdb/host";
import type {
  JournalReader,
  JournalRecord,
  JournalStats,
  RecordStream,
  ScanOptions,
  TailOptions,
  VerifyOptions,
  VerifyReport,
} from "./api.ts";
import { checkSequence } from "./arguments.ts";
import { compacted, readRecord } from "./cursor.ts";
import { Cuts } from "./cuts.ts";
import type { LogView } from "./log-view.ts";
import { noLowWater } from "./format.ts";
import type { LowWater } from "./format.ts";
import { machineError } from "./machine-error.ts";
import { News } from "./news.ts";
import { ReadFiles } from "./read-files.ts";
import type { Segment } from "./segment.ts";
import { scan, tail } from "./stream.ts";
import { verify } from "./verify.ts";

/** The reading side of a journal: what its writer and a reader in another process have in common. */
export abstract class LogReader implements JournalReader, LogView {
  readonly dir: string;
  readonly host: Host;
  readonly files: ReadFiles;
  readonly segments: Segment[] = [];
  generation = 0;
  lowWater: LowWater = noLowWater;
  protected readonly cuts: Cuts = new Cuts();
  protected readonly changes: News = new News();
  protected readonly readCounts = { reads: 0, readErrors: 0, corruptions: 0 };

  constructor(host: Host, dir: string) {
    this.host = host;
    this.dir = dir;
    this.files = new ReadFiles(host);
  }

  abstract readonly last: number;
  abstract readonly epoch: number;
  abstract readonly furthest: number;
  abstract stats(): JournalStats;
  abstract news(): Promise<void>;
  abstract relist(): Promise<boolean>;
  /** Throws CLOSED. */
  protected abstract assertOpen(): void;
  abstract catchUp(sequence: number, epoch?: number): Promise<void>;

  get first(): number {
    return Math.max(this.lowWater.sequence, this.segments[0]?.first ?? 1);
  }

  async read(sequence: number): Promise<JournalRecord> {
    checkSequence("sequence", sequence, 1);
    this.assertOpen();
    await this.catchUp(sequence);
    const { first, last } = this;
    if (sequence < first) throw compacted(sequence, first);
    if (sequence > last) {
      const message = `sequence ${sequence} can't be read: the last one readable is ${last}`;
      throw new EhdbError("OUT_OF_RANGE", message, { sequence, first, last });
    }
    this.noteRead();
    try {
      return await readRecord(this, sequence);
    } catch (error) {
      throw this.noteError(error);
    }
  }

  scan(options?: ScanOptions): RecordStream {
    return scan(this, options);
  }

  tail(options?: TailOptions): RecordStream {
    return tail(this, options);
  }

  async verify(options?: VerifyOptions): Promise<VerifyReport> {
    this.assertOpen();
    try {
      const report = await verify(this, options);
      this.readCounts.corruptions += report.damage.length;
      return report;
    } catch (error) {
      throw this.noteError(error);
    }
  }

  assertContinues(sequence: number, epoch: number): void {
    this.assertOpen();
    this.cuts.assertContinues(sequence, epoch);
  }

  noteRead(): void {
    this.readCounts.reads++;
  }

  noteError(error: unknown): unknown {
    const shown = machineError(error, "reading the journal", this.dir);
    if (isEhdbError(shown, "CORRUPT")) this.readCounts.corruptions++;
    else if (isEhdbError(shown, "IO_ERROR")) this.readCounts.readErrors++;
    return shown;
  }
}
