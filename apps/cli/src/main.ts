import { createReadStream } from "node:fs";
import { readFile } from "node:fs/promises";
import { constants } from "node:os";
import { createInterface } from "node:readline";
import { EhdbError } from "@ehdb/contracts";
import { realHost } from "@ehdb/host";
import { exit } from "./exit-codes.ts";
import { NobodyReads } from "./io.ts";
import type { Io } from "./io.ts";
import { run } from "./run.ts";

const endings = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** The program as a process. */
async function main(): Promise<void> {
  const stop = new AbortController();
  let ending: NodeJS.Signals | undefined;
  const end = (signal: NodeJS.Signals): void => {
    ending = signal;
    // A second one ends the process at once.
    for (const name of endings) process.off(name, end);
    stop.abort(new Error(signal));
  };
  for (const name of endings) process.on(name, end);
  let failure: EhdbError | undefined;
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    // As `head` does when it has enough.
    if (error.code === "EPIPE") return stop.abort(new NobodyReads());
    failure ??= unwritable(error);
    stop.abort(failure);
  });
  // Who can't be told still gets the exit code.
  process.stderr.on("error", () => undefined);
  const host = realHost();
  const code = await run(process.argv.slice(2), ioOf(host, stop.signal));
  await host.workers.close();
  // What was printed last may still be on its way, and fail.
  if (!stop.signal.aborted) await new Promise<void>((resolve) => void process.stdout.write("", () => resolve()));
  if (failure !== undefined) {
    process.stderr.write(`error: ${failure.code}: ${failure.message}\n`);
    process.exitCode = exit.cannot;
  } else if (ending === undefined || code === exit.fine) process.exitCode = code;
  else {
    process.stderr.write("interrupted\n");
    process.exitCode = 128 + constants.signals[ending];
  }
  for (const name of endings) process.off(name, end);
}

function ioOf(host: Io["host"], signal: AbortSignal): Io {
  return {
    host,
    env: process.env,
    signal,
    terminal: process.stderr.isTTY ? process.stderr : undefined,
    out: async (text) => {
      if (text === "" || process.stdout.write(text) || signal.aborted) return;
      await new Promise<void>((resolve) => {
        const done = (): void => {
          process.stdout.off("drain", done);
          signal.removeEventListener("abort", done);
          resolve();
        };
        process.stdout.once("drain", done);
        signal.addEventListener("abort", done, { once: true });
      });
    },
    err: (text) => void process.stderr.write(text),
    lines: (path) => linesOf(path, signal),
    bytes: async (path) => {
      try {
        return await readFile(path);
      } catch (error) {
        throw unreadable(path, error);
      }
    },
  };
}

/** Until the end, or the abort. */
async function* linesOf(path: string, signal: AbortSignal): AsyncGenerator<string> {
  const input = path === "-" ? process.stdin : createReadStream(path);
  try {
    yield* createInterface({ input, crlfDelay: Infinity, signal });
  } catch (error) {
    throw unreadable(path, error);
  } finally {
    input.destroy();
  }
}

function unwritable(error: NodeJS.ErrnoException): EhdbError {
  const message = `writing standard output failed: ${error.message}. What was printed isn't whole: make room, or print it elsewhere`;
  return new EhdbError("IO_ERROR", message, { errno: error.code }, error);
}

function unreadable(path: string, error: unknown): unknown {
  if (error instanceof EhdbError || !(error instanceof Error)) return error;
  const isMissing = "code" in error && error.code === "ENOENT";
  const message = isMissing ? `there is no file ${path}` : `reading ${path} failed: ${error.message}`;
  return new EhdbError(isMissing ? "NOT_FOUND" : "IO_ERROR", message, { path }, error);
}

await main();
