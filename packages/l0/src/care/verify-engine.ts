import { join } from "node:path";
import { invalidOption, isEhdbError, MIB, refuseUnknown } from "@ehdb/contracts";
import { verifyJournal } from "@ehdb/journal";
import type { Journal } from "@ehdb/journal";
import type { ResolvedOptions } from "../options.ts";
import { resolveWork } from "./care-options.ts";
import { Pace } from "./pace.ts";
import { aroundUnreadable, UnreadablePlaces } from "./unreadable.ts";
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
  const { dir, encryption } = options;
  const unreadable = new UnreadablePlaces();
  const host = aroundUnreadable(options.host, dir, unreadable.add);
  return verifyAll({
    host,
    dir,
    encryption,
    unreadable,
    pace: new Pace({ ...work, clock: host.clock, assertWanted: assertOpen }),
    inThreads: host.workers.inThreads && work.bytesPerSecond === undefined,
    verifyJournal: async (verifying) => {
      const report = await journal.verify(verifying).catch((error: unknown) => {
        // A journal that is open isn't read around what the disk can't read; a reader beside it is.
        if (!isEhdbError(error, "IO_ERROR") || error.data["errno"] !== "EIO") throw error;
        return verifyJournal({ dir: join(dir, "journal"), host, ...(encryption && { encryption }), ...verifying });
      });
      return { ...report, first: journal.first, last: Math.max(journal.last, journal.cursors.durable) };
    },
  });
}
