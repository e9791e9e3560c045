import { join } from "node:path";
import { invalidOption, throwIfAborted } from "@ehdb/contracts";
import type { Host } from "@ehdb/host";
import { copyMarkOf } from "../manifest/copy-mark.ts";
import { CURRENT, manifestFile } from "../manifest/layout.ts";
import { readManifest } from "../manifest/read-manifest.ts";
import { partName } from "../part/built-part.ts";
import { corruptPart } from "../part/part-damage.ts";
import { assertOutside, resolveCareOptions } from "./care-options.ts";
import { copyFile } from "./copy-file.ts";
import { filesIn } from "./store-files.ts";
import { makeStore } from "./unfinished-store.ts";

export interface RestoreStoreOptions {
  /** A backup. It's only read. */
  readonly from: string;
  /** A directory that is empty or missing; it becomes a store. */
  readonly to: string;
  readonly host?: Host;
  readonly signal?: AbortSignal;
  readonly onProgress?: (doneBytes: number, totalBytes: number) => void;
}

export interface RestoreReport {
  /** The last commit in it. */
  readonly revision: number;
  /** When the backup was made, wall clock. */
  readonly backupMillis: number;
  readonly bytes: number;
}

/**
 * Copies a backup, as often as one likes: each copy becomes a store of its own when it's opened. Errors: INVALID_OPTION (`from` isn't a backup,
 * or has been opened since), NOT_FOUND (no store there), ALREADY_EXISTS (`to` holds something), CORRUPT (its manifest, or a part that is missing or cut; what is in them, `verifyStore` tells), NO_SPACE, IO_ERROR, ABORTED.
 */
export async function restoreStore(options: RestoreStoreOptions): Promise<RestoreReport> {
  const { host, from, to, signal, onProgress } = resolveCareOptions(options, [
    "from",
    "to",
    "host",
    "signal",
    "onProgress",
  ]);
  assertOutside(from, to);
  const { id, state } = await readManifest({ host, dir: from });
  const mark = copyMarkOf(state);
  if (mark === undefined)
    throw invalidOption("from", from, "a backup that hasn't been opened: of a store make one with engine.backup()");
  const segments = (await filesIn(host, from)).filter(({ kind }) => kind === "segment");
  const parts = [...state.parts.values()];
  const totalBytes = sum(segments.map(({ bytes }) => bytes)) + sum(parts.map(({ fileBytes }) => fileBytes));
  let doneBytes = 0;
  const done = (bytes: number): void => {
    throwIfAborted(signal, "restoreStore()");
    doneBytes += bytes;
    onProgress?.(Math.min(doneBytes, totalBytes), totalBytes);
  };
  done(0);
  return await makeStore(host, to, "The restore", async (target) => {
    const copy = (path: string, onBytes = done): Promise<number> =>
      copyFile(host.files, join(from, path), join(target, path), onBytes);
    for (const { id: part, fileBytes } of parts) {
      const file = join(from, "parts", partName(part));
      if ((await host.files.stat(file)) === undefined) throw corruptPart(file, 0, "the file is missing");
      const bytes = await copy(join("parts", partName(part)));
      if (bytes !== fileBytes)
        throw corruptPart(file, Math.min(bytes, fileBytes), `it has ${bytes} bytes and not ${fileBytes}`);
    }
    await host.files.syncDirectory(join(target, "parts"));
    await host.files.makeDirectory(join(target, "journal"));
    for (const { name } of segments) await copy(join("journal", name));
    await host.files.syncDirectory(join(target, "journal"));
    const nothing = (): void => undefined;
    await copy(manifestFile(id), nothing);
    await host.files.syncDirectory(target);
    await copy(CURRENT, nothing);
    await host.files.syncDirectory(target);
    return { revision: mark.revision, backupMillis: mark.millis, bytes: totalBytes };
  });
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
