import { join } from "node:path";
import { EhdbError } from "@ehdb/contracts";
import type { Host } from "@ehdb/host";
import type { ManifestEdit } from "../meta.ts";
import { copyMarkOf, unmarkCopy } from "./copy-mark.ts";
import { diskError } from "./disk-error.ts";
import { encodeCurrent } from "./format.ts";
import { isFirst, readInForce } from "./in-force.ts";
import type { Found } from "./in-force.ts";
import { brokenByEdit, brokenInvariant } from "./invariants.ts";
import { CURRENT, listDirectory, manifestPath } from "./layout.ts";
import type { Listing } from "./layout.ts";
import { ManifestFile } from "./manifest-file.ts";
import { publish, reportedAlready } from "./publish.ts";
import type { Replayed } from "./replay.ts";
import { RetainedManifests } from "./retention.ts";
import { LiveState } from "./state.ts";
import type { ManifestState, Snapshot } from "./state.ts";

export interface ManifestOptions {
  readonly host: Host;
  /** The engine's directory. Whoever opens a manifest to write holds the lock of the journal in it. */
  readonly dir: string;
  /** Older manifests that are kept; default 32. 0 keeps all. */
  readonly retain?: number;
  /** The journal's epoch of this open: it stands in the snapshots. */
  readonly epoch: number;
}

/** Since the open. */
export interface ManifestStats {
  /** Acknowledged, those in snapshots included. */
  readonly edits: number;
  /** Of manifests and CURRENT. */
  readonly bytesWritten: number;
  /** Manifests begun. */
  readonly snapshots: number;
  readonly versionsPruned: number;
  /** Older manifests that are kept now. */
  readonly versionsRetained: number;
  /** Of the manifest in force and the older ones. */
  readonly diskBytes: number;
  /** Of begins, appends and recoveries that failed, and of removals. */
  readonly errors: number;
}

const DEFAULT_RETAIN = 32;

/**
 * Reads what is sealed. Nothing is written, and nothing may be served, before `begin`.
 *
 * CORRUPT, with the file and the offset; UNSUPPORTED_VERSION; IO_ERROR; INVALID_OPTION.
 */
export async function openManifest(options: ManifestOptions): Promise<Manifest> {
  const { host, dir, retain = DEFAULT_RETAIN, epoch } = options;
  for (const [option, value] of Object.entries({ retain, epoch })) {
    if (Number.isSafeInteger(value) && value >= 0) continue;
    throw new EhdbError("INVALID_OPTION", `${option} is ${value}: give a whole number, 0 or more`, { option, value });
  }
  try {
    const found = await readInForce(host, dir);
    const listing = await listDirectory(host, dir);
    return new Manifest({ host, dir, retain, epoch }, found, listing, await sizesOf(host, dir, listing));
  } catch (error) {
    throw diskError(error, "Reading the manifest", dir);
  }
}

/**
 * An edit that changes nothing. Behind it another one, synced before, can't be taken for one that a crash cut short: damaged, it's found, and what
 * was done because of it can't come undone in silence.
 */
const closing: ManifestEdit = {};

/** When the edit is lost, the journal holds what it sealed, or begins beyond what the manifest knows then. */
function isToldByJournal({ sealedThrough, remove }: ManifestEdit): boolean {
  return sealedThrough !== undefined && remove === undefined;
}

/** For a figure only: what can't be looked at counts nothing, and the open goes on. */
async function sizesOf({ files }: Host, dir: string, { manifests }: Listing): Promise<Map<number, number>> {
  const sizeOf = async (id: number): Promise<number> => {
    const stat = await files.stat(manifestPath(dir, id)).catch(() => undefined);
    return stat?.bytes ?? 0;
  };
  return new Map(await Promise.all(manifests.map(async (id) => [id, await sizeOf(id)] as const)));
}

