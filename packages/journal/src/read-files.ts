import type { File, Host } from "@ehdb/host";
import type { Segment } from "./segment.ts";

interface Entry {
  readonly file: Promise<File>;
  users: number;
  /** Closed as soon as nobody uses it. */
  leaving: boolean;
}

const keptOpen = 16;

/** Segments opened for reading: a few stay open between reads, and one in use is never closed. */
export class ReadFiles {
  readonly #host: Host;
  /** In the order of their last use. */
  readonly #entries = new Map<string, Entry>();
  #closed = false;

  constructor(host: Host) {
    this.#host = host;
  }

  async use<T>(segment: Segment, work: (file: File) => Promise<T>): Promise<T> {
    const entry = this.#entries.get(segment.path) ?? this.#open(segment.path);
    this.#entries.delete(segment.path);
    this.#entries.set(segment.path, entry);
    entry.users++;
    try {
      return await work(await entry.file);
    } finally {
      entry.users--;
      await this.#trim();
    }
  }

  /** The file was removed. */
  async forget(path: string): Promise<void> {
    const entry = this.#entries.get(path);
    if (entry === undefined) return;
    entry.leaving = true;
    await this.#trim();
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#trim();
  }

  #open(path: string): Entry {
    const file = this.#host.files.open(path, "read");
    const entry: Entry = { file, users: 0, leaving: false };
    file.catch(() => this.#entries.delete(path));
    return entry;
  }

  async #trim(): Promise<void> {
    let surplus = this.#entries.size - (this.#closed ? 0 : keptOpen);
    for (const [path, entry] of this.#entries) {
      if (entry.users > 0 || !(entry.leaving || surplus > 0)) continue;
      surplus--;
      this.#entries.delete(path);
      await (await entry.file).close();
    }
  }
}
