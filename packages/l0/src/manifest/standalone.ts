import type { Host } from "@ehdb/host";
import { encodeCurrent } from "./format.ts";
import { CURRENT } from "./layout.ts";
import { ManifestFile } from "./manifest-file.ts";
import { publish, reportedAlready } from "./publish.ts";
import type { LiveState } from "./state.ts";

/**
 * Puts a state in force in a directory that has no manifest, durably: the last step of making a store out of others' files. It says that
 * others came before it, so that it's never taken for what a new store's first open has left.
 */
export async function putInForce(host: Host, dir: string, id: number, state: LiveState): Promise<void> {
  const file = await ManifestFile.create(host, dir, id + 1, id, state);
  try {
    const named = await publish(host, dir, CURRENT, encodeCurrent(file));
    await named.close().catch(reportedAlready);
  } finally {
    await file.close().catch(reportedAlready);
  }
}