/** The durable list of what is sealed, open for edits. Its calls take effect one after another, in their order. */
export class Manifest {
  /** There was no store in the directory, or one whose first open didn't come to its end: nobody was promised anything. */
  readonly isNew: boolean;
  /** Nobody has opened this copy yet: from the next write on it's a store of its own, and has another incarnation already. */
  readonly isCopy: boolean;
  /** What the last writer left behind its last whole edit: an edit that nobody was promised. */
  readonly tornBytes: number;
  readonly #options: Required<ManifestOptions>;
  readonly #retained: RetainedManifests;
  readonly #counts = { edits: 0, bytesWritten: 0, snapshots: 0, versionsPruned: 0, errors: 0 };
  /** Ids of parts that were given out and aren't in the state yet. */
  readonly #taken: Set<number> = new Set();
  /** Of the files, as far as they aren't being written. */
  readonly #bytes: Map<number, number>;
  #state: LiveState;
  /** `undefined` before `begin`, and after an error: then the next edit goes into a new one. */
  #file: ManifestFile | undefined;
  /** What CURRENT durably names; 0 for nothing. */
  #inForce: number;
  /** What CURRENT was found to name, when that may be a name whose sync failed: what follows it would be left without it. */
  #doubtful: Replayed | undefined;
  #lastId: number;
  #nextPartId: number;
  #temporaries: readonly string[];
  #hasBegun = false;
  #isClosed = false;
  #queue: Promise<void> = Promise.resolve();

  constructor(
    options: Required<ManifestOptions>,
    found: Found | undefined,
    listing: Listing,
    bytes: Map<number, number>,
  ) {
    const { host, dir, retain } = options;
    const header = found?.replayed.header;
    this.isNew = found?.isInForce !== true;
    this.tornBytes = found?.replayed.tornBytes ?? 0;
    this.#options = options;
    this.#bytes = bytes;
    this.#state = found?.replayed.state ?? new LiveState(host.random.id(), host.random.id());
    this.isCopy = copyMarkOf(this.#state) !== undefined;
    if (this.isCopy) unmarkCopy(this.#state, host.random.id());
    this.#inForce = found?.isInForce === true ? found.replayed.header.id : 0;
    this.#doubtful = found?.isInForce === true && isFirst(found.replayed) ? found.replayed : undefined;
    this.#lastId = Math.max(header?.id ?? 0, ...listing.manifests.slice(-1));
    this.#nextPartId = Math.max(this.#state.nextPartId, listing.highestPart + 1);
    this.#temporaries = listing.temporaries;
    const older = listing.manifests.filter((id) => id !== this.#inForce);
    this.#retained = new RetainedManifests(host, dir, retain, older);
  }

  /** What is acknowledged; it changes with each edit. */
  get state(): ManifestState {
    return this.#state;
  }

  snapshot(): Snapshot {
    return this.#state.snapshot();
  }

  /** The manifest in force; 0 before there is one. */
  get id(): number {
    return this.#inForce;
  }

  /** An id that no part ever had. It is used up, also when no edit adds it. */
  takePartId(): number {
    const id = this.#nextPartId++;
    this.#taken.add(id);
    return id;
  }

  /**
   * Starts to write: puts the state, and `edit` with it, into a new manifest and switches CURRENT. When it fails, it can be called
   * again. Errors as of `append`.
   */
  async begin(edit?: ManifestEdit): Promise<void> {
    const own = structuredClone(edit);
    await this.#inTurn(async () => {
      if (own !== undefined) this.#validate(own);
      await this.#switch(own);
      this.#hasBegun = true;
    });
  }

  /**
   * Resolves when the edit is durable; only then it is in the state. UNEXPECTED for one that breaks an invariant: nothing was written.
   * IO_ERROR or NO_SPACE when the disk failed: the edit isn't in the state, a crash may show it all the same, and it may be appended
   * again. Parts that it adds are kept until an edit, or `recover`, has succeeded. TOO_LARGE, CLOSED.
   */
  async append(edit: ManifestEdit): Promise<void> {
    const own = structuredClone(edit);
    await this.#inTurn(async () => {
      if (!this.#hasBegun) throw new EhdbError("UNEXPECTED", "an edit before begin(): begin first, then append");
      this.#validate(own);
      await this.#write(own);
    });
  }

