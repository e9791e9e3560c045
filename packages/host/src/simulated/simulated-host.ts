import { EhdbError } from "@ehdb/contracts";
import type { Host } from "../host.ts";
import type { CrashPoint } from "./crash-points.ts";
import { type FaultCode, type Faults, noFaults } from "./faults.ts";
import type { History } from "./history.ts";
import { Incarnation } from "./incarnation.ts";
import { Machine } from "./machine.ts";
import type { OperationCounts, OperationKind, Statistics } from "./statistics.ts";
import type { Keep } from "./survival.ts";

export interface SimulatedHostOptions {
  /** Any finite number. The same seed and the same program give the same history. */
  readonly seed: number;
  readonly faults?: Partial<Faults>;
  /** How many of the newest operations `history.entries` keeps; 100 unless given. */
  readonly keepHistory?: number;
  /** Where the wall clock starts, in milliseconds since 1970; 2025-01-01 unless given. */
  readonly startMillis?: number;
}

/**
 * One life of a simulated process, an incarnation. `crash` and `kill` end it and return the next one on the same disk.
 * Operations complete by themselves, one a turn of the event loop; only the clock waits to be moved.
 */
export interface SimulatedHost extends Host {
  /** To be changed at any time; shared by all incarnations. */
  readonly faults: Faults;
  /** Over all incarnations. */
  readonly statistics: Readonly<Statistics>;
  /** Completed operations by kind, over all incarnations. */
  readonly operations: Readonly<OperationCounts>;
  readonly history: History;
  /** This incarnation is dead: its crash point was reached, or it was crashed or killed. */
  readonly frozen: boolean;
  whenFrozen(): Promise<void>;
  /** The next such operation, on a path that matches, fails with `code` (EIO unless given). Calls add up. */
  failNext(kind: OperationKind, code?: FaultCode, path?: RegExp): void;
  /** Freezes this incarnation once that many more operations have completed; nobody hears of the last one. */
  crashAfter(operations: number): void;
  crashAt(point: CrashPoint): void;
  /** Keeps such operations queued until `release`. */
  hold(kinds: readonly OperationKind[], path?: RegExp): { release(): void };
  /** Resolves when nothing is queued any more, held operations excepted; at once when frozen. */
  settle(): Promise<void>;
  /** Settles, then moves the clock, firing timers in their order and settling after each. */
  advance(millis: number): Promise<void>;
  /** Moves the wall clock alone, forwards or backwards. */
  jump(millis: number): void;
  /** The power goes: returns the next incarnation on what survived. CLOSED when this one has a successor already. */
  crash(keep?: Keep): SimulatedHost;
  /** The process dies and the page cache stays: returns the next incarnation. CLOSED as for `crash`. */
  kill(): SimulatedHost;
  /** Flips bit 0 to 7 of a byte, on disk and in the cache. OUT_OF_RANGE when the file has no such byte. */
  flipBit(path: string, offset: number, bit: number): void;
  /** A file as the cache shows it. */
  content(path: string): Uint8Array;
  /** What is durable under this name; ENOENT when the name itself isn't. */
  durableContent(path: string): Uint8Array;
}

/** 2025-01-01T00:00:00Z. */
const START_MILLIS = 1_735_689_600_000;

/** A machine of its own, in memory, with an empty disk. */
export function simulatedHost(options: SimulatedHostOptions): SimulatedHost {
  const { seed, faults, keepHistory = 100, startMillis = START_MILLIS } = options;
  if (!Number.isFinite(seed)) {
    throw new EhdbError("INVALID_OPTION", `seed is ${seed}: give a finite number`, { option: "seed", value: seed });
  }
  return new Incarnation(new Machine(seed, { ...noFaults(), ...faults }, keepHistory, startMillis));
}
