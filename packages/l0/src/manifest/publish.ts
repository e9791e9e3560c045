import { join } from "node:path";
import type { File, Host } from "@ehdb/host";

/**
 * Gives `bytes` the name `name`, whole or not at all: temporary name, write, sync, rename, sync of the directory. Whatever fails, what
 * had the name before may have it still. Returns the file, open.
 */
export async function publish(host: Host, dir: string, name: string, bytes: Uint8Array): Promise<File> {
  const { files, random } = host;
  const temporary = join(dir, `${name}.${random.id()}.tmp`);
  const file = await files.open(temporary, "create");
  let isNamed = false;
  try {
    await file.write(bytes, 0);
    await file.dataSync();
    await files.rename(temporary, join(dir, name));
    isNamed = true;
    await files.syncDirectory(dir);
    return file;
  } catch (error) {
    await file.close().catch(reportedAlready);
    // A full disk gets its space back. What stays behind all the same goes after the next switch.
    if (!isNamed) await files.remove(temporary).catch(reportedAlready);
    throw error;
  }
}

/** Cleaning up behind a failure that is thrown itself. */
export function reportedAlready(): void {}
