import { sep } from "node:path";
import { EhdbError } from "@ehdb/contracts";
import type { Host } from "@ehdb/host";
import { isAbsent } from "../../manifest/disk-error.ts";
import { readManifest } from "../../manifest/read-manifest.ts";
import type { KnownStore } from "./known-store.ts";

/** LOCKED when the manifest has changed since: what was found missing may only have been merged away. */
export async function assertUnchanged(host: Host, dir: string, { edits }: KnownStore): Promise<void> {
  if (edits === undefined) return;
  const now = await readManifest({ host, dir });
  if (now.state.edits !== edits) throw writtenMeanwhile(dir, now.file);
}

/** Only a writer removes a file of a store: LOCKED for that; every other error as it is. */
export function asWritten(error: unknown, dir: string): unknown {
  for (let one = error; one instanceof Error; one = one.cause) {
    const file = "path" in one ? String(one.path) : "";
    if (isAbsent(one) && file.startsWith(dir + sep)) return writtenMeanwhile(dir, file, error);
  }
  return error;
}

function writtenMeanwhile(dir: string, path: string, cause?: unknown): EhdbError {
  const message = `${dir} was written while it was read: ${path} isn't what it was. Nothing was made. Stop the process that has it open, then call again`;
  return new EhdbError("LOCKED", message, { dir, path }, cause);
}
