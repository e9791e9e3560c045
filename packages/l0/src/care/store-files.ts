import { join } from "node:path";
import type { Host } from "@ehdb/host";
import { diskError, isAbsent } from "../manifest/disk-error.ts";
import { CURRENT } from "../manifest/layout.ts";
import { isReserve } from "../reserve-file.ts";
import { partIdIn } from "../part/built-part.ts";

export interface StoreFile {
  /** By its name alone: a part may be one that no manifest names. `journal`: the lock and the journal's own reserve. */
  readonly kind: "current" | "manifest" | "part" | "segment" | "journal" | "reserve" | "other";
  readonly name: string;
  readonly file: string;
  readonly bytes: number;
}

/** All files of a store's directory and of those in it that are a store's. What goes meanwhile is left out. */
export async function filesIn(host: Host, dir: string): Promise<StoreFile[]> {
  const found: StoreFile[] = [];
  for (const [directory, kindOf] of [
    [dir, kindInStore],
    [join(dir, "parts"), kindInParts],
    [join(dir, "journal"), kindInJournal],
  ] as const) {
    for (const name of await namesIn(host, directory)) {
      const file = join(directory, name);
      const stat = await host.files.stat(file);
      if (stat?.kind === "file") found.push({ kind: kindOf(name), name, file, bytes: stat.bytes });
    }
  }
  return found;
}

async function namesIn(host: Host, directory: string): Promise<readonly string[]> {
  try {
    return await host.files.list(directory);
  } catch (error) {
    if (isAbsent(error)) return [];
    throw diskError(error, "Looking into the directory", directory);
  }
}

function kindInStore(name: string): StoreFile["kind"] {
  if (name === CURRENT) return "current";
  if (isReserve(name)) return "reserve";
  return /^manifest-\d{12}$/.test(name) ? "manifest" : "other";
}

function kindInParts(name: string): StoreFile["kind"] {
  return partIdIn(name) === undefined ? "other" : "part";
}

function kindInJournal(name: string): StoreFile["kind"] {
  if (/^\d{16}\.segment$/.test(name)) return "segment";
  return name === "LOCK" || name === "space.reserve" ? "journal" : "other";
}
