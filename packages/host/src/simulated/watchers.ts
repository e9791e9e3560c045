import type { Watcher } from "../host.ts";
import type { DirectoryInode } from "./directory.ts";
import type { Process } from "./process.ts";

interface Watch {
  readonly directory: DirectoryInode;
  readonly onChange: () => void;
  /** A call is on its way; more changes until then add none. */
  pending: boolean;
}

/** Who wants to hear of which directory. */
export class Watchers {
  readonly #process: Process;
  readonly #watches: Set<Watch> = new Set();

  constructor(process: Process) {
    this.#process = process;
  }

  add(directory: DirectoryInode, onChange: () => void): Watcher {
    const watch: Watch = { directory, onChange, pending: false };
    this.#watches.add(watch);
    return { close: () => this.#watches.delete(watch) };
  }

  changed(directory: DirectoryInode): void {
    for (const watch of this.#watches) {
      if (watch.directory !== directory || watch.pending) continue;
      watch.pending = true;
      this.#process.pump.defer(() => {
        watch.pending = false;
        if (this.#watches.has(watch)) watch.onChange();
      });
    }
  }
}
