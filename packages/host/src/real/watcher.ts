import { type FSWatcher, watch } from "node:fs";
import { codeOf } from "../file-error.ts";
import type { Watcher } from "../host.ts";

/**
 * The kernel's notices about a directory. They are a hint and no promise, so a machine that has no watch left, or loses
 * one, gives a last hint and falls silent: the owner's polling goes on.
 */
export class RealWatcher implements Watcher {
  readonly #onChange: () => void;
  readonly #watcher: FSWatcher | undefined;
  #closed = false;

  constructor(directory: string, onChange: () => void) {
    this.#onChange = onChange;
    try {
      this.#watcher = watch(directory, { persistent: false }, () => this.#changed());
      this.#watcher.on("error", () => this.#lost());
    } catch (error) {
      if (codeOf(error) === "ENOENT") throw error;
      setImmediate(() => this.#lost());
    }
  }

  close(): void {
    this.#closed = true;
    this.#watcher?.close();
  }

  #changed(): void {
    if (!this.#closed) this.#onChange();
  }

  #lost(): void {
    this.#changed();
    this.close();
  }
}
