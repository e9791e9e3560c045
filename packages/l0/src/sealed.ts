import { join } from "node:path";
import { EhdbError } from "@ehdb/contracts";
import type { Host } from "@ehdb/host";
import type { Dataset } from "./dataset.ts";
import type { Generation } from "./generation.ts";
import { diskError } from "./manifest/disk-error.ts";
import type { Manifest, ManifestStats } from "./manifest/manifest.ts";
import type { ManifestState } from "./manifest/state.ts";
import type { ManifestEdit, PartMeta } from "./meta.ts";
import type { ResolvedOptions } from "./options.ts";
import { LogPart } from "./part/log-part.ts";
import { MapPart } from "./part/map-part.ts";
import type { PartContext } from "./part/part-file.ts";
import { metaOfBuilt, partName } from "./part/built-part.ts";
import { sealPart } from "./seal-job.ts";
import type { FrozenGeneration } from "./seal-job.ts";
import type { Parts } from "./view.ts";

/** Written at once: a larger piece would hold a thread for long. */
const sliceBytes = 1024 * 1024;
const saltBytes = 32;

/** What is in parts: the manifest, the files it names, and how more are made. */
export class Sealed {
  readonly #options: ResolvedOptions;
  readonly #manifest: Manifest;
  readonly #context: PartContext;

  constructor(options: ResolvedOptions, manifest: Manifest, context: PartContext) {
    this.#options = options;
    this.#manifest = manifest;
    this.#context = context;
  }

  get state(): ManifestState {
    return this.#manifest.state;
  }

  get context(): PartContext {
    return this.#context;
  }

  get manifestStats(): ManifestStats {
    return this.#manifest.stats();
  }

  /** All that the manifest names. */
  parts(): Parts {
    const logs = new Map<number, LogPart[]>();
    const maps = new Map<number, MapPart[]>();
    const metas = [...this.state.parts.values()].sort((a, b) => a.firstRevision - b.firstRevision);
    for (const meta of metas) {
      const { dataset } = meta;
      const part = this.#part(meta);
      if (part instanceof LogPart) logs.set(dataset, [...(logs.get(dataset) ?? []), part]);
      else maps.set(dataset, [...(maps.get(dataset) ?? []), part]);
    }
    return { logs, maps };
  }

  /** Starts to write: see `Manifest.begin`. */
  async begin(edit: ManifestEdit): Promise<void> {
    const parts = join(this.#options.dir, "parts");
    try {
      await this.#host.files.makeDirectory(parts);
    } catch (error) {
      throw diskError(error, "Making the directory of parts", parts);
    }
    await this.#manifest.begin(edit);
  }

  /** Durable when it resolves. */
  async record(edit: ManifestEdit): Promise<void> {
    await this.#manifest.append(edit);
  }

  /** Builds a dataset's part from generations in another thread, writes and syncs it. Its name isn't durable yet. */
  async writePart(dataset: Dataset, group: readonly Generation[]): Promise<LogPart | MapPart> {
    const { compression, encryption } = this.#options;
    const id = this.#manifest.takePartId();
    const bytes = await this.#host.workers.run(sealPart, {
      generations: group.map(frozen),
      id,
      dataset: dataset.id,
      order: dataset.order,
      compression,
      salt: this.#host.random.bytes(saltBytes),
      encryption:
        encryption === undefined
          ? undefined
          : { keyId: encryption.current, masterKey: encryption.keys[encryption.current] as Uint8Array },
    });
    const meta = metaOfBuilt(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    if (meta === undefined)
      throw new EhdbError("UNEXPECTED", `the part ${id} that was built can't be read`, { part: id });
    await this.#write(this.#path(id), bytes);
    return this.#part(meta);
  }

  /** Makes the names of parts durable. */
  async syncParts(): Promise<void> {
    await this.#host.files.syncDirectory(join(this.#options.dir, "parts"));
  }

  /** A part that no manifest names, nor ever will. */
  async discard(part: LogPart | MapPart): Promise<void> {
    await part.close();
    await this.#host.files.remove(this.#path(part.meta.id)).catch(() => undefined);
  }

  async close(): Promise<void> {
    await this.#manifest.close();
    await this.#context.handles.close();
  }

  get #host(): Host {
    return this.#options.host;
  }

  #path(id: number): string {
    return join(this.#options.dir, "parts", partName(id));
  }

  #part(meta: PartMeta): LogPart | MapPart {
    const isLog = this.state.datasets.get(meta.dataset)?.order === "by-sort";
    return new (isLog ? LogPart : MapPart)(this.#context, this.#path(meta.id), meta);
  }

  async #write(path: string, bytes: Uint8Array): Promise<void> {
    const file = await this.#host.files.open(path, "create");
    try {
      for (let at = 0; at < bytes.length; at += sliceBytes) await file.write(bytes.subarray(at, at + sliceBytes), at);
      await file.dataSync();
    } catch (error) {
      await file.close();
      await this.#host.files.remove(path).catch(() => undefined);
      throw error;
    }
    await file.close();
  }
}

function frozen({ chunks, commits }: Generation): FrozenGeneration {
  return {
    chunks: chunks.buffers.map(({ buffer }) => buffer as unknown as SharedArrayBuffer),
    firstRevision: commits.firstRevision,
    places: Float64Array.from(commits.places),
    ends: Float64Array.from(commits.ends),
  };
}
