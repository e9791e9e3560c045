import { join } from "node:path";
import { EhdbError, invalidOption } from "@ehdb/contracts";
import type { Host } from "@ehdb/host";
import { copyJournal, openJournalReader } from "@ehdb/journal";
import type { KeyRing } from "@ehdb/journal";
import { diskError } from "../../manifest/disk-error.ts";
import { assertOutside, resolveCareOptions } from "../care-options.ts";
import type { StoreDamage } from "../damage.ts";
import { Pace } from "../pace.ts";
import { filesIn } from "../store-files.ts";
import { makeStore, removeStore } from "../unfinished-store.ts";
import { aroundUnreadable, UnreadablePlaces } from "../unreadable.ts";
import { saveCommits } from "./commit-parts.ts";
import type { SavedCommits } from "./commit-parts.ts";
import { findParts, isAllThere } from "./find-parts.ts";
import { reckonJournal, salvageJournal } from "./journal-beside.ts";
import type { CommitsBeside } from "./journal-beside.ts";
import { readKnownStore } from "./known-store.ts";
import type { StoreLoss } from "./loss.ts";
import { NewStore } from "./new-store.ts";
import { saveParts } from "./save-parts.ts";
import { assertUnchanged, asWritten } from "./written-meanwhile.ts";

export interface SalvageStoreOptions {
  /** The damaged store. It's only read; nobody should be writing it. */
  readonly dir: string;
  /** A directory that is empty or missing; it becomes a store. Until it's whole it stands beside, as `<to>.unfinished-<id>`. */
  readonly to: string;
  readonly host?: Host;
  /** Reads the damaged store, and encrypts what is made anew. */
  readonly encryption?: KeyRing;
  readonly signal?: AbortSignal;
  readonly onProgress?: (doneBytes: number, totalBytes: number) => void;
}

export interface SalvageStoreReport {
  /** Records and entries in parts of the new store. */
  readonly records: number;
  /** Parts that were copied as they are, and damaged ones that were made anew. */
  readonly partsCopied: number;
  readonly partsRebuilt: number;
  /** Commits that the journal gave. */
  readonly commits: number;
  /** What was found damaged, whether something is lost by it or not. */
  readonly damage: readonly StoreDamage[];
  /** What is missing in the new store. */
  readonly lost: readonly StoreLoss[];
}

interface SavedJournal {
  readonly saved: SavedCommits | undefined;
  readonly first: number;
  readonly last: number;
}

/**
 * Makes a new store of all that is whole in a damaged one. Each dataset has its records with the same positions, versions, revisions and times; what is lost is
 * reported. All is in parts, and the new store is another incarnation. Errors: INVALID_OPTION, NOT_FOUND (no store there), ALREADY_EXISTS,
 * KEY_MISSING, WRONG_KEY, UNSUPPORTED_VERSION, NO_SPACE, IO_ERROR, ABORTED, LOCKED (it was written meanwhile).
 */
export async function salvageStore(options: SalvageStoreOptions): Promise<SalvageStoreReport> {
  const resolved = resolveCareOptions(options, ["dir", "to", "host", "encryption", "signal", "onProgress"]);
  const { dir, to, encryption, signal, onProgress } = resolved;
  if (dir === to) throw invalidOption("to", to, "another directory than dir: the damaged store is only read");
  assertOutside(dir, to);
  const unreadable = new UnreadablePlaces();
  const host = aroundUnreadable(resolved.host, dir, unreadable.add);
  const pace = new Pace({ what: "salvageStore()", clock: host.clock, signal, onProgress });
  const files = (await filesIn(host, dir)).filter(({ kind }) => !["other", "journal", "reserve"].includes(kind));
  if (files.length === 0) throw new EhdbError("NOT_FOUND", `${dir} holds no store: check the path`, { dir });
  const bytesOf = (wanted: string): number =>
    files.reduce((sum, { kind, bytes }) => sum + (kind === wanted ? bytes : 0), 0);
  pace.totalBytes = 2 * bytesOf("part") + bytesOf("segment");
  try {
    const report = await makeStore(host, to, "The salvage", (directory) =>
      run({ host, dir, directory, encryption, pace, segmentBytes: bytesOf("segment") }),
    );
    return { ...report, damage: [...report.damage, ...unreadable.damage] };
  } catch (error) {
    throw asWritten(diskError(error, "The salvage", to), dir);
  }
}

export interface Salvaging {
  readonly host: Host;
  readonly dir: string;
  /** The new store's, unfinished. */
  readonly directory: string;
  readonly encryption: KeyRing | undefined;
  readonly pace: Pace;
  readonly segmentBytes: number;
}

async function run(salvaging: Salvaging): Promise<SalvageStoreReport> {
  const { host, dir, directory, encryption, pace, segmentBytes } = salvaging;
  pace.begin(segmentBytes);
  const salvaged = await salvageJournal(salvaging);
  pace.end();
  const known = await readKnownStore(host, dir, (state) => isAllThere(salvaging, state, salvaged));
  const store = new NewStore(salvaging, known);
  const found = await findParts(salvaging, known);
  store.damage.push(...found.unknown);
  store.found(found);
  await reckonJournal(salvaging, store, salvaged);
  const { journal } = salvaged;
  const { copied, rebuilt } = await saveParts(salvaging, store, found, journal);
  const saved = journal && (await commitsOf(salvaging, store, journal));
  await host.files.syncDirectory(join(directory, "parts"));
  const { revision, epoch } = store.complete(saved?.saved, journal?.last ?? 0);
  await copyJournal({
    to: join(directory, "journal"),
    host,
    ...(encryption && { encryption }),
    first: revision + 1,
    last: revision,
    leastEpoch: epoch + 1,
  });
  if (journal !== undefined) await removeStore(host, journal.directory);
  await assertUnchanged(host, dir, known);
  await store.putInForce();
  return {
    records: store.parts.reduce((sum, meta) => sum + meta.records, 0),
    partsCopied: copied,
    partsRebuilt: rebuilt,
    commits: saved?.saved?.commits ?? 0,
    damage: store.damage,
    lost: store.lost,
  };
}

async function commitsOf(
  { host, encryption }: Salvaging,
  store: NewStore,
  { directory, first, last }: CommitsBeside,
): Promise<SavedJournal> {
  const reader = await openJournalReader({ dir: directory, host, ...(encryption && { encryption }) });
  try {
    const saved = await saveCommits(reader, store.making, (dataset, revision) => store.isInPart(dataset, revision));
    for (const revision of saved.unreadable) {
      const reason = "it isn't a commit, although its checksum fits";
      store.lost.push({
        kind: "journal",
        file: directory,
        offset: 0,
        reason,
        firstRevision: revision,
        lastRevision: revision,
      });
    }
    store.parts.push(...saved.parts);
    return { saved, first, last };
  } finally {
    await reader.close();
  }
}
