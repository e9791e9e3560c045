import { dirname, join } from "node:path";
import { EhdbError } from "@ehdb/contracts";
import type { Host } from "@ehdb/host";
import { diskError, isAbsent } from "../manifest/disk-error.ts";

/** ALREADY_EXISTS when the directory holds something. */
export async function assertEmpty(host: Host, to: string): Promise<void> {
  let names: readonly string[];
  try {
    names = await host.files.list(to);
  } catch (error) {
    if (isAbsent(error)) return;
    throw diskError(error, "Looking into the directory", to);
  }
  if (names.length === 0) return;
  throw new EhdbError("ALREADY_EXISTS", `${to} isn't empty. Give a directory that is empty or missing`, { to });
}

/**
 * Makes a store that is whole when it has its name: until then it stands beside, as `<to>.unfinished-<id>`. What fails removes that, a crash
 * leaves it behind. ALREADY_EXISTS when `to` holds something.
 */
export async function makeStore<T>(
  host: Host,
  to: string,
  what: string,
  fill: (directory: string) => Promise<T>,
): Promise<T> {
  await assertEmpty(host, to);
  const { files } = host;
  const unfinished = `${to}.unfinished-${host.random.id()}`;
  try {
    await files.makeDirectory(join(unfinished, "parts"));
    const filled = await fill(unfinished);
    await files.rename(unfinished, to);
    await files.syncDirectory(dirname(to));
    return filled;
  } catch (error) {
    // What can't be removed either is no worse than what a crash leaves.
    await removeStore(host, unfinished).catch(() => undefined);
    throw diskError(error, what, to);
  }
}

export async function removeStore({ files }: Host, directory: string): Promise<void> {
  for (const name of await files.list(directory)) {
    const path = join(directory, name);
    if ((await files.stat(path))?.kind === "directory") await removeStore({ files } as Host, path);
    else await files.remove(path);
  }
  await files.removeDirectory(directory);
}
