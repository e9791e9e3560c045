import { EhdbError } from "@ehdb/contracts";
import type { Lock } from "../host.ts";
import type { FileInode } from "./inode.ts";
import type { Process } from "./process.ts";

/** The locks that a process holds, by file and not by name, as the kernel's are. They die with it. */
export class Locks {
  readonly #process: Process;
  readonly #locked: Set<FileInode> = new Set();
  /** By byte, which open file has it. */
  readonly #bytes: Map<FileInode, Map<number, object>> = new Map();

  constructor(process: Process) {
    this.#process = process;
  }

  async lock(path: string): Promise<Lock> {
    const { machine } = this.#process;
    const inode = await this.#process.perform("lock", path, (operation) => {
      operation.throwFault();
      const { disk, faults, now } = machine;
      const found = disk.find(path, "open");
      if (found?.kind === "directory") throw operation.error("EISDIR");
      const file = found ?? disk.create(path, now, faults.noSpaceAfterBytes);
      if (this.#locked.has(file)) {
        throw new EhdbError("LOCKED", `${path} is locked: close what holds it in this process first`, { path });
      }
      file.handles++;
      this.#locked.add(file);
      return file;
    });
    let released: Promise<void> | undefined;
    return { release: () => (released ??= this.#release(path, inode)) };
  }

  /** False when another open file has it. */
  lockByte(inode: FileInode, position: number, owner: object): boolean {
    const bytes = this.#bytes.get(inode) ?? new Map<number, object>();
    if ((bytes.get(position) ?? owner) !== owner) return false;
    this.#bytes.set(inode, bytes.set(position, owner));
    return true;
  }

  closed(inode: FileInode, owner: object): void {
    const bytes = this.#bytes.get(inode);
    if (bytes === undefined) return;
    for (const [position, has] of bytes) if (has === owner) bytes.delete(position);
    if (bytes.size === 0) this.#bytes.delete(inode);
  }

  #release(path: string, inode: FileInode): Promise<void> {
    return this.#process.perform("unlock", path, (operation) => {
      this.#locked.delete(inode);
      this.#process.machine.disk.released(inode);
      operation.throwFault();
    });
  }
}
