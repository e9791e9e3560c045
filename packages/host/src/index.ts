export { callInTurns } from "./call-in-turns.ts";
export type {
  Clock,
  File,
  Files,
  FileStat,
  Host,
  Job,
  Lock,
  OpenMode,
  Random,
  Timer,
  Watcher,
  Workers,
} from "./host.ts";
export { hostOf } from "./host-option.ts";
export { realHost } from "./real/host.ts";
export type { CrashPoint } from "./simulated/crash-points.ts";
export type { FaultCode, Faults } from "./simulated/faults.ts";
export type { History, HistoryEntry } from "./simulated/history.ts";
export { type SimulatedHost, simulatedHost, type SimulatedHostOptions } from "./simulated/simulated-host.ts";
export { type OperationCounts, type OperationKind, operationKinds, type Statistics } from "./simulated/statistics.ts";
export type { Keep } from "./simulated/survival.ts";
export { giveUp, goBefore, jobGate, passGate } from "./real/job-gate.ts";
export type { JobGate } from "./real/job-gate.ts";
