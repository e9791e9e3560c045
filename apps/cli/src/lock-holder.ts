import { readdir, readFile, readlink, realpath } from "node:fs/promises";

export interface Holder {
  readonly pid: number;
  readonly command: string;
}

/** The process that has a file open, where the system tells: on Linux, of this user's processes. */
export async function holderOf(path: string): Promise<Holder | undefined> {
  try {
    const file = await realpath(path);
    for (const pid of (await readdir("/proc")).filter((name) => /^\d+$/.test(name))) {
      if (Number(pid) === process.pid || !(await hasOpen(pid, file))) continue;
      const command = (await readFile(`/proc/${pid}/cmdline`, "utf8")).replaceAll("\0", " ").trim();
      return { pid: Number(pid), command: command.length > 80 ? `${command.slice(0, 79)}…` : command };
    }
  } catch {
    // No /proc, or a process that is gone: the error says enough without.
  }
  return undefined;
}

async function hasOpen(pid: string, file: string): Promise<boolean> {
  try {
    for (const name of await readdir(`/proc/${pid}/fd`)) {
      if ((await readlink(`/proc/${pid}/fd/${name}`).catch(() => "")) === file) return true;
    }
  } catch {
    // Somebody else's process.
  }
  return false;
}
