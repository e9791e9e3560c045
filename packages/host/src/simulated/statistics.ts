/** Everything the simulation counts as an operation. Each has its own count, its own failures and crash points. */
export const operationKinds = [
  "open",
  "create",
  "read",
  "write",
  "writeAtSync",
  "preallocate",
  "dataSync",
  "truncate",
  "size",
  "close",
  "rename",
  "link",
  "remove",
  "list",
  "stat",
  "makeDirectory",
  "removeDirectory",
  "syncDirectory",
  "lock",
  "unlock",
  "freeBytes",
  "job",
] as const;

export type OperationKind = (typeof operationKinds)[number];

/** Completed operations by kind, failed ones included. */
export type OperationCounts = Record<OperationKind, number>;

export function noOperations(): OperationCounts {
  return Object.fromEntries(operationKinds.map((kind) => [kind, 0])) as OperationCounts;
}

/** What happened so far on this disk, over all its incarnations: a run that never met a fault has proved nothing. */
export interface Statistics {
  /** Completed operations, failed ones included. */
  operations: number;
  /** Power losses. */
  crashes: number;
  /** Kills of the process alone. */
  kills: number;
  /** Writes of which a crash kept some sectors and lost others. */
  tornWrites: number;
  /** The sectors that those writes lost. */
  tornSectors: number;
  /** Writes that a crash lost entirely. */
  lostUnsyncedWrites: number;
  /** Creations, renames, links and removals that a crash lost. */
  lostDirectoryOperations: number;
  /** Operations that were queued at a crash or a kill and of which nothing happened. */
  droppedOperations: number;
  /** Failed syncs of files and directories. */
  failedSyncs: number;
  /** Syncs that resolved and made nothing durable. */
  lyingSyncs: number;
  /** Failed writes and preallocations, for lack of space too. */
  failedWrites: number;
  failedReads: number;
  /** Operations that ended with ENOSPC or EDQUOT. */
  noSpace: number;
  /** Times that a write went on after only a part of it was taken. */
  shortWrites: number;
  /** Operations that were delayed by the fault `slow`. */
  slowOperations: number;
  flippedBits: number;
}

export function noStatistics(): Statistics {
  return {
    operations: 0,
    crashes: 0,
    kills: 0,
    tornWrites: 0,
    tornSectors: 0,
    lostUnsyncedWrites: 0,
    lostDirectoryOperations: 0,
    droppedOperations: 0,
    failedSyncs: 0,
    lyingSyncs: 0,
    failedWrites: 0,
    failedReads: 0,
    noSpace: 0,
    shortWrites: 0,
    slowOperations: 0,
    flippedBits: 0,
  };
}
