import { constants, open } from "node:fs";
import {
  link,
  mkdir,
  open as openHandle,
  readdir,
  realpath,
  rename,
  rmdir,
  stat,
  statfs,
  unlink,
} from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { promisify } from "node:util";
import { codeOf, fileError } from "../file-error.ts";
import type { File, Files, FileStat, Lock, OpenMode, Watcher } from "../host.ts";
import { RealFile } from "./file.ts";
import { lockFile } from "./lock.ts";
import { RealWatcher } from "./watcher.ts";

const openDescriptor = promisify(open);

const flags: Readonly<Record<OpenMode, number>> = {
  read: constants.O_RDONLY,
  write: constants.O_RDWR,
  create: constants.O_RDWR | constants.O_CREAT | constants.O_EXCL,
};

export class RealFiles implements Files {
  async open(path: string, mode: OpenMode): Promise<File> {
    return new RealFile(path, await openDescriptor(path, flags[mode], 0o666));
  }

  rename(from: string, to: string): Promise<void> {
    return rename(from, to);
  }

  async link(existing: string, path: string): Promise<void> {
    // A link to a link would be another name of that, and point elsewhere from where it stands.
    await link(await realpath(existing), path);
  }

  remove(path: string): Promise<void> {
    return unlink(path);
  }

  async list(directory: string): Promise<string[]> {
    return (await readdir(directory)).sort();
  }

  async stat(path: string): Promise<FileStat | undefined> {
    try {
      const found = await stat(path);
      const kind = found.isFile() ? "file" : found.isDirectory() ? "directory" : "other";
      return { kind, bytes: found.size, inode: found.ino, modifiedMillis: found.mtimeMs };
    } catch (error) {
      if (codeOf(error) === "ENOENT") return undefined;
      throw error;
    }
  }

  /** One by one, not with Node's `recursive`: each name must be synced in its parent before anything relies on it. */
  async makeDirectory(path: string): Promise<void> {
    const missing: string[] = [];
    let at = resolve(path);
    let found = await this.stat(at);
    for (; found === undefined; found = await this.stat(at)) {
      missing.unshift(at);
      at = dirname(at);
    }
    if (found.kind !== "directory") throw fileError("ENOTDIR", "mkdir", at);
    // Who made it may have died before its name was synced. A parent that can't be opened isn't ours to have made it in.
    await this.syncDirectory(dirname(at)).catch(async (error: unknown) => {
      if (isForbidden(error)) return;
      // A name whose sync failed isn't made durable by another sync: the next call must make it anew, if nothing is in it.
      await rmdir(at).catch(() => undefined);
      throw error;
    });
    for (const directory of missing) {
      await makeUnlessThere(directory);
      try {
        await this.syncDirectory(dirname(directory));
      } catch (error) {
        await rmdir(directory).catch(() => undefined);
        throw error;
      }
    }
  }

  removeDirectory(path: string): Promise<void> {
    return rmdir(path);
  }

  async syncDirectory(directory: string): Promise<void> {
    const handle = await openHandle(directory, constants.O_RDONLY | constants.O_DIRECTORY);
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  }

  watch(directory: string, onChange: () => void): Watcher {
    return new RealWatcher(directory, onChange);
  }

  lock(path: string): Promise<Lock> {
    return lockFile(path);
  }

  async freeBytes(path: string): Promise<number> {
    const { bavail, bsize } = await statfs(path);
    return bavail * bsize;
  }
}

/** Another process may make the same directory at the same time. */
async function makeUnlessThere(directory: string): Promise<void> {
  try {
    await mkdir(directory);
  } catch (error) {
    if (codeOf(error) !== "EEXIST" || !(await stat(directory)).isDirectory()) throw error;
  }
}

function isForbidden(error: unknown): boolean {
  const code = codeOf(error);
  return code === "EACCES" || code === "EPERM";
}
