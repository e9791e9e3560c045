import { join } from "node:path";
import { EhdbError, isEhdbError } from "@ehdb/contracts";
import type { Host } from "@ehdb/host";
import { openJournalReader } from "@ehdb/journal";
import type { KeyRing, ReadOnlyJournal } from "@ehdb/journal";
import { readManifest } from "../manifest/read-manifest.ts";
import type { ReadManifest } from "../manifest/read-manifest.ts";
import type { Snapshot } from "../manifest/state.ts";
import { partName } from "../part/built-part.ts";
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

/**
 * Backs up a store beside the process that writes it: what that has stated durable, about 50 ms behind an idle one. Takes no lock and writes nothing
 * there. A writer doesn't wait for it, as it does for `engine.backup()`: what it merges or seals away before it's copied makes another try, and after
 * 16 of them it's LOCKED. Of a store that nobody writes and that wasn't closed, open it instead: the end of its journal may not be stated. Errors:
 * INVALID_OPTION, NOT_FOUND (no store there), ALREADY_EXISTS (`to` holds something), CORRUPT, KEY_MISSING, WRONG_KEY, UNSUPPORTED_VERSION, NO_SPACE,
 * IO_ERROR, ABORTED.
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
    // In this order: what the journal has dropped, the manifest has named before. The first look says whether there is a store.
    await readManifest({ host, dir });
    const journal = await openJournalReader({ dir: join(dir, "journal"), host, ...(encryption && { encryption }) });
    try {
      const manifest = await readManifest({ host, dir });
      const source = { host, dir, encryption, journal, ...momentOf(journal, manifest) };
      const stillItself = (): Promise<void> => assertSame(host, dir, manifest);
      return await backUp(source, to, { signal, onProgress }, stillItself);
    } catch (error) {
      if (!(await isOvertaken(host, dir, error))) throw error;
      if (tries === mostTries) throw busy(dir, error);
      await host.clock.yield();
    } finally {
      await journal.close();
    }
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

/** Whether the writer has gone on: sealed and dropped of the journal, or merged a part away. */
async function isOvertaken(host: Host, dir: string, error: unknown): Promise<boolean> {
  if (isEhdbError(error, "COMPACTED", "TRUNCATED")) return true;
  const file = isEhdbError(error, "CORRUPT") ? error.data["file"] : undefined;
  if (typeof file !== "string" || (await host.files.stat(file)) !== undefined) return false;
  const { state } = await readManifest({ host, dir });
  return [...state.parts.keys()].every((id) => join(dir, "parts", partName(id)) !== file);
}

/** Another store that was put in its place has other parts under the same names. */
async function assertSame(host: Host, dir: string, { state: before }: ReadManifest): Promise<void> {
  const { state: now } = await readManifest({ host, dir });
  if (now.store === before.store && now.incarnation === before.incarnation) return;
  const message = `${dir} holds another store than when the backup began: begin it again`;
  throw new EhdbError("COMPACTED", message, { dir });
}

function busy(dir: string, cause: unknown): EhdbError {
  const message = `the process that writes ${dir} seals and merges faster than it's copied. Back up to the same disk, where parts get a second name; or call engine.backup() in that process, which waits for it`;
  return new EhdbError("LOCKED", message, { dir }, cause);
}
