import { invalidOption, MIB, refuseUnknown } from "@ehdb/contracts";
import type { Journal } from "@ehdb/journal";
import type { ResolvedOptions } from "../options.ts";
import { resolveWork } from "./care-options.ts";
import { Pace } from "./pace.ts";
import { UnreadablePlaces } from "./unreadable.ts";
import { verifyAll } from "./verify-store.ts";
import type { StoreReport } from "./verify-store.ts";

export interface VerifyEngineOptions {
  readonly signal?: AbortSignal;
  readonly onProgress?: (doneBytes: number, totalBytes: number) => void;
}

export interface ScrubOptions extends VerifyEngineOptions {
  /** On average: from 4 096, default 16 MiB. What is verified is read twice. */
  readonly bytesPerSecond?: number;
}

const defaultBytesPerSecond = 16 * MIB;

/** What of an open engine is verified. */
export interface EngineToVerify {
  readonly options: ResolvedOptions;
  readonly journal: Journal;
  /** Throws CLOSED. */
  readonly assertOpen: () => void;
}

/** As fast as it goes, parts in another thread. */
export function verifyEngine(engine: EngineToVerify, options: VerifyEngineOptions): Promise<StoreReport> {
  refuseUnknown(options, ["signal", "onProgress"] satisfies (keyof VerifyEngineOptions)[], "");
  return run(engine, { ...resolveWork(options), what: "verify()" });
}

/** At a pace that leaves the disk to others. */
export function scrubEngine(engine: EngineToVerify, options: ScrubOptions): Promise<StoreReport> {
  refuseUnknown(options, ["signal", "onProgress", "bytesPerSecond"] satisfies (keyof ScrubOptions)[], "");
  const { bytesPerSecond = defaultBytesPerSecond } = options;
  if (!(Number.isFinite(bytesPerSecond) && bytesPerSecond >= 4096))
    throw invalidOption("bytesPerSecond", bytesPerSecond, "a number from 4096");
  return run(engine, { ...resolveWork(options), what: "scrub()", bytesPerSecond });
}

function run(
  { options, journal, assertOpen }: EngineToVerify,
  work: ReturnType<typeof resolveWork> & { readonly what: string; readonly bytesPerSecond?: number },
): Promise<StoreReport> {
  const { host, dir, encryption } = options;
  return verifyAll({
    host,
    dir,
    encryption,
    unreadable: new UnreadablePlaces(),
    pace: new Pace({ ...work, clock: host.clock, assertWanted: assertOpen }),
    inThreads: host.workers.inThreads && work.bytesPerSecond === undefined,
    verifyJournal: async (verifying) => {
      const report = await journal.verify(verifying);
      return { ...report, first: journal.first, last: Math.max(journal.last, journal.cursors.durable) };
    },
  });
}
