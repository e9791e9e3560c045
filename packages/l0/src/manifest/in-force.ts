import { isEhdbError } from "@ehdb/contracts";
import type { Host } from "@ehdb/host";
import { corrupt } from "./damage.ts";
import { isAbsent } from "./disk-error.ts";
import { decodeCurrent } from "./format.ts";
import type { Current } from "./format.ts";
import { currentPath, listDirectory, manifestFile, manifestPath } from "./layout.ts";
import type { Listing } from "./layout.ts";
import { replay } from "./replay.ts";
import type { Replayed } from "./replay.ts";

/** What a directory's manifest says. */
export interface Found {
  /** CURRENT names it. Otherwise a new store's first open didn't get so far, and this is what it had written. */
  readonly isInForce: boolean;
  readonly replayed: Replayed;
}

/** The manifest in force; `undefined` in a directory that holds no store. Writes nothing; a writer may be at work beside it. */
export async function readInForce(host: Host, dir: string): Promise<Found | undefined> {
  for (let current = await readCurrent(host, dir); ;) {
    let damage: unknown;
    try {
      if (current === undefined) return await readWithoutCurrent(host, dir);
      return { isInForce: true, replayed: await readNamed(host, dir, current) };
    } catch (error) {
      damage = error;
    }
    // A writer that switched meanwhile may have removed what CURRENT named, or made what was missing.
    const now = await readCurrent(host, dir);
    if (now === undefined || (now.id === current?.id && now.headerCrc === current.headerCrc)) throw damage;
    current = now;
  }
}

/**
 * What a manifest's file says; `undefined` when there is none. A writer may have put edits into it while it was read, and only the later one
 * was seen: where it looks damaged it's read again, as long as what is damaged moves on. CORRUPT, UNSUPPORTED_VERSION.
 */
export async function readReplayed(host: Host, path: string, id: number): Promise<Replayed | undefined> {
  for (let judgedAt = -1; ;) {
    const bytes = await readWhole(host, path);
    if (bytes === undefined) return undefined;
    try {
      return replay(bytes, path, id);
    } catch (error) {
      const damagedAt = isEhdbError(error, "CORRUPT") ? Number(error.data["offset"]) : -1;
      if (damagedAt <= judgedAt) throw error;
      judgedAt = damagedAt;
    }
  }
}

/** The bytes of a file; `undefined` when there is none. */
export async function readWhole(host: Host, path: string): Promise<Buffer | undefined> {
  try {
    const file = await host.files.open(path, "read");
    try {
      const bytes = Buffer.alloc(await file.size());
      return bytes.subarray(0, await file.read(bytes, 0));
    } finally {
      await file.close();
    }
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
}

async function readCurrent(host: Host, dir: string): Promise<Current | undefined> {
  const path = currentPath(dir);
  for (let isSecond = false; ; isSecond = true) {
    const bytes = await readWhole(host, path);
    if (bytes === undefined) return undefined;
    const current = decodeCurrent(bytes, path);
    if (current !== undefined) return current;
    if (isSecond) throw corrupt(path, 0, "it doesn't match its checksum");
  }
}

async function readNamed(host: Host, dir: string, current: Current): Promise<Replayed> {
  const path = manifestPath(dir, current.id);
  const replayed = await readReplayed(host, path, current.id);
  if (replayed === undefined) {
    throw corrupt(currentPath(dir), 0, `it names ${manifestFile(current.id)}, which is missing`);
  }
  if (replayed.headerCrc !== current.headerCrc) {
    throw corrupt(path, 0, "it isn't the file that CURRENT names, but another one with its name");
  }
  return replayed;
}

/**
 * Without CURRENT there is nothing, or what the first open of a new store left: manifests that followed none and were never
 * appended to. Only the newest of those can ever have been in force, so that nothing is lost by going on from it.
 */
async function readWithoutCurrent(host: Host, dir: string): Promise<Found | undefined> {
  const listing = await listDirectory(host, dir);
  if (listing.highestPart > 0) throw missing(dir, listing, "parts");
  let newest: Replayed | undefined;
  for (const id of listing.manifests) {
    const path = manifestPath(dir, id);
    const replayed = await readReplayed(host, path, id);
    if (replayed === undefined) continue;
    newest = replayed;
    if (!isFirst(newest)) throw missing(dir, listing, "manifests");
  }
  return newest === undefined ? undefined : { isInForce: false, replayed: newest };
}

/** Of a store to which nothing was ever sealed, as its opens wrote it. */
export function isFirst({ header, state, edits, tornBytes }: Replayed): boolean {
  return header.predecessor === 0 && edits === 0 && tornBytes === 0 && state.parts.size === 0;
}

function missing(dir: string, { manifests }: Listing, what: string): Error {
  const newest = manifests.at(-1);
  const hint = newest === undefined ? "" : `; the newest manifest is ${manifestFile(newest)}`;
  return corrupt(currentPath(dir), 0, `it is missing, while ${what} are there${hint}`);
}
