import { posix } from "node:path";
import type { File, Files, FileStat, Lock, OpenMode, Watcher } from "../host.ts";
import { type Disk, resolved } from "./disk.ts";
import { type OpenedFile, SimulatedFile } from "./file.ts";
import { Locks } from "./locks.ts";
import type { Effect } from "./operation.ts";
import { PAGE_BYTES } from "./page.ts";
import type { Process } from "./process.ts";
import type { OperationKind } from "./statistics.ts";
import { directorySync } from "./syncing.ts";
import { Watchers } from "./watchers.ts";

/** What an endless disk says that it has left: a pebibyte. */
const ENDLESS_BYTES: number = 2 ** 50;

export class SimulatedFiles implements Files {
  readonly #process: Process;
  readonly #watchers: Watchers;
  readonly #locks: Locks;

  constructor(process: Process) {
    this.#process = process;
    this.#watchers = new Watchers(process);
    this.#locks = new Locks(process);
    process.machine.disk.onNames = (directory) => this.#watchers.changed(directory);
  }

  async open(path: string, mode: OpenMode): Promise<File> {
    const opened = await this.#perform(mode === "create" ? "create" : "open", path, (disk, at) =>
      this.#open(disk, at, mode),
    );
    return new SimulatedFile(this.#process, this.#watchers, this.#locks, path, opened);
  }

  rename(from: string, to: string): Promise<void> {
    return this.#perform("rename", from, (disk) => disk.rename(from, to, this.#now), to);
  }

  link(existing: string, path: string): Promise<void> {
    return this.#perform("link", existing, (disk) => disk.link(existing, path, this.#now), path);
  }

  remove(path: string): Promise<void> {
    return this.#perform("remove", path, (disk) => disk.remove(path, this.#now));
  }

  list(directory: string): Promise<string[]> {
    return this.#perform("list", directory, (disk) => [...disk.directory(directory, "scandir").entries.keys()].sort());
  }

  stat(path: string): Promise<FileStat | undefined> {
    return this.#perform("stat", path, (disk) => {
      const inode = disk.find(path, "stat");
      if (inode === undefined) return undefined;
      const bytes = inode.kind === "file" ? inode.size : PAGE_BYTES;
      return { kind: inode.kind, bytes, inode: inode.number, modifiedMillis: inode.modifiedMillis };
    });
  }

  /** As on a real disk the syncs are operations of their own, and the machine may die between them. */
  async makeDirectory(path: string): Promise<void> {
    const made = await this.#perform("makeDirectory", path, (disk, at) => this.#makeMissing(disk, at));
    // Who made what was there already may have died before its name was synced.
    const found = made[0] === undefined ? resolved(path) : posix.dirname(made[0]);
    let synced = 0;
    try {
      for (const directory of [found, ...made]) {
        await this.syncDirectory(posix.dirname(directory));
        synced++;
      }
    } catch (error) {
      // A name whose sync failed isn't made durable by another sync: the next call must make it anew, if nothing is in it.
      const doubtful = synced === 0 ? [...made.toReversed(), found] : made.toReversed();
      for (const directory of doubtful) await this.removeDirectory(directory).catch(() => undefined);
      throw error;
    }
  }

  removeDirectory(path: string): Promise<void> {
    return this.#perform("removeDirectory", path, (disk) => disk.removeDirectory(path, this.#now));
  }

  syncDirectory(directory: string): Promise<void> {
    const { machine } = this.#process;
    const sync = directorySync(machine, () => machine.disk.directory(directory, "open"));
    return this.#process.perform("syncDirectory", resolved(directory), sync);
  }

  watch(directory: string, onChange: () => void): Watcher {
    return this.#watchers.add(this.#process.machine.disk.directory(directory, "watch"), onChange);
  }

  lock(path: string): Promise<Lock> {
    return this.#locks.lock(resolved(path));
  }

  freeBytes(path: string): Promise<number> {
    return this.#perform("freeBytes", path, (disk) => {
      disk.get(path, "statfs");
      return Math.min(ENDLESS_BYTES, disk.freePages(this.#limit) * PAGE_BYTES);
    });
  }

  get #now(): number {
    return this.#process.machine.now;
  }

  get #limit(): number {
    return this.#process.machine.faults.noSpaceAfterBytes;
  }

  #open(disk: Disk, path: string, mode: OpenMode): OpenedFile {
    const inode = mode === "create" ? disk.create(path, this.#now, this.#limit) : disk.file(path, "open");
    const directory = disk.directory(posix.dirname(path), "open");
    inode.handles++;
    return { path, mode, inode, directory };
  }

  /** The directories that it made, outermost first. */
  #makeMissing(disk: Disk, path: string): string[] {
    const missing: string[] = [];
    let at = path;
    for (; disk.find(at, "mkdir") === undefined; at = posix.dirname(at)) missing.unshift(at);
    disk.directory(at, "mkdir");
    for (const directory of missing) disk.makeDirectory(directory, this.#now, this.#limit);
    return missing;
  }

  #perform<Result>(
    kind: OperationKind,
    path: string,
    effect: (disk: Disk, path: string) => Result,
    to?: string,
  ): Promise<Result> {
    const at = resolved(path);
    const { disk } = this.#process.machine;
    const performed: Effect<Result> = (operation) => {
      operation.throwFault();
      return effect(disk, at);
    };
    return this.#process.perform(kind, to === undefined ? at : `${at} -> ${resolved(to)}`, performed);
  }
}
