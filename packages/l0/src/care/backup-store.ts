import { join } from "node:path";
import { EhdbError, isEhdbError, throwIfAborted } from "@ehdb/contracts";
import type { Host } from "@ehdb/host";
import type { KeyRing, ReadOnlyJournal } from "@ehdb/journal";
import { isSameCopy } from "../manifest/copy-mark.ts";
import { readManifest } from "../manifest/read-manifest.ts";
import type { ReadManifest } from "../manifest/read-manifest.ts";
import type { Snapshot } from "../manifest/state.ts";
import { partName } from "../part/built-part.ts";
import { isMissingPart } from "../part/part-damage.ts";
import { assertMeets, openJournalBeside } from "../reader/journal-beside.ts";
import { backUp } from "./backup.ts";
import type { BackupReport } from "./backup.ts";
import { resolveCareOptions } from "./care-options.ts";

export interface BackupStoreOptions {
  readonly dir: string;
  /** A directory that is empty or missing. Until it's whole the backup stands beside, as `<to>.unfinished-<id>`. */
  readonly to: string;
  readonly host?: Host;
  /** Reads what the store has in its journal, and encrypts it in the backup. */
  readonly encryption?: KeyRing;
  readonly signal?: AbortSignal;
  readonly onProgress?: (doneBytes: number, totalBytes: number) => void;
}

/** Each begins with what the writer has sealed and merged meanwhile. */
const mostTries = 16;
/** Ten times what a writer takes that goes on. */
const statedWithinMillis = 500;
const lookMillis = 20;

/**
 * Backs up a store beside the process that writes it, with all that was acknowledged before the call. Takes no lock and writes nothing there. It waits
 * until the writer has stated that durable, 50 ms when it's idle; of one that has stopped, or of a store that nobody writes and that wasn't closed, it's
 * what was stated before. A writer doesn't wait for it, as it does for `engine.backup()`: what it merges or seals away before it's copied makes another
 * try, and after 16 of them it's LOCKED. Errors: INVALID_OPTION, NOT_FOUND (no store there), ALREADY_EXISTS (`to` holds something), CORRUPT, KEY_MISSING,
 * WRONG_KEY, UNSUPPORTED_VERSION, NO_SPACE, IO_ERROR, ABORTED.
 */
export async function backupStore(options: BackupStoreOptions): Promise<BackupReport> {
  const { host, dir, to, encryption, signal, onProgress } = resolveCareOptions(options, [
    "dir",
    "to",
    "host",
    "encryption",
    "signal",
    "onProgress",
  ]);
  for (let tries = 1; ; tries++) {
    // Says whether there is a store, and which.
    const seen = await readManifest({ host, dir });
    let journal: ReadOnlyJournal | undefined;
    try {
      // In this order: what the journal has dropped, the manifest has named before.
      journal = await openJournalBeside({ host, dir, encryption });
      await untilStated(journal, host, signal);
      const manifest = await readManifest({ host, dir });
      assertMeets(journal, manifest.state);
      const source = { host, dir, encryption, journal, ...momentOf(journal, manifest) };
      return await backUp(source, to, { signal, onProgress }, () => assertSameCopy(host, dir, seen));
    } catch (error) {
      if (!(await isOvertaken(host, dir, seen, error))) throw error;
      if (tries === mostTries) throw busy(dir, error);
      await host.clock.yield();
    } finally {
      await journal?.close();
    }
  }
}

/** What had been acknowledged when the journal was opened is stated durable, unless nobody goes on writing it. */
async function untilStated(journal: ReadOnlyJournal, { clock }: Host, signal: AbortSignal | undefined): Promise<void> {
  const { whole } = journal;
  for (let left = statedWithinMillis / lookMillis; journal.last < whole && left > 0; left--) {
    throwIfAborted(signal, "backupStore()");
    await new Promise<void>((resolve) => clock.timer(lookMillis, resolve, true));
    await journal.refresh();
  }
}

function momentOf(
  journal: ReadOnlyJournal,
  { id, state }: ReadManifest,
): Pick<Parameters<typeof backUp>[0], "epoch" | "moment"> {
  const { datasets, parts, others, ...rest } = state;
  const snapshot: Snapshot = { ...others, ...rest, datasets: [...datasets.values()], parts: [...parts.values()] };
  return {
    epoch: Math.max(journal.epoch, state.epoch),
    moment: {
      state: snapshot,
      manifestId: id,
      durable: Math.max(journal.last, state.sealedThrough),
      unsealedBytes: 0,
      touch: () => undefined,
    },
  };
}

/** Whether the writer has gone on, sealed and dropped of the journal, or merged a part away; or another copy of the store took its place. */
async function isOvertaken(host: Host, dir: string, seen: ReadManifest, error: unknown): Promise<boolean> {
  if (isEhdbError(error, "COMPACTED", "TRUNCATED")) return true;
  if (!isEhdbError(error, "CORRUPT", "KEY_MISSING", "WRONG_KEY", "UNSUPPORTED_VERSION")) return false;
  const now = await readManifest({ host, dir });
  if (!isSameCopy(seen, now)) return true;
  const { file } = error.data;
  return isMissingPart(error) && [...now.state.parts.keys()].every((id) => join(dir, "parts", partName(id)) !== file);
}

/** Another copy has other parts and segments under the same names. */
async function assertSameCopy(host: Host, dir: string, seen: ReadManifest): Promise<void> {
  if (isSameCopy(seen, await readManifest({ host, dir }))) return;
  throw new EhdbError("COMPACTED", `${dir} holds another store than when the backup began: begin it again`, { dir });
}

function busy(dir: string, cause: unknown): EhdbError {
  const message = `the process that writes ${dir} seals and merges faster than it's copied. Back up to the same disk, where parts get a second name; or call engine.backup() in that process, which waits for it`;
  return new EhdbError("LOCKED", message, { dir }, cause);
}
