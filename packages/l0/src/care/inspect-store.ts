import { join } from "node:path";
import type { DatasetOrder } from "@ehdb/contracts";
import { isEhdbError } from "@ehdb/contracts";
import type { ErrorCode } from "@ehdb/contracts";
import type { Host } from "@ehdb/host";
import { openJournalReader } from "@ehdb/journal";
import type { KeyRing } from "@ehdb/journal";
import type { DatasetMeta, PartMeta } from "../meta.ts";
import { isAbsent } from "../manifest/disk-error.ts";
import { manifestFile } from "../manifest/layout.ts";
import { readManifest } from "../manifest/read-manifest.ts";
import type { ReadManifest } from "../manifest/read-manifest.ts";
import { partName } from "../part/built-part.ts";
import { resolveCareOptions } from "./care-options.ts";
import { filesIn } from "./store-files.ts";
import type { StoreFile } from "./store-files.ts";

export interface InspectStoreOptions {
  readonly dir: string;
  readonly host?: Host;
  /** Of an encrypted store: without it all is told but what the journal holds. */
  readonly encryption?: KeyRing;
}

export interface LevelFacts {
  /** 0: sealed; n: merged n times. */
  readonly level: number;
  readonly parts: number;
  readonly records: number;
  readonly bytes: number;
}

export interface DatasetFacts {
  readonly id: number;
  readonly name: string;
  readonly order: DatasetOrder;
  /** In parts; of a map entries, hidden ones too. */
  readonly parts: number;
  readonly records: number;
  readonly bytes: number;
  readonly levels: readonly LevelFacts[];
  /** Of a log: the first position that can be read, and the one after the last that is in a part. */
  readonly firstPosition: number;
  readonly nextPosition: number;
  /** The last sealed commit that wrote to it; 0 for none. */
  readonly lastRevision: number;
}

export interface JournalFacts {
  /** The commits that can be read in it: those that it states durable. `undefined` when `problem` says why they aren't known. */
  readonly first: number | undefined;
  readonly last: number | undefined;
  readonly problem: ErrorCode | undefined;
  readonly segments: readonly StoreFile[];
}

export interface StoreFacts {
  readonly dir: string;
  readonly storeId: string;
  readonly incarnation: string;
  /** Of the last open that could write. */
  readonly epoch: number;
  /** Commits up to this one are in parts. */
  readonly sealedThrough: number;
  /** Engine time of that commit; 0 for none. */
  readonly sealedMillis: number;
  /** Changes of what is sealed, over the store's life. */
  readonly edits: number;
  readonly datasets: readonly DatasetFacts[];
  readonly manifests: readonly (StoreFile & { readonly isInForce: boolean })[];
  readonly journal: JournalFacts;
  /** Bytes of files by what they are for. */
  readonly disk: {
    readonly parts: number;
    readonly journal: number;
    readonly manifests: number;
    /** Kept aside for a full disk. */
    readonly reserve: number;
    readonly unnamed: number;
    readonly total: number;
  };
  /** Files that nothing names: what a crash left, what a writer is making, what a read still keeps, and what isn't the store's. */
  readonly unnamed: readonly StoreFile[];
}

/**
 * What is in a store, as plain data. Writes nothing, takes no lock and reads no records; a writer may be at work. Errors: INVALID_OPTION,
 * NOT_FOUND (no store there), CORRUPT (the manifest), UNSUPPORTED_VERSION, IO_ERROR.
 */
