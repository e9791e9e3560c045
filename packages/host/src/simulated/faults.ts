import type { FileErrorCode } from "../file-error.ts";
import { codeOf } from "../file-error.ts";
import type { OperationKind, Statistics } from "./statistics.ts";
import type { Stream } from "./stream.ts";

/**
 * What goes wrong, to be changed at any time. Probabilities are from 0 to 1, one draw an operation; all are 0 and the
 * disk is endless unless said otherwise.
 */
export interface Faults {
  /**
   * Bytes that the whole disk holds, counted in pages of 4 096, one more for each file and directory. What would take
   * more fails with ENOSPC, a write perhaps after its first pages; removing and truncating give space back.
   */
  noSpaceAfterBytes: number;
  /** EIO on `write`, `writeAtSync` and `preallocate`, perhaps after a part of the bytes. */
  writeError: number;
  /** EIO on `dataSync`, `dataSyncBlocking` and `syncDirectory`. What they covered counts as clean afterwards. */
  syncError: number;
  /** EIO on `read`. */
  readError: number;
  /** The system takes only a part of a write, and the file goes on with the rest. */
  shortWrite: number;
  /** A sync resolves and makes nothing durable; a later sync may. */
  lyingSync: number;
  /** An operation waits for up to 32 others. */
  slow: number;
}

/** Codes that a failure can be told to have. */
export type FaultCode = Extract<FileErrorCode, "EIO" | "ENOSPC" | "EDQUOT">;

export function noFaults(): Faults {
  return {
    noSpaceAfterBytes: Infinity,
    writeError: 0,
    syncError: 0,
    readError: 0,
    shortWrite: 0,
    lyingSync: 0,
    slow: 0,
  };
}

interface PlannedFailure {
  readonly kind: OperationKind;
  readonly code: FaultCode;
  readonly path: RegExp | undefined;
}

/** Decides which operations fail: those told to, then by chance. */
export class FaultPlan {
  readonly faults: Faults;
  readonly #stream: Stream;
  readonly #planned: PlannedFailure[] = [];

  constructor(faults: Faults, stream: Stream) {
    this.faults = faults;
    this.#stream = stream;
  }

  failNext(kind: OperationKind, code: FaultCode, path: RegExp | undefined): void {
    this.#planned.push({ kind, code, path });
  }

  /** The code that this operation fails with, or `undefined`. */
  draw(kind: OperationKind, path: string): FaultCode | undefined {
    if (this.#planned.length > 0) {
      const place = this.#planned.findIndex((plan) => plan.kind === kind && matches(plan.path, path));
      const [plan] = place < 0 ? [] : this.#planned.splice(place, 1);
      if (plan !== undefined) return plan.code;
    }
    return this.#stream.chance(this.#probability(kind)) ? "EIO" : undefined;
  }

  #probability(kind: OperationKind): number {
    if (kind === "write" || kind === "writeAtSync" || kind === "preallocate") return this.faults.writeError;
    if (kind === "dataSync" || kind === "syncDirectory") return this.faults.syncError;
    return kind === "read" ? this.faults.readError : 0;
  }
}

/** Whether a path is meant; no pattern means all. A pattern's `g` flag has no effect. */
export function matches(pattern: RegExp | undefined, path: string): boolean {
  return pattern === undefined || path.search(pattern) >= 0;
}

/** Counts a failure under what failed. */
export function countFailure(statistics: Statistics, kind: OperationKind, error: unknown): void {
  const code = codeOf(error);
  if (code === "ENOSPC" || code === "EDQUOT") statistics.noSpace++;
  if (kind === "dataSync" || kind === "syncDirectory") statistics.failedSyncs++;
  else if (kind === "write" || kind === "writeAtSync" || kind === "preallocate") statistics.failedWrites++;
  else if (kind === "read") statistics.failedReads++;
}
