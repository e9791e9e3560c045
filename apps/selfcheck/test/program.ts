import { spawn } from "node:child_process";
import type { ChildProcess, SpawnOptions } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const mainPath: string = fileURLToPath(new URL("../dist/main.js", import.meta.url));

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The built program, as a user starts it. */
export function startProgram(
  args: readonly string[],
  options: SpawnOptions = {},
): { child: ChildProcess; ended: Promise<Ended> } {
  if (!existsSync(mainPath)) throw new Error(`${mainPath} isn't there: build first (npx tsc -b apps/selfcheck)`);
  const child = spawn(process.execPath, [mainPath, ...args], { ...options, stdio: ["ignore", "pipe", "pipe"] });
  let [stdout, stderr] = ["", ""];
  child.stdout?.on("data", (bytes: Buffer) => (stdout += bytes.toString()));
  child.stderr?.on("data", (bytes: Buffer) => (stderr += bytes.toString()));
  const ended = once(child, "close").then(([code]) => ({ code: code as number | null, stdout, stderr }));
  return { child, ended };
}

export const runProgram = (args: readonly string[], options?: SpawnOptions): Promise<Ended> =>
  startProgram(args, options).ended;

/** A new directory, removed after `use`. */
export async function inDirectory<T>(use: (directory: string) => Promise<T>): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), "selfcheck-test-"));
  try {
    return await use(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
