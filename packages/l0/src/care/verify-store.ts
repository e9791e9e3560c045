import { join } from "node:path";
import { isEhdbError, whenAborted } from "@ehdb/contracts";
import { giveUp, jobGate } from "@ehdb/host";
import type { Host } from "@ehdb/host";
import { verifyJournal } from "@ehdb/journal";
import type { Damage, KeyRing, SequenceRange, VerifyOptions } from "@ehdb/journal";
import type { PartMeta } from "../meta.ts";
import type { ManifestState } from "../manifest/state.ts";
import { partName } from "../part/built-part.ts";
import { diskError, isAbsent, isNoDirectory } from "../manifest/disk-error.ts";
import { readManifest } from "../manifest/read-manifest.ts";
import { resolveCareOptions } from "./care-options.ts";
import type { StoreDamage } from "./damage.ts";
import { journalEnd } from "./journal-end.ts";
import { Pace } from "./pace.ts";
import { aroundUnreadable, UnreadablePlaces } from "./unreadable.ts";
import { verifyManifests } from "./verify-manifests.ts";
import { verifyPartFile, verifyPartJob } from "./verify-part-job.ts";
import type { PartVerified } from "./verify-part-job.ts";

export interface VerifyStoreOptions {
  readonly dir: string;
  readonly host?: Host;
  /** Keys of what is encrypted; `current` isn't used. */
  readonly encryption?: KeyRing;
  readonly signal?: AbortSignal;
  readonly onProgress?: (doneBytes: number, totalBytes: number) => void;
}

export interface StoreReport {
  readonly ok: boolean;
  /** What was looked at: manifests, parts that the one in force names, and of those without damage the blocks. */
  readonly manifests: number;
  readonly parts: number;
  readonly blocks: number;
  readonly segments: number;
  /** Of the journal. */
  readonly commits: number;
  readonly bytes: number;
  readonly damage: readonly StoreDamage[];
}

/** What the journal says of itself: `first` and `last` are the commits that it holds. */
export interface JournalVerified {
  readonly segments: number;
  readonly records: number;
  readonly bytes: number;
  readonly damage: readonly Damage[];
  readonly gaps: readonly SequenceRange[];
  readonly first: number;
  readonly last: number;
}

/** What is verified, and how. */
export interface Verification {
  readonly host: Host;
  readonly dir: string;
  readonly encryption: KeyRing | undefined;
  readonly pace: Pace;
  /** What the disk can't read, of manifests and journal; of parts it's added. */
  readonly unreadable: UnreadablePlaces;
  /** Whether parts may be read in another thread, which has no pace. */
  readonly inThreads: boolean;
  readonly verifyJournal: (options: VerifyOptions) => Promise<JournalVerified>;
}

/**
 * Reads all of a store and says what is wrong: manifests, every block of every part that is named, every byte of the journal, and whether
 * they fit together. Writes nothing and takes no lock; a writer may be at work, and what it changes meanwhile is no damage. Errors:
 * INVALID_OPTION, NOT_FOUND (no store there), ABORTED, KEY_MISSING, WRONG_KEY, UNSUPPORTED_VERSION, IO_ERROR.
 */
export async function verifyStore(options: VerifyStoreOptions): Promise<StoreReport> {
  const resolved = resolveCareOptions(options, ["dir", "host", "encryption", "signal", "onProgress"]);
  const { dir, encryption, signal, onProgress } = resolved;
  const unreadable = new UnreadablePlaces();
  const host = aroundUnreadable(resolved.host, dir, unreadable.add);
  const journal = join(dir, "journal");
  return await verifyAll({
    host,
    dir,
    encryption,
    unreadable,
    pace: new Pace({ what: "verifyStore()", clock: host.clock, signal, onProgress }),
    inThreads: host.workers.inThreads,
    verifyJournal: (verifying) =>
      verifyJournal({ dir: journal, host, ...(encryption && { encryption }), ...verifying }),
  });
}

export async function verifyAll(verification: Verification): Promise<StoreReport> {
  const { host, dir, pace } = verification;
  const damage: StoreDamage[] = [];
  const onDamage = (found: StoreDamage): void => void damage.push(found);
  const { inForce, manifests, bytes: manifestBytes } = await verifyManifests(host, dir, onDamage);
  const journalBytes = await bytesIn(host, join(dir, "journal"));
  pace.totalBytes = journalBytes;
  const parts = await verifyParts(verification, inForce?.state, onDamage);
  pace.begin(journalBytes);
  const journal = await verifyJournalOf(verification, onDamage);
  pace.end();
  if (inForce !== undefined && journal !== undefined)
    for (const found of await whatDoesNotMeet(host, dir, inForce.state, journal)) onDamage(found);
  damage.push(...verification.unreadable.damage);
  return {
    ok: damage.length === 0,
    manifests,
    parts: parts.count,
    blocks: parts.blocks,
    segments: journal?.segments ?? 0,
    commits: journal?.records ?? 0,
    bytes: manifestBytes + parts.bytes + (journal?.bytes ?? 0),
    damage,
  };
}

interface PartsVerified {
  readonly count: number;
  readonly blocks: number;
  readonly bytes: number;
}

