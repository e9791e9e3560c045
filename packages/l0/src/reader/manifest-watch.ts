import type { Host } from "@ehdb/host";
import { diskError } from "../manifest/disk-error.ts";
import { currentPath } from "../manifest/layout.ts";
import { readManifest } from "../manifest/read-manifest.ts";
import type { ReadManifest } from "../manifest/read-manifest.ts";

/** The manifest in force, read again only when its files have changed. */
export class ManifestWatch {
  readonly #host: Host;
  readonly #dir: string;
  #known: ReadManifest | undefined;
  /** What the files were like before `#known` was read; `undefined`: it may have been read while they changed. */
  #mark: string | undefined;

  constructor(host: Host, dir: string) {
    this.#host = host;
    this.#dir = dir;
  }

  /** The same object as long as nothing has changed. Errors as `readManifest`. */
  async read(): Promise<ReadManifest> {
    const known = this.#known;
    const mark = known === undefined ? undefined : await this.#look(known);
    if (known !== undefined && mark !== undefined && mark === this.#mark) return known;
    const found = await readManifest({ host: this.#host, dir: this.#dir });
    this.#known = found;
    this.#mark = found.file === known?.file && found.tornBytes === 0 ? mark : undefined;
    return found;
  }

  /** An edit makes the manifest longer, and a switch makes CURRENT another file. */
  async #look(known: ReadManifest): Promise<string | undefined> {
    const { files } = this.#host;
    try {
      const current = await files.stat(currentPath(this.#dir));
      const manifest = await files.stat(known.file);
      return `${current?.inode} ${current?.modifiedMillis} ${manifest?.inode} ${manifest?.bytes}`;
    } catch (error) {
      throw diskError(error, "Looking at the manifest", this.#dir);
    }
  }
}
