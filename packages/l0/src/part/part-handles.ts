import type { File, Files } from "@ehdb/host";
import { LRUCache } from "lru-cache";
import { partReadError } from "./part-damage.ts";

/** One open file: it's closed when it has left the cache and nobody uses it. */
class Handle {
  readonly file: Promise<File>;
  #users = 0;
  #leaving = false;
  #closed: Promise<void> | undefined;

  constructor(file: Promise<File>) {
    this.file = file;
  }

  enter(): void {
    this.#users++;
  }

  exit(): void {
    this.#users--;
    this.#closeIfDone();
  }

  leave(): void {
    this.#leaving = true;
    this.#closeIfDone();
  }

  /** Resolves at once while it's in use. */
  async whenClosed(): Promise<void> {
    await this.#closed;
  }

  #closeIfDone(): void {
    if (!this.#leaving || this.#users > 0) return;
    // A file that was only read has nothing to lose by a close that fails.
    this.#closed ??= this.file.then((file) => file.close()).catch(() => undefined);
  }
}

const keptOpen = 64;

/** The open files of all parts of an engine: a bounded number stays open between reads. */
export class PartHandles {
  readonly #files: Pick<Files, "open">;
  readonly #handles: LRUCache<string, Handle>;

  /** @param max files kept open at most; those being read come on top */
  constructor(files: Pick<Files, "open">, max: number = keptOpen) {
    this.#files = files;
    this.#handles = new LRUCache({ max, dispose: (handle) => handle.leave() });
  }

  /** Gives `work` the file at `path`, open for reading. Machine errors of either come as IO_ERROR, a missing file as CORRUPT. */
  async use<T>(path: string, work: (file: File) => Promise<T>): Promise<T> {
    const handle = this.#handles.get(path) ?? this.#open(path);
    handle.enter();
    try {
      return await work(await handle.file);
    } catch (error) {
      throw partReadError(error, path);
    } finally {
      handle.exit();
    }
  }

  /** Closes the file at `path` once nobody reads it. */
  async release(path: string): Promise<void> {
    const handle = this.#handles.peek(path);
    this.#handles.delete(path);
    await handle?.whenClosed();
  }

  /** Closes them all, each once nobody reads it. */
  async close(): Promise<void> {
    const handles = [...this.#handles.values()];
    this.#handles.clear();
    await Promise.all(handles.map((handle) => handle.whenClosed()));
  }

  #open(path: string): Handle {
    const handle = new Handle(this.#files.open(path, "read"));
    this.#handles.set(path, handle);
    handle.file.catch(() => {
      if (this.#handles.peek(path) === handle) this.#handles.delete(path);
    });
    return handle;
  }
}
