import type { File, Host } from "@ehdb/host";
import type { ManifestEdit } from "../meta.ts";
import { snapshotEntry } from "./entries.ts";
import { encodeEntry, encodeHeader, headerCrc, SALT_BYTES, saltSeed, storedCrc } from "./format.ts";
import { manifestFile, manifestPath } from "./layout.ts";
import { publish, reportedAlready } from "./publish.ts";
import type { LiveState } from "./state.ts";

/** Edits behind a snapshot take so many times its bytes at most, and may always take the least. */
const EDITS_PER_SNAPSHOT = 4;
const LEAST_EDIT_BYTES = 64 * 1024;

/** One manifest, as this process writes it: from the front to the back, each byte once. */
export class ManifestFile {
  readonly id: number;
  readonly path: string;
  readonly headerCrc: number;
  /** Header and snapshot. */
  readonly snapshotBytes: number;
  readonly #file: File;
  readonly #seed: number;
  #lastCrc: number;
  #end: number;
  #edits = 0;

  private constructor(id: number, path: string, file: File, seed: number, header: Buffer, snapshot: Buffer) {
    this.id = id;
    this.path = path;
    this.headerCrc = headerCrc(header);
    this.snapshotBytes = header.length + snapshot.length;
    this.#file = file;
    this.#seed = seed;
    this.#lastCrc = storedCrc(snapshot, 0);
    this.#end = this.snapshotBytes;
  }

  /** Makes a manifest that holds `state`, durable under its name. Nothing names it yet. */
  static async create(
    host: Host,
    dir: string,
    id: number,
    predecessor: number,
    state: LiveState,
  ): Promise<ManifestFile> {
    const salt = host.random.bytes(SALT_BYTES);
    const seed = saltSeed(salt);
    const header = encodeHeader({ id, predecessor, salt, store: state.store, incarnation: state.incarnation });
    const snapshot = encodeEntry(snapshotEntry(headerCrc(header), state), seed);
    const path = manifestPath(dir, id);
    try {
      const file = await publish(host, dir, manifestFile(id), Buffer.concat([header, snapshot]));
      return new ManifestFile(id, path, file, seed, header, snapshot);
    } catch (error) {
      // CURRENT never named it, so nobody can miss it, and failing again and again fills no disk.
      await host.files.remove(path).catch(reportedAlready);
      throw error;
    }
  }

  /** All that is in the file. */
  get bytes(): number {
    return this.#end;
  }

  encode(edit: ManifestEdit): Buffer {
    return encodeEntry({ number: this.#edits + 1, after: this.#lastCrc, edit }, this.#seed);
  }

  /** Whether `entry` would make replay cost more than it may: a snapshot is due. */
  isFull(entry: Buffer): boolean {
    const most = Math.max(EDITS_PER_SNAPSHOT * this.snapshotBytes, LEAST_EDIT_BYTES);
    return this.#end - this.snapshotBytes + entry.length > most;
  }

  /** Writes and syncs what `encode` returned, and says how much that is. After an error the file is never written again. */
  async append(entry: Buffer): Promise<number> {
    await this.#file.write(entry, this.#end);
    await this.#file.dataSync();
    this.#end += entry.length;
    this.#edits++;
    this.#lastCrc = storedCrc(entry, 0);
    return entry.length;
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}
