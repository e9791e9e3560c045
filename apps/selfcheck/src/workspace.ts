import { join } from "node:path";
import type { Files, Host } from "@ehdb/host";
import { SelfcheckError } from "./outcome.ts";
import { removeTree } from "./tree.ts";

export const NAMESPACE_PREFIX = ".ehdb-selfcheck-";

/** A directory of this run's own in the one that the user names: whatever else lives there is neither read nor written. */
export interface Workspace {
  readonly directory: string;
  /** Removes what this run made, and `parent` where it was made for it and is empty again. */
  remove(): Promise<void>;
}

export async function makeWorkspace(host: Host, parent: string): Promise<Workspace> {
  const { files } = host;
  const directory = join(parent, `${NAMESPACE_PREFIX}${host.random.id()}`);
  const stat = await files.stat(parent).catch((error: unknown) => {
    throw new SelfcheckError("unavailable", `${parent} can't be looked at: ${(error as Error).message}`, error);
  });
  if (stat !== undefined && stat.kind !== "directory") {
    throw new SelfcheckError("invalid", `${parent} isn't a directory: --dir names the one to work in`);
  }
  try {
    await files.makeDirectory(directory);
  } catch (error) {
    throw new SelfcheckError(
      "unavailable",
      `no directory can be made in ${parent}: ${(error as Error).message}`,
      error,
    );
  }
  return { directory, remove: () => remove(files, directory, stat === undefined ? parent : undefined) };
}

async function remove(files: Files, directory: string, madeParent: string | undefined): Promise<void> {
  await removeTree(files, directory);
  if (madeParent === undefined) return;
  try {
    await files.removeDirectory(madeParent);
  } catch {
    // Somebody else has put something in it meanwhile: then it stays.
  }
}