  /** After an error: puts the acknowledged state into a new manifest. Does nothing when there was none. Errors as of `append`. */
  recover(): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#hasBegun && this.#file === undefined) await this.#switch(undefined);
    });
  }

  /** The ids of older manifests that are kept, rising; also of some that a crash or an error left before CURRENT named them. */
  retained(): readonly number[] {
    return [...this.#retained.ids];
  }

  stats(): ManifestStats {
    const { ids } = this.#retained;
    const older = ids.reduce((sum, id) => sum + (this.#bytes.get(id) ?? 0), 0);
    const inForce = this.#file?.bytes ?? this.#bytes.get(this.#inForce) ?? 0;
    return { ...this.#counts, versionsRetained: ids.length, diskBytes: older + inForce };
  }

  /** Waits for what is under way. Writes nothing. Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#queue;
    await this.#leaveFile();
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const { dir } = this.#options;
    if (this.#isClosed) return Promise.reject(new EhdbError("CLOSED", `the manifest in ${dir} is closed`, { dir }));
    const run = this.#queue.then(work).catch((error: unknown) => {
      this.#counts.errors++;
      throw diskError(error, "Writing the manifest", dir);
    });
    this.#queue = run.catch(reportedAlready);
    return run;
  }

  #validate(edit: ManifestEdit): void {
    const broken = brokenByEdit(this.#state, edit, (id) => this.#taken.has(id));
    if (broken !== undefined) throw brokenInvariant(broken);
  }

  async #write(edit: ManifestEdit): Promise<void> {
    const file = this.#file;
    if (file === undefined || file.isFull(file.encode(edit))) {
      await this.#switch(edit);
      return;
    }
    const edits = isToldByJournal(edit) ? [edit] : [edit, closing];
    try {
      for (const one of edits) this.#counts.bytesWritten += await file.append(file.encode(one));
    } catch (error) {
      await this.#leaveFile();
      throw error;
    }
    for (const one of edits) this.#state.apply(one);
    this.#acknowledge(edit);
  }

  /** Puts the acknowledged state, and `edit`, into a new manifest, and then, durably, its name into CURRENT. */
  async #switch(edit: ManifestEdit | undefined): Promise<void> {
    const { host, dir, epoch } = this.#options;
    const next = this.#state.copy();
    if (edit !== undefined) next.apply(edit);
    next.epoch = epoch;
    next.nextPartId = Math.max(next.nextPartId, this.#nextPartId);
    await this.#leaveFile();
    if (!this.#hasBegun) await host.files.makeDirectory(dir);
    await this.#settleCurrent();
    const file = await ManifestFile.create(host, dir, ++this.#lastId, this.#inForce, next);
    // From here on a crash may show it in force.
    this.#retained.add(file.id);
    this.#bytes.set(file.id, file.bytes);
    const current = encodeCurrent(file);
    try {
      const named = await publish(host, dir, CURRENT, current);
      await named.close().catch(reportedAlready);
    } catch (error) {
      await file.close().catch(reportedAlready);
      throw error;
    }
    this.#file = file;
    this.#state = next;
    this.#counts.snapshots++;
    this.#counts.bytesWritten += file.snapshotBytes + current.length;
    if (edit !== undefined) this.#acknowledge(edit);
    await this.#removeOlder(file.id);
  }

  /** Only another rename makes a name durable whose sync failed. */
  async #settleCurrent(): Promise<void> {
    if (this.#doubtful === undefined) return;
    const { header, headerCrc } = this.#doubtful;
    const { host, dir } = this.#options;
    const named = await publish(host, dir, CURRENT, encodeCurrent({ id: header.id, headerCrc }));
    await named.close().catch(reportedAlready);
    this.#doubtful = undefined;
  }

  #acknowledge(edit: ManifestEdit): void {
    this.#counts.edits++;
    for (const { id } of edit.add ?? []) this.#taken.delete(id);
  }

  /** CURRENT durably names `id`. What can't be removed is counted, and fails nothing. */
  async #removeOlder(id: number): Promise<void> {
    this.#retained.replace(this.#inForce, id);
    this.#inForce = id;
    const { pruned, errors } = await this.#retained.prune();
    this.#counts.versionsPruned += pruned;
    this.#counts.errors += errors;
    const kept = new Set([id, ...this.#retained.ids]);
    for (const known of this.#bytes.keys()) if (!kept.has(known)) this.#bytes.delete(known);
    for (const name of this.#temporaries) {
      await this.#options.host.files.remove(join(this.#options.dir, name)).catch(reportedAlready);
    }
    this.#temporaries = [];
  }

  async #leaveFile(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    if (file !== undefined) this.#bytes.set(file.id, file.bytes);
    await file?.close().catch(reportedAlready);
  }
}