/** Each part that is named; and in place of one that a merge has taken away before it was read, those that are named then. */
async function verifyParts(
  verification: Verification,
  inForce: ManifestState | undefined,
  onDamage: (damage: StoreDamage) => void,
): Promise<PartsVerified> {
  const { host, dir, pace } = verification;
  const seen = new Set<number>();
  let [count, blocks, bytes] = [0, 0, 0];
  let named = inForce;
  while (named !== undefined) {
    const state = named;
    const wanted = [...state.parts.values()].filter(({ id }) => !seen.has(id));
    pace.totalBytes += wanted.reduce((sum, { fileBytes }) => sum + fileBytes, 0);
    let isOvertaken = false;
    for (const meta of wanted) {
      seen.add(meta.id);
      const found = await verifyNamed(verification, state, meta, onDamage);
      isOvertaken ||= found === undefined;
      if (found === undefined) continue;
      count++;
      blocks += found;
      bytes += meta.fileBytes;
    }
    named = isOvertaken ? (await readManifest({ host, dir })).state : undefined;
  }
  return { count, blocks, bytes };
}

/** Returns the part's blocks, 0 of one that is damaged; undefined when it's damaged, or gone, and named no more. */
async function verifyNamed(
  { host, dir, encryption, pace, inThreads, unreadable }: Verification,
  state: ManifestState,
  meta: PartMeta,
  onDamage: (damage: StoreDamage) => void,
): Promise<number | undefined> {
  pace.check();
  pace.begin(meta.fileBytes);
  const part = { path: join(dir, "parts", partName(meta.id)), meta, encryption };
  const found = await (inThreads ? verifyInThread(host, part, pace) : verifyPartFile(pace.files(host.files), part));
  pace.end();
  if (found.damage.length === 0 && found.unreadable.length === 0) return found.blocks;
  if (!(await isStillNamed(host, dir, meta.id))) return undefined;
  const dataset = state.datasets.get(meta.dataset)?.name;
  for (const place of found.unreadable) unreadable.add(place);
  for (const one of found.damage) onDamage({ kind: "part", ...one, ...(dataset !== undefined && { dataset }) });
  return 0;
}

async function verifyInThread(
  host: Host,
  part: Parameters<typeof verifyPartFile>[1],
  { signal }: Pace,
): Promise<PartVerified> {
  const gate = jobGate();
  const stopWaiting = signal && whenAborted(signal, () => giveUp(gate));
  try {
    return await host.workers.run(verifyPartJob, { ...part, gate });
  } finally {
    stopWaiting?.();
  }
}

async function isStillNamed(host: Host, dir: string, id: number): Promise<boolean> {
  try {
    return (await readManifest({ host, dir })).state.parts.has(id);
  } catch (error) {
    if (isEhdbError(error, "CORRUPT")) return true;
    throw error;
  }
}

async function verifyJournalOf(
  { dir, pace, verifyJournal: verify }: Verification,
  onDamage: (damage: StoreDamage) => void,
): Promise<JournalVerified | undefined> {
  let before = 0;
  const onProgress = async (doneBytes: number): Promise<void> => {
    const more = doneBytes - before;
    before = doneBytes;
    if (more > 0) await pace.took(more);
  };
  try {
    const report = await verify({ ...(pace.signal && { signal: pace.signal }), onProgress });
    for (const { file, offset, reason, first, last } of report.damage)
      onDamage({ kind: "journal", file, offset, reason, firstRevision: first, lastRevision: last });
    return report;
  } catch (error) {
    // INVALID_OPTION: something lies there that isn't a directory.
    if (!isEhdbError(error, "NOT_FOUND", "INVALID_OPTION")) throw error;
    onDamage({ kind: "journal", file: join(dir, "journal"), offset: 0, reason: "there is no journal" });
    return undefined;
  }
}

/**
 * Where manifest and journal don't go on from each other. A seal raises what is sealed, and then the journal's beginning: so what was
 * sealed before the journal was read must be within it, and its beginning within what is sealed afterwards.
 */
async function whatDoesNotMeet(
  host: Host,
  dir: string,
  before: ManifestState,
  { first, last, gaps, damage }: JournalVerified,
): Promise<StoreDamage[]> {
  const wrong: StoreDamage[] = [];
  // Of a journal that is damaged it isn't known where it ends.
  if (last < before.sealedThrough && damage.length === 0)
    wrong.push({
      kind: "journal",
      ...(await journalEnd(host, dir)),
      reason: `the journal ends at ${last}, and commits up to ${before.sealedThrough} are in parts`,
      firstRevision: last + 1,
      lastRevision: before.sealedThrough,
    });
  const { state, file, end } = await readManifest({ host, dir });
  const { sealedThrough } = state;
  if (first > sealedThrough + 1)
    wrong.push({
      kind: "manifest",
      file,
      offset: end,
      reason: `the journal begins at ${first}, and only commits up to ${sealedThrough} are in parts: what the last edit said is lost`,
      firstRevision: sealedThrough + 1,
      lastRevision: first - 1,
    });
  for (const gap of gaps) {
    if (gap.last <= sealedThrough) continue;
    wrong.push({
      kind: "journal",
      file: join(dir, "journal"),
      offset: 0,
      reason: "the journal lacks commits that aren't in parts",
      firstRevision: gap.first,
      lastRevision: gap.last,
    });
  }
  return wrong;
}

async function bytesIn(host: Host, directory: string): Promise<number> {
  let bytes = 0;
  try {
    for (const name of await host.files.list(directory)) {
      if (name.endsWith(".segment")) bytes += (await host.files.stat(join(directory, name)))?.bytes ?? 0;
    }
  } catch (error) {
    if (!isAbsent(error) && !isNoDirectory(error)) throw diskError(error, "Looking into the journal", directory);
  }
  return bytes;
}
