import { dirname, join } from "node:path";
import { EhdbError, invalidOption } from "@ehdb/contracts";
import type { Host } from "@ehdb/host";
import { diskError, isAbsent, isInUse, isNoDirectory } from "../manifest/disk-error.ts";

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
  const wasThere = await giveWay(host, to);
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
    if (wasThere) await files.makeDirectory(to).catch(() => undefined);
    throw diskError(error, what, to);
  }
}

/**
 * Removes the empty directory whose place the store takes; true when there was one. What can't give way, as a mount point or a link, is refused before
 * anything is copied, and not when all is.
 */
async function giveWay({ files }: Host, to: string): Promise<boolean> {
  try {
    await files.removeDirectory(to);
    return true;
  } catch (error) {
    if (isAbsent(error)) return false;
    if (!isNoDirectory(error) && !isInUse(error)) throw diskError(error, "Taking the place of the directory", to);
    throw invalidOption(
      "to",
      to,
      "a directory whose place can be taken, which a mount point or a link isn't: one within it",
    );
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
