import { EhdbError } from "@ehdb/contracts";
import type { Host } from "@ehdb/host";
import { diskError } from "./disk-error.ts";
import { readInForce, readReplayed } from "./in-force.ts";
import { manifestPath } from "./layout.ts";
import type { Replayed } from "./replay.ts";
import type { ManifestState } from "./state.ts";

export interface ReadManifestOptions {
  readonly host: Host;
  readonly dir: string;
  /** Of an older manifest, as `Manifest.retained` lists them. Default: the one in force. */
  readonly id?: number;
}

export interface ReadManifest {
  readonly id: number;
  readonly file: string;
  /** As of now; a writer beside goes on. */
  readonly state: ManifestState;
  /** Edits behind the snapshot. */
  readonly edits: number;
  /** Where the last whole edit ends. */
  readonly end: number;
  /** Behind it: one that a writer is just writing, or that a crash or an error left. */
  readonly tornBytes: number;
}

/**
 * What is sealed, for a reader beside the writer, and for who inspects. Writes nothing and takes no lock.
 *
 * NOT_FOUND when there is no store, or no such manifest; CORRUPT; UNSUPPORTED_VERSION; IO_ERROR.
 */
export async function readManifest({ host, dir, id }: ReadManifestOptions): Promise<ReadManifest> {
  try {
    const replayed = id === undefined ? await readCurrentOne(host, dir) : await readOlder(host, dir, id);
    const { header, state, edits, end, tornBytes } = replayed;
    return { id: header.id, file: manifestPath(dir, header.id), state, edits, end, tornBytes };
  } catch (error) {
    throw diskError(error, "Reading the manifest", dir);
  }
}

async function readCurrentOne(host: Host, dir: string): Promise<Replayed> {
  const found = await readInForce(host, dir);
  if (found?.isInForce === true) return found.replayed;
  throw new EhdbError("NOT_FOUND", `${dir} holds no store: open one there to make it, or give another directory`, {
    dir,
  });
}

async function readOlder(host: Host, dir: string, id: number): Promise<Replayed> {
  const path = manifestPath(dir, id);
  const replayed = await readReplayed(host, path, id);
  if (replayed !== undefined) return replayed;
  throw new EhdbError("NOT_FOUND", `${path} doesn't exist: it was pruned, or never written`, { id, file: path });
}
