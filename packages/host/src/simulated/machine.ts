import { Disk } from "./disk.ts";
import { FaultPlan, type Faults } from "./faults.ts";
import { RunningHistory } from "./history.ts";
import { noOperations, noStatistics, type OperationCounts, type Statistics } from "./statistics.ts";
import { Stream } from "./stream.ts";

/** What outlives a process: the disk, the time, the chance, and the account of what happened. */
export class Machine {
  readonly disk: Disk = new Disk();
  readonly statistics: Statistics = noStatistics();
  readonly operations: OperationCounts = noOperations();
  readonly history: RunningHistory;
  readonly plan: FaultPlan;
  // A stream for each purpose, so that a fault switched on doesn't reshuffle ids or the order of what it never met.
  readonly scheduling: Stream;
  readonly mishaps: Stream;
  readonly crashes: Stream;
  readonly random: Stream;
  /** Milliseconds since the machine started; only `advance` moves it. */
  monotonic = 0;
  /** What the wall clock shows more than `monotonic`. */
  wallOffset: number;

  constructor(seed: number, faults: Faults, keepHistory: number, startMillis: number) {
    this.scheduling = new Stream(seed, 0);
    this.mishaps = new Stream(seed, 1);
    this.crashes = new Stream(seed, 2);
    this.random = new Stream(seed, 3);
    this.plan = new FaultPlan(faults, this.mishaps);
    this.history = new RunningHistory(keepHistory);
    this.wallOffset = startMillis;
  }

  get faults(): Faults {
    return this.plan.faults;
  }

  get now(): number {
    return this.monotonic + this.wallOffset;
  }
}
