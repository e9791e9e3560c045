import { join } from "node:path";
import type { Files, Host } from "@ehdb/host";
import { SelfcheckError } from "./outcome.ts";
import { removeTree } from "./tree.ts";

const NAMESPACE = "ehdb-selfcheck";

/**
 * A directory of this run's own, two levels inside the one that the user names: whatever else lives there, a store in
 * use included, is neither read nor written.
 */
export interface Workspace {
  readonly directory: string;
  /** Removes what this run made, and its parents where they were made for it and are empty again. */
  remove(): Promise<void>;
}

export async function makeWorkspace(host: Host, parent: string): Promise<Workspace> {
  const namespace = join(parent, NAMESPACE);
  const directory = join(namespace, host.random.id());
  try {
    const parentWasThere = (await host.files.stat(parent)) !== undefined;
    await host.files.makeDirectory(directory);
    const emptied = parentWasThere ? [namespace] : [namespace, parent];
    return { directory, remove: () => removeWorkspace(host.files, directory, emptied) };
  } catch (error) {
    throw new SelfcheckError("unavailable", `no directory can be made in ${parent}: ${(error as Error).message}`, error);
  }
}

async function removeWorkspace(files: Files, directory: string, emptied: readonly string[]): Promise<void> {
  await removeTree(files, directory);
  for (const path of emptied) {
    try {
      await files.removeDirectory(path);
    } catch {
      // Another run, or something else, is in it: then it stays.
      return;
    }
  }
}
