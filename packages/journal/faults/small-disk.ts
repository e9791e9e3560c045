import { NotInjected } from "@ehdb/harness";
import { spawnSync } from "node:child_process";
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";

/** A file system of its own in memory, that can be full. Gone with its content when it's disposed of. */
export class SmallDisk {
  readonly directory: string;

  /** `options` are mount's, such as `size=8m`. Throws NotInjected when this process may not mount. */
  constructor(directory: string, options: string) {
    mkdirSync(directory, { recursive: true });
    this.directory = directory;
    const { status, error, stderr } = spawnSync("mount", ["-t", "tmpfs", "-o", options, "tmpfs", directory], {
      encoding: "utf8",
    });
    if (status !== 0)
      throw new NotInjected(
        `mount refuses (${(error?.message ?? stderr).trim()}): run as root, outside a container or in one that may mount`,
      );
  }

  /** Takes all the space that is left. */
  fill(): void {
    const descriptor = openSync(this.#filler, "a");
    try {
      for (let bytes = 64 * 1024; bytes >= 1;) {
        try {
          writeSync(descriptor, Buffer.alloc(bytes, 1));
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
          bytes >>>= 1;
        }
      }
    } finally {
      closeSync(descriptor);
    }
  }

  /** Gives back what `fill` took. */
  free(): void {
    rmSync(this.#filler, { force: true });
  }

  makeReadOnly(): void {
    const { status, stderr } = spawnSync("mount", ["-o", "remount,ro", this.directory], { encoding: "utf8" });
    if (status !== 0) throw new Error(`the disk can't be made read-only: ${stderr.trim()}`);
  }

  [Symbol.dispose](): void {
    const { status, stderr } = spawnSync("umount", [this.directory], { encoding: "utf8" });
    if (status !== 0) throw new Error(`${this.directory} can't be unmounted: ${stderr.trim()}`);
  }

  get #filler(): string {
    return join(this.directory, "filler");
  }
}
