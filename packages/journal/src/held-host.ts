import type { File, Files, FileStat, Host, Lock, OpenMode, Watcher } from "@ehdb/host";

/**
 * The host for what stands under a lock: before a name is made, changed, removed or synced, `assertHeld` must let it. Paths lead elsewhere when
 * the directory was moved away, and what another one holds under the same names isn't ours.
 */
export function heldHost({ files, clock, random, workers }: Host, assertHeld: () => Promise<void>): Host {
  return { files: new HeldFiles(files, assertHeld), clock, random, workers };
}

class HeldFiles implements Files {
  readonly #files: Files;
  readonly #assertHeld: () => Promise<void>;

  constructor(files: Files, assertHeld: () => Promise<void>) {
    this.#files = files;
    this.#assertHeld = assertHeld;
  }

  async open(path: string, mode: OpenMode): Promise<File> {
    if (mode !== "read") await this.#assertHeld();
    return await this.#files.open(path, mode);
  }

  async rename(from: string, to: string): Promise<void> {
    await this.#assertHeld();
    await this.#files.rename(from, to);
  }

  async link(existing: string, path: string): Promise<void> {
    await this.#assertHeld();
    await this.#files.link(existing, path);
  }

  async remove(path: string): Promise<void> {
    await this.#assertHeld();
    await this.#files.remove(path);
  }

  async makeDirectory(path: string): Promise<void> {
    await this.#assertHeld();
    await this.#files.makeDirectory(path);
  }

  async removeDirectory(path: string): Promise<void> {
    await this.#assertHeld();
    await this.#files.removeDirectory(path);
  }

  async syncDirectory(directory: string): Promise<void> {
    await this.#assertHeld();
    await this.#files.syncDirectory(directory);
  }

  list(directory: string): Promise<string[]> {
    return this.#files.list(directory);
  }

  stat(path: string): Promise<FileStat | undefined> {
    return this.#files.stat(path);
  }

  watch(directory: string, onChange: () => void): Watcher {
    return this.#files.watch(directory, onChange);
  }

  lock(path: string): Promise<Lock> {
    return this.#files.lock(path);
  }

  freeBytes(path: string): Promise<number> {
    return this.#files.freeBytes(path);
  }
}
