import { dirname } from "node:path";
import { EhdbError } from "@ehdb/contracts";
import type { File, Host, Lock } from "@ehdb/host";
import { entryOf, lineOf } from "./reference-entry.ts";
import type { Entry } from "./reference-entry.ts";

/** Entries in a file, a line each. An entry is durable when `write` resolves. */
export class ReferenceFile {
  readonly #file: File;
  readonly #lock: Lock;
  #end: number;
  #failure: unknown;

  private constructor(file: File, lock: Lock, end: number) {
    this.#file = file;
    this.#lock = lock;
    this.#end = end;
  }

  /** Opens the file, or makes it, and hands each entry in it to `replay`. CORRUPT for a line that is none. */
  static async open({ files }: Host, path: string, replay: (entry: Entry) => void): Promise<ReferenceFile> {
    await files.makeDirectory(dirname(path));
    const lock = await files.lock(`${path}.lock`);
    let file: File | undefined;
    try {
      const isNew = (await files.stat(path)) === undefined;
      file = await files.open(path, isNew ? "create" : "write");
      if (isNew) await files.syncDirectory(dirname(path));
      const end = await replayed(file, replay);
      // What a crash left of a line was never acknowledged; what is written next must not become its end.
      if ((await file.size()) > end) await file.truncate(end);
      await file.dataSync();
      return new ReferenceFile(file, lock, end);
    } catch (error) {
      await file?.close();
      await lock.release();
      throw error;
    }
  }

  /** OUTCOME_UNKNOWN when it fails, and POISONED from then on: nobody knows what the file holds. */
  async write(entry: Entry): Promise<void> {
    if (this.#failure !== undefined) {
      const message = `an earlier write to ${this.#file.path} failed: close the log and open it again`;
      throw new EhdbError("POISONED", message, { file: this.#file.path }, this.#failure);
    }
    const line = Buffer.from(`${lineOf(entry)}\n`);
    try {
      await this.#file.write(line, this.#end);
      await this.#file.dataSync();
    } catch (error) {
      this.#failure = error;
      const message = `writing to ${this.#file.path} failed: what was written may be there after the next open, or not`;
      throw new EhdbError("OUTCOME_UNKNOWN", message, { file: this.#file.path }, error);
    }
    this.#end += line.length;
  }

  async close(): Promise<void> {
    await this.#file.close();
    await this.#lock.release();
  }
}

/** Where the last whole line ends. */
async function replayed(file: File, replay: (entry: Entry) => void): Promise<number> {
  const bytes = Buffer.alloc(await file.size());
  await file.read(bytes, 0);
  const end = bytes.lastIndexOf("\n") + 1;
  const lines = bytes.subarray(0, end).toString("utf8").split("\n").slice(0, -1);
  for (const [index, line] of lines.entries()) {
    let entry: Entry;
    try {
      entry = entryOf(line);
    } catch (error) {
      const message = `line ${index + 1} of ${file.path} isn't an entry of an event log: the file was changed by something else`;
      throw new EhdbError("CORRUPT", message, { file: file.path, line: index + 1 }, error);
    }
    replay(entry);
  }
  return end;
}
