import { join } from "node:path";
import { KIB, MIB } from "@ehdb/contracts";
import type { File, Host } from "@ehdb/host";
import { isAbsent } from "./manifest/disk-error.ts";

const reserveName = "space.reserve";
/** Small, because a full disk is asked for one again and again, and because syncs of commits wait behind it. */
const sliceBytes = 256 * KIB;
const syncedBytes = MIB;

export const isReserve = (name: string): boolean => name === reserveName;

/**
 * Zeros on disk that mean nothing and can be given back. The file grows in place, and holds as much as it's long: so a crash at any
 * time leaves some of it, and no name is to be made durable. No sync of the directory covers it: one that fails would take others'
 * names along.
 */
export class ReserveFile {
  readonly #host: Host;
  readonly #path: string;
  #written = 0;
  #synced = 0;
  /** Open while it grows. */
  #file: File | undefined;

  constructor(host: Host, dir: string) {
    this.#host = host;
    this.#path = join(dir, reserveName);
  }

  /** What it holds on disk. */
  get bytes(): number {
    return this.#written;
  }

  /** Looks at what an earlier process left. */
  async look(): Promise<void> {
    this.#written = (await this.#host.files.stat(this.#path))?.bytes ?? 0;
    this.#synced = this.#written;
  }

  /** Makes the file, still empty, so that the names in the directory stay the same while it grows; or removes it. */
  async begin(bytes: number): Promise<void> {
    const { files } = this.#host;
    if (bytes > 0) {
      if ((await files.stat(this.#path)) === undefined) await (await files.open(this.#path, "create")).close();
      return;
    }
    try {
      await files.remove(this.#path);
    } catch (error) {
      if (!isAbsent(error)) throw error;
    }
    this.#written = 0;
    this.#synced = 0;
  }

  isWhole(bytes: number): boolean {
    return this.#synced === bytes && this.#written === bytes;
  }

  /** Does the next piece of making it `bytes` large. */
  async grow(bytes: number): Promise<void> {
    const file = await this.#open();
    if (this.#written > bytes) await this.#cut(file, bytes);
    const slice = Math.min(sliceBytes, bytes - this.#written);
    if (slice > 0) await file.preallocate(this.#written, slice);
    this.#written += slice;
    if (this.#written - this.#synced >= syncedBytes || this.#written === bytes) await this.#sync(file);
    if (this.isWhole(bytes)) await this.close();
  }

  /** Gives back what it holds. What was only cut off may be free to use no sooner than with the file system's next commit: a sync makes one. */
  async giveBack(): Promise<void> {
    try {
      await this.#cut(await this.#open(), 0);
    } finally {
      await this.close();
    }
  }

  async close(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.close().catch(() => undefined);
  }

  async #open(): Promise<File> {
    const { files } = this.#host;
    try {
      this.#file ??= await files.open(this.#path, "write");
    } catch (error) {
      if (!isAbsent(error)) throw error;
      this.#file = await files.open(this.#path, "create");
      this.#written = 0;
      this.#synced = 0;
    }
    return this.#file;
  }

  async #cut(file: File, bytes: number): Promise<void> {
    await file.truncate(bytes);
    this.#written = bytes;
    this.#synced = Math.min(this.#synced, bytes);
    await this.#sync(file);
  }

  /** What a sync that failed was to write has no place on disk for sure: it isn't counted. */
  async #sync(file: File): Promise<void> {
    try {
      await file.dataSync();
    } catch (error) {
      this.#written = this.#synced;
      throw error;
    }
    this.#synced = this.#written;
  }
}
