import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { openEngineReader } from "@ehdb/l0";
import type { EngineReader } from "@ehdb/l0";
import { expect, onTestFinished, test } from "vitest";

const tsx = pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href;
const program = fileURLToPath(new URL("reader-writer-program.ts", import.meta.url));

class Writer {
  readonly #child: ChildProcess;
  /** The last number that it said was durable. */
  durable = 0;
  #heard: () => void = () => undefined;

  constructor(dir: string) {
    this.#child = spawn(process.execPath, ["--conditions=@ehdb/source", "--import", tsx, program, dir], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    this.#child.stdout?.on("data", (chunk: Buffer) => {
      this.durable = Number(chunk.toString().trimEnd().split("\n").at(-1));
      this.#heard();
    });
  }

  async reaches(number: number): Promise<void> {
    while (this.durable < number) {
      await new Promise<void>((resolve) => {
        this.#heard = resolve;
      });
    }
  }

  async kill(): Promise<void> {
    const ended = new Promise((resolve) => this.#child.once("exit", resolve));
    this.#child.kill("SIGKILL");
    await ended;
  }
}

/** What is wrong with what the reader shows: positions, numbers and the map's value belong together. */
async function faults(reader: EngineReader, from: number): Promise<string[]> {
  const found: string[] = [];
  const { revision } = reader;
  const { last } = reader.log("events");
  let next = from;
  for await (const records of reader.log("events").scan({ from })) {
    for (const { sort, payload } of records) {
      const number = Number.parseInt(Buffer.from(payload).toString(), 10);
      if (sort !== next || number !== next) found.push(`position ${sort} holds ${number}, where ${next} was due`);
      next = sort + 1;
    }
  }
  if (next !== last + 1) found.push(`a scan ends before ${next}, and the log at ${last}`);
  const state = await reader.map("state").get("number");
  // A lookup whose part was merged away is asked again, of a later moment.
  const isSameMoment = reader.revision === revision;
  if (state !== undefined && isSameMoment && Number(Buffer.from(state.payload).toString()) !== last)
    found.push(`the map says ${Buffer.from(state.payload).toString()}, and the log ${last}`);
  return found;
}

test.skipIf(process.platform === "win32")(
  "a reader follows a writer in another process through seals, a SIGKILL and the next writer",
  async () => {
    const dir = await mkdtemp(join(tmpdir(), "l0-reader-"));
    onTestFinished(() => rm(dir, { recursive: true, force: true }));
    let writer = new Writer(dir);
    await writer.reaches(50);
    const reader = await openEngineReader({ dir });
    for (let round = 1; round <= 3; round++) {
      const goal = reader.revision + 400;
      while (reader.revision < goal) {
        const { revision } = reader;
        await reader.news(revision);
        expect(await faults(reader, Math.max(1, revision - 100))).toEqual([]);
      }
      const { durable } = writer;
      await writer.kill();
      expect(await reader.refresh()).toBeGreaterThanOrEqual(durable - 1);
      writer = new Writer(dir);
      await writer.reaches(durable + 50);
    }
    await writer.kill();
    await reader.refresh();
    expect(await faults(reader, 1)).toEqual([]);
    expect(reader.stats().parts).toBeGreaterThan(0);
    await reader.close();
  },
);
