import { spawn } from "node:child_process";
import type { ChildProcess, SpawnOptions } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { openEventLog } from "@ehdb/eventlog";
import { onTestFinished } from "vitest";

/** The built program, as a user starts it: build first (npx tsc -b apps/cli). */
export const program: string = fileURLToPath(new URL("../src/ehdb.mjs", import.meta.url));

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Started {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  /** Resolves when standard output has it. */
  printed(text: string): Promise<void>;
}

export function start(args: readonly string[], options: SpawnOptions = {}): Started {
  return watched(spawn(process.execPath, [program, ...args], { stdio: ["ignore", "pipe", "pipe"], ...options }));
}

export function ehdb(args: readonly string[], options?: SpawnOptions): Promise<Ended> {
  return start(args, options).ended;
}

/** A line of a shell that knows the command `ehdb`. */
export async function shell(line: string, cwd: string): Promise<Ended> {
  const path = join(cwd, ".bin");
  await mkdir(path, { recursive: true });
  await writeFile(join(path, "ehdb"), `#!/bin/sh\nexec "${process.execPath}" "${program}" "$@"\n`);
  await chmod(join(path, "ehdb"), 0o755);
  const env = { ...process.env, PATH: `${path}${delimiter}${process.env["PATH"] ?? ""}` };
  return watched(spawn("sh", ["-c", line], { cwd, env, stdio: ["ignore", "pipe", "pipe"] })).ended;
}

function watched(child: ChildProcess): Started {
  let [stdout, stderr] = ["", ""];
  const heard = new Set<() => void>();
  child.stdout?.on("data", (bytes: Buffer) => {
    stdout += bytes.toString();
    for (const call of heard) call();
  });
  child.stderr?.on("data", (bytes: Buffer) => (stderr += bytes.toString()));
  const ended = once(child, "close").then(([code]) => ({ code: code as number | null, stdout, stderr }));
  const printed = async (text: string): Promise<void> => {
    while (!stdout.includes(text)) {
      await new Promise<void>((resolve) => heard.add(resolve));
      heard.clear();
    }
  };
  return { child, ended, printed };
}

/** A new directory that goes at the end of the test. */
export async function directory(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), "cli-test-"));
  onTestFinished(() => rm(made, { recursive: true, force: true }));
  return made;
}

/** An event log with some of everything: parts and journal, a hidden stream, bytes, a consumer. */
export async function makeStore(dir: string, options: { readonly events?: number } = {}): Promise<void> {
  const log = await openEventLog({ dir, sealMaxBytes: 64 * 1024 });
  const { events = 90 } = options;
  for (let n = 1; n <= events; n++) {
    const type = n % 3 === 0 ? "paid" : "placed";
    await log.append(`order-${n % 5}`, {
      id: `e-${n}`,
      type,
      data: { n, text: "é".repeat(200) },
      metadata: { by: "test" },
    });
    if (n % 30 === 0) await log.engine.seal();
  }
  await log.append("bytes", { id: "raw", type: "raw", data: new Uint8Array([1, 2, 255]) });
  await log.append("hidden", { id: "hidden", type: "secret" });
  await log.deleteStream("hidden");
  await log.append("order-1", { id: "last", type: "paid" });
  await log.consumer("mailer").ack(80);
  await log.close();
}
