import { join } from "node:path";
import { EhdbError, invalidOption, MIB } from "@ehdb/contracts";
import { openJournal } from "@ehdb/journal";
import type { Journal } from "@ehdb/journal";
import type { DurableEngine, EngineOptions } from "./api.ts";
import { BlockCache } from "./block-cache.ts";
import { loadContentHash } from "./content-hash.ts";
import { countingDoor } from "./counting-door.ts";
import { OpenEngine } from "./engine.ts";
import { epochOfCopy, findCopyMark } from "./manifest/copy-mark.ts";
import { diskError, isAbsent, isNoSpace } from "./manifest/disk-error.ts";
import { CURRENT } from "./manifest/layout.ts";
import { openManifest } from "./manifest/manifest.ts";
import type { Manifest } from "./manifest/manifest.ts";
import { resolveOptions } from "./options.ts";
import type { ResolvedOptions } from "./options.ts";
import { noLookups } from "./part/lookup-counts.ts";
import { PartHandles } from "./part/part-handles.ts";
import { datasetsFor, recover } from "./recovery.ts";
import type { Recovered } from "./recovery.ts";
import { Reserve } from "./reserve.ts";
import { Sealed } from "./sealed.ts";

/**
 * Opens an engine, making its directory when there is none, and locks it. Errors: INVALID_OPTION, LOCKED, CORRUPT, KEY_MISSING, WRONG_KEY,
 * UNSUPPORTED_VERSION, IO_ERROR, NO_SPACE, and with `create: false` NOT_FOUND; on all of them nothing that was stored is changed.
 */
export async function openEngine(options: EngineOptions): Promise<DurableEngine> {
  const asked = resolveOptions(options);
  const hash = await loadContentHash();
  await lookBeforeOpening(asked);
  const copied = await lookForCopy(asked);
  const journal = await openJournal({ ...journalOptions(asked), ...copied.epoch });
  const resolved = { ...asked, host: journal.host };
  let manifest: Manifest | undefined;
  let handles: PartHandles | undefined;
  try {
    const { host, dir, manifestRetain: retain, encryption, blockCacheBytes, sealReserveBytes } = resolved;
    manifest = await openManifest({ host, dir, retain, epoch: journal.epoch });
    if (manifest.isCopy && copied.failure !== undefined) throw copied.failure;
    handles = new PartHandles(host.files);
    const cache = new BlockCache(blockCacheBytes);
    const reserve = new Reserve(host, dir, sealReserveBytes, journal);
    const sealed = new Sealed(resolved, manifest, { handles, cache, counts: noLookups(), encryption }, reserve);
    const opened = { options: resolved, journal, sealed, reserve, hash };
    const recoverFrom = (partsVersion: number): Promise<Recovered> => recoverStore(resolved, opened, partsVersion);
    const engine = new OpenEngine({ ...opened, recovered: await recoverFrom(0), recoverAgain: recoverFrom });
    return countingDoor<DurableEngine>(engine, engine.errors.add, ["commit"]);
  } catch (error) {
    await manifest?.close();
    await handles?.close();
    await journal.close();
    throw error;
  }
}

/**
 * The epoch in which a copy that nobody has opened goes on. What keeps that from being known is told only if it's one: the journal says
 * first whether somebody else has the store.
 */
async function lookForCopy({
  host,
  dir,
}: ResolvedOptions): Promise<{ readonly epoch?: { readonly leastEpoch: number }; readonly failure?: Error }> {
  try {
    const mark = await findCopyMark(host, dir);
    return mark === undefined ? {} : { epoch: { leastEpoch: epochOfCopy(host, mark) } };
  } catch (error) {
    return { failure: diskError(error, "Reading the manifest", dir) as Error };
  }
}

/** A directory that is a journal's own would be a mixture of both for ever. */
async function lookBeforeOpening({ host, dir, create }: ResolvedOptions): Promise<void> {
  let names: readonly string[] = [];
  try {
    names = await host.files.list(dir);
  } catch (error) {
    if (!isAbsent(error)) throw diskError(error, "Looking into the directory", dir);
  }
  if (!create && !names.includes(CURRENT) && !names.includes("journal")) {
    const message = `there is no store in ${dir}: check the path, or leave out create: false to make one`;
    throw new EhdbError("NOT_FOUND", message, { path: dir });
  }
  if (!names.some((name) => name.endsWith(".segment"))) return;
  throw invalidOption(
    "dir",
    dir,
    "a directory that isn't a journal's: an engine has its journal in a directory within its own",
  );
}

/** What stands in parts and journal, in memory; and in the manifest, that another epoch has begun. */
async function recoverStore(
  options: ResolvedOptions,
  { journal, sealed, reserve }: { readonly journal: Journal; readonly sealed: Sealed; readonly reserve: Reserve },
  partsVersion: number,
): Promise<Recovered> {
  const { host, datasets: specs } = options;
  const known = [...sealed.state.datasets.values()];
  const metas = datasetsFor(specs, known);
  const recovered = await recover(
    { host, journal, specs, metas, fullness: options, parts: sealed.parts(), partsVersion },
    sealed.state,
  );
  // Without the next position: what isn't sealed gets its positions again when it's replayed.
  const datasets = [...recovered.store.byId.values()].map(({ identity, cuts }) => ({ ...identity, cuts }));
  if (recovered.isReadOnly) return recovered;
  await reserve.look();
  try {
    await sealed.begin({ datasets });
  } catch (error) {
    // Of a store that isn't there yet nothing can be read.
    if (sealed.isNew || !isNoSpace(error)) throw error;
    return { ...recovered, isReadOnly: true };
  }
  await sealed.reclaimAtOpen();
  await reserve.keep();
  return recovered;
}

function journalOptions(options: ResolvedOptions): Parameters<typeof openJournal>[0] {
  const {
    dir,
    host,
    durability,
    encryption,
    maxInFlightBytes,
    reserveBytes,
    blockingSync,
    lockTimeoutMillis,
    sealMaxBytes,
  } = options;
  return {
    dir: join(dir, "journal"),
    host,
    durability,
    segmentBytes: Math.max(MIB, sealMaxBytes),
    maxInFlightBytes,
    reserveBytes,
    blockingSync,
    lockTimeoutMillis,
    ...(encryption === undefined ? {} : { encryption }),
  };
}
