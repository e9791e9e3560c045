import { NotInjected } from "@ehdb/harness";
import { spawnSync } from "node:child_process";
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** A file system of its own in memory, that can be full. Gone with its content when it's disposed of, or the program is stopped. */
export class SmallDisk {
  readonly directory: string;

  /** `options` are mount's, such as `size=8m`. Throws NotInjected when this process may not mount. */
  constructor(directory: string, options: string) {
    mkdirSync(directory, { recursive: true });
    this.directory = directory;
    const reason = refused("mount", "-t", "tmpfs", "-o", options, "tmpfs", directory);
    if (reason !== undefined) {
      throw new NotInjected(`mount refuses (${reason}): run as root, where a program may mount`);
    }
    for (const signal of signals) process.once(signal, this.#stopped);
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
    const reason = refused("mount", "-o", "remount,ro", this.directory);
    if (reason !== undefined) throw new Error(`${this.directory} can't be made read-only: ${reason}`);
  }

  [Symbol.dispose](): void {
    for (const signal of signals) process.off(signal, this.#stopped);
    const reason = refused("umount", this.directory);
    if (reason !== undefined) throw new Error(`${this.directory} can't be unmounted: ${reason}`);
  }

  get #filler(): string {
    return join(this.directory, "filler");
  }

  /** The signal then does what it would have done. Files may still be open there: the kernel waits for them. */
  readonly #stopped = (signal: NodeJS.Signals): void => {
    refused("umount", "--lazy", this.directory);
    process.kill(process.pid, signal);
  };
}

/** Why the command failed; `undefined` when it didn't. */
function refused(command: string, ...args: readonly string[]): string | undefined {
  const { status, error, stderr } = spawnSync(command, args, { encoding: "utf8" });
  return status === 0 ? undefined : (error?.message ?? stderr).trim();
}