export async function inspectStore(options: InspectStoreOptions): Promise<StoreFacts> {
  const { host, dir, encryption } = resolveCareOptions(options, ["dir", "host", "encryption"]);
  // The files first: what was named meanwhile isn't told as unnamed.
  const listed = await filesIn(host, dir);
  const { id, state, journal } = await oneMoment(host, dir, encryption);
  const metas = [...state.parts.values()];
  const named = new Set(metas.map((meta) => partName(meta.id)));
  const files = [...listed, ...(await filesOf(host, dir, metas, listed))];
  const isKind = (kind: StoreFile["kind"]) => (file: StoreFile) => file.kind === kind;
  const parts = files.filter((file) => file.kind === "part" && named.has(file.name));
  const manifests = files.filter(isKind("manifest"));
  const segments = files.filter(isKind("segment"));
  const ofJournal = files.filter(({ kind }) => kind === "segment" || kind === "journal");
  const known = new Set<StoreFile>([...parts, ...manifests, ...ofJournal, ...files.filter(isKind("current"))]);
  const unnamed = files.filter((file) => !known.has(file) && file.kind !== "reserve");
  return {
    dir,
    storeId: state.store,
    incarnation: state.incarnation,
    epoch: state.epoch,
    sealedThrough: state.sealedThrough,
    sealedMillis: state.time,
    edits: state.edits,
    datasets: [...state.datasets.values()].map((dataset) => datasetFacts(dataset, metas)),
    manifests: manifests.map((file) => ({ ...file, isInForce: file.name === manifestFile(id) })),
    journal: { ...journal, segments },
    disk: {
      parts: bytesOf(parts),
      journal: bytesOf(ofJournal),
      manifests: bytesOf(manifests),
      reserve: bytesOf(files.filter(isKind("reserve"))),
      unnamed: bytesOf(unnamed),
      total: bytesOf(files),
    },
    unnamed,
  };
}

/** Looks at what a writer changes meanwhile. */
const mostTries = 16;

/** The manifest, and the journal behind it: a journal that has dropped more than the manifest says is sealed belongs to a later one. */
async function oneMoment(
  host: Host,
  dir: string,
  encryption: KeyRing | undefined,
): Promise<ReadManifest & { readonly journal: Omit<JournalFacts, "segments"> }> {
  for (let tries = 1, before = -1; ; tries++) {
    const manifest = await readManifest({ host, dir });
    const { edits, sealedThrough } = manifest.state;
    const journal = await readable(host, dir, encryption);
    // One that hasn't changed since has lost an edit: that is told as it is.
    if ((journal.first ?? 0) <= sealedThrough + 1 || edits === before || tries === mostTries)
      return { ...manifest, journal };
    before = edits;
  }
}

/** Parts that came between the listing and the manifest. */
async function filesOf(
  host: Host,
  dir: string,
  metas: readonly PartMeta[],
  listed: readonly StoreFile[],
): Promise<StoreFile[]> {
  const there = new Set(listed.filter(({ kind }) => kind === "part").map(({ name }) => name));
  const found: StoreFile[] = [];
  for (const name of metas.map(({ id }) => partName(id)).filter((one) => !there.has(one))) {
    const file = join(dir, "parts", name);
    const stat = await host.files.stat(file);
    if (stat?.kind === "file") found.push({ kind: "part", name, file, bytes: stat.bytes });
  }
  return found;
}

function datasetFacts({ id, name, order, floor, nextSort, lastRevision }: DatasetMeta, all: PartMeta[]): DatasetFacts {
  const metas = all.filter(({ dataset }) => dataset === id);
  const levels = [...new Set(metas.map(({ level }) => level))].sort((a, b) => a - b);
  const isLog = order === "by-sort";
  return {
    id,
    name,
    order,
    ...sumOf(metas),
    levels: levels.map((level) => ({ level, ...sumOf(metas.filter((meta) => meta.level === level)) })),
    firstPosition: isLog ? Math.max(1, floor) : 0,
    nextPosition: isLog ? nextSort : 0,
    lastRevision,
  };
}

function sumOf(metas: readonly PartMeta[]): Omit<LevelFacts, "level"> {
  let [records, bytes] = [0, 0];
  for (const meta of metas) {
    records += meta.records;
    bytes += meta.fileBytes;
  }
  return { parts: metas.length, records, bytes };
}

const bytesOf = (files: readonly StoreFile[]): number => files.reduce((sum, { bytes }) => sum + bytes, 0);

async function readable(
  host: Host,
  dir: string,
  encryption: KeyRing | undefined,
): Promise<Omit<JournalFacts, "segments">> {
  const unknown = { first: undefined, last: undefined };
  try {
    const options = { dir: join(dir, "journal"), host, ...(encryption && { encryption }) };
    const reader = await openJournalReader(options);
    const { first, last } = reader;
    await reader.close();
    return { first, last, problem: undefined };
  } catch (error) {
    if (isEhdbError(error, "CORRUPT", "KEY_MISSING", "WRONG_KEY", "NOT_FOUND", "UNSUPPORTED_VERSION"))
      return { ...unknown, problem: error.code };
    if (isAbsent(error)) return { ...unknown, problem: "NOT_FOUND" };
    throw error;
  }
}
