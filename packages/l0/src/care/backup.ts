import { join } from "node:path";
import { throwIfAborted } from "@ehdb/contracts";
import type { Host } from "@ehdb/host";
import { copyJournal } from "@ehdb/journal";
import type { JournalReader, KeyRing } from "@ehdb/journal";
import { callersOwn } from "../error-counts.ts";
import { markCopy } from "../manifest/copy-mark.ts";
import { putInForce } from "../manifest/standalone.ts";
import { LiveState } from "../manifest/state.ts";
import type { Snapshot } from "../manifest/state.ts";
import { isAbsent } from "../manifest/disk-error.ts";
import { partName } from "../part/built-part.ts";
import { partReadError } from "../part/part-damage.ts";
import { assertOutside } from "./care-options.ts";
import { linkOrCopy } from "./copy-file.ts";
import { makeStore } from "./unfinished-store.ts";

export interface BackupOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((doneBytes: number, totalBytes: number) => void) | undefined;
}

export interface BackupReport {
  /** The last commit in it: the backup is the store as of this revision. */
  readonly revision: number;
  readonly parts: number;
  /** Commits that it has in its journal. */
  readonly commits: number;
  /** Of parts that have got a second name, and of what was copied. */
  readonly linkedBytes: number;
  readonly copiedBytes: number;
}

/** A moment of an open store, of which nothing goes before it's released. */
export interface HeldMoment {
  /** What is sealed; its parts don't go. */
  readonly state: Snapshot;
  /** The manifest that says so. */
  readonly manifestId: number;
  /** The last commit that is durable. What isn't sealed up to it stays in the journal. */
  readonly durable: number;
  /** About what it takes in the journal. */
  readonly unsealedBytes: number;
  /** Says that it's in use. COMPACTED when it was let go because it wasn't for too long. */
  readonly touch: () => void;
}

export interface BackupSource {
  readonly host: Host;
  readonly dir: string;
  readonly encryption: KeyRing | undefined;
  readonly journal: JournalReader;
  readonly epoch: number;
  readonly moment: HeldMoment;
}

/** Copies a moment of a store that goes on meanwhile: parts by a second name, then the journal, and last the manifest that names them. */
export async function backUp(
  source: BackupSource,
  to: string,
  { signal, onProgress }: BackupOptions,
  beforeItCounts: () => Promise<void> = async () => undefined,
): Promise<BackupReport> {
  const { host, dir, encryption, journal, epoch, moment } = source;
  const { state, durable, unsealedBytes, touch } = moment;
  assertOutside(dir, to);
  const totalBytes = state.parts.reduce((sum, { fileBytes }) => sum + fileBytes, unsealedBytes);
  let doneBytes = 0;
  const done = (bytes: number): void => {
    throwIfAborted(signal, "backup()");
    touch();
    doneBytes += bytes;
    callersOwn(() => onProgress?.(Math.min(doneBytes, totalBytes), totalBytes));
  };
  return await makeStore(host, to, "The backup", async (target) => {
    let linkedBytes = 0;
    for (const { id, fileBytes } of state.parts) {
      const before = doneBytes;
      const [from, name] = [join(dir, "parts", partName(id)), join(target, "parts", partName(id))];
      if (await linkOrCopy(host.files, from, name, done).catch((error: unknown) => missingPart(host, from, error)))
        linkedBytes += fileBytes;
      done(before + fileBytes - doneBytes);
    }
    await host.files.syncDirectory(join(target, "parts"));
    const beforeJournal = doneBytes;
    const copied = await copyJournal({
      from: journal,
      to: join(target, "journal"),
      host,
      ...(encryption && { encryption }),
      first: state.sealedThrough + 1,
      last: durable,
      leastEpoch: epoch + 1,
      ...(signal && { signal }),
      onBytes: (bytes) => done(beforeJournal + Math.min(bytes, unsealedBytes) - doneBytes),
    });
    await beforeItCounts();
    const copy = LiveState.fromSnapshot(state);
    const revision = Math.max(durable, state.sealedThrough);
    copy.epoch = epoch;
    markCopy(copy, { epoch, revision, millis: host.clock.now() });
    await putInForce(host, target, moment.manifestId, copy);
    done(totalBytes - doneBytes);
    return {
      revision,
      parts: state.parts.length,
      commits: copied.records,
      linkedBytes,
      copiedBytes: totalBytes - unsealedBytes - linkedBytes + copied.bytes,
    };
  });
}

/** CORRUPT for a part that is named and isn't there. */
async function missingPart({ files }: Host, path: string, error: unknown): Promise<never> {
  if (isAbsent(error) && (await files.stat(path)) === undefined) throw partReadError(error, path);
  throw error;
}
