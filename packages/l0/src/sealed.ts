import { join } from "node:path";
import { EhdbError } from "@ehdb/contracts";
import type { Host, JobGate } from "@ehdb/host";
import type { Dataset } from "./dataset.ts";
import type { Generation } from "./generation.ts";
import type { PartFilling } from "./import/part-filling.ts";
import { diskError, isAbsent } from "./manifest/disk-error.ts";
import type { Manifest, ManifestStats } from "./manifest/manifest.ts";
import type { ManifestState, Snapshot } from "./manifest/state.ts";
import { mergeParts } from "./merge-job.ts";
import type { NamedPart } from "./merge-job.ts";
import type { DatasetMeta, ManifestEdit, PartMeta } from "./meta.ts";
import type { ResolvedOptions } from "./options.ts";
import type { Reserve } from "./reserve.ts";
import { LogPart } from "./part/log-part.ts";
import { MapPart } from "./part/map-part.ts";
import type { PartContext } from "./part/part-file.ts";
import { metaOfBuilt, partIdIn, partName } from "./part/built-part.ts";
import type { Loss } from "./part/merge-range.ts";
import { sealPart } from "./seal-job.ts";
import type { FrozenGeneration } from "./seal-job.ts";
import { partsOf } from "./view.ts";
import type { Parts } from "./view.ts";

/** Written at once: a larger piece would hold a thread for long. */
const sliceBytes = 1024 * 1024;
const saltBytes = 32;

export interface MergeRequest {
  /** That follow each other, oldest first. */
  readonly inputs: readonly (LogPart | MapPart)[];
  /** All before them. */
  readonly older: readonly (LogPart | MapPart)[];
  /** Parts behind them that have erasures: of a log only. */
  readonly erasers: readonly (LogPart | MapPart)[];
  readonly firstKnownSort: number;
  readonly gate: JobGate;
}

export interface MergeResult {
  /** `undefined` when nothing was left. */
  readonly output: LogPart | MapPart | undefined;
  readonly loss: Loss;
}

type RunWrite = (write: () => Promise<void>) => Promise<void>;

/** What a part is made from, and what is wrong with what came of it, in words. */
type Content = readonly [
  dataset: Dataset,
  generations: readonly FrozenGeneration[],
  difference: (meta: PartMeta) => string | undefined,
];

export interface Reclaimed {
  readonly files: number;
  readonly bytes: number;
}

/** What is in parts: the manifest, the files it names, and how more are made. */
export class Sealed {
  /** How often a sync of the directory of parts has failed. */
  syncFailures = 0;
  /** Told when something else is sealed, or takes another room on disk. */
  changed: () => void = () => undefined;
  /** Files of parts that were removed since the open, and those that couldn't be. */
  readonly reclaimed = { files: 0, bytes: 0, failed: 0 };
  readonly #options: ResolvedOptions;
  readonly #manifest: Manifest;
  readonly #context: PartContext;
  readonly #reserve: Reserve;
  /** Parts that no manifest names and whose files have a reason: being made, or still read. */
  readonly #unnamed: Set<number> = new Set();
  /** Parts of edits that failed. */
  readonly #doubtful: number[] = [];

  constructor(options: ResolvedOptions, manifest: Manifest, context: PartContext, reserve: Reserve) {
    this.#options = options;
    this.#manifest = manifest;
    this.#context = context;
    this.#reserve = reserve;
  }

  get state(): ManifestState {
    return this.#manifest.state;
  }

  /** All of it, as of now. */
  snapshot(): Snapshot {
    return this.#manifest.snapshot();
  }

  /** The manifest in force. */
  get manifestId(): number {
    return this.#manifest.id;
  }

  dataset(id: number): DatasetMeta | undefined {
    return this.state.datasets.get(id);
  }

  get context(): PartContext {
    return this.#context;
  }

  /** There was no store before this open. */
  get isNew(): boolean {
    return this.#manifest.isNew;
  }

  get manifestStats(): ManifestStats {
    return this.#manifest.stats();
  }

  /** All that the manifest names. */
  parts(): Parts {
    return partsOf([...this.state.parts.values()].map((meta) => this.#part(meta)));
  }

  /** Starts to write: see `Manifest.begin`. */
  async begin(edit: ManifestEdit): Promise<void> {
    const parts = join(this.#options.dir, "parts");
    await this.#reserve.use(async () => {
      try {
        await this.#host.files.makeDirectory(parts);
      } catch (error) {
        throw diskError(error, "Making the directory of parts", parts);
      }
      await this.#manifest.begin(edit);
    });
    this.changed();
  }

  /** Durable when it resolves. When it rejects, a crash may show it all the same: what it adds stays until another edit is durable. */
  async record(edit: ManifestEdit): Promise<void> {
    const added = (edit.add ?? []).map(({ id }) => id);
    try {
      await this.#reserve.use(() => this.#manifest.append(edit));
    } catch (error) {
      this.#doubtful.push(...added);
      throw error;
    }
    this.changed();
    for (const id of added) this.#unnamed.delete(id);
    for (const id of this.#doubtful.splice(0)) await this.#removeFile(id);
  }

  /** Builds a dataset's part from generations in another thread, writes and syncs it. Its name isn't durable yet. */
  writePart(dataset: Dataset, group: readonly Generation[]): Promise<LogPart | MapPart> {
    const content: Content = [dataset, group.map(frozen), (meta) => differenceOf(meta, dataset, group)];
    return this.#writeOrRemove(content, (write) => this.#reserve.use(write));
  }

  /** The same of what is imported, which mustn't use the reserve. */
  async writeImported(dataset: Dataset, filling: PartFilling): Promise<LogPart> {
    const { records, lastSort } = filling;
    const differenceOfImported = (meta: PartMeta): string | undefined =>
      meta.records === records && meta.lastSort === lastSort
        ? undefined
        : `it has ${meta.records} records up to position ${meta.lastSort}, and ${records} up to ${lastSort} were imported`;
    this.#reserve.assertToSpare("importing");
    const part = await this.#writeOrRemove([dataset, [filling.frozen()], differenceOfImported], (write) => write());
    return part as LogPart;
  }

  async #writeOrRemove(content: Content, run: RunWrite): Promise<LogPart | MapPart> {
    const id = this.#takeId();
    try {
      return await this.#buildPart(id, content, run);
    } catch (error) {
      await this.#removeFile(id);
      throw error;
    }
  }

  async #buildPart(id: number, [dataset, generations, difference]: Content, run: RunWrite): Promise<LogPart | MapPart> {
    const { compression, encryption } = this.#options;
    const bytes = await this.#host.workers.run(sealPart, {
      generations,
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
    const wrong = meta === undefined ? "it can't be read" : difference(meta);
    if (meta === undefined || wrong !== undefined)
      throw new EhdbError("CORRUPT", `part ${id} isn't what it was built from: ${wrong}`, {
        part: id,
        dataset: dataset.name,
      });
    await run(() => this.#write(this.#path(id), bytes));
    return this.#part(meta);
  }

  /** Makes one part of several in another thread, its name durable. IO_ERROR, NO_SPACE, CORRUPT, ABORTED: there is no file then. */
  async mergeParts(dataset: Dataset, request: MergeRequest): Promise<MergeResult> {
    const { compression, encryption, host, dir } = this.#options;
    const { inputs, older, erasers, firstKnownSort, gate } = request;
    this.#reserve.assertToSpare("merging");
    const id = this.#takeId();
    const failures = this.syncFailures;
    const highest = Math.max(...inputs.map(({ meta }) => meta.level));
    try {
      const { meta, loss } = await host.workers.run(mergeParts, {
        order: dataset.order,
        dataset: dataset.id,
        parts: inputs.map(named),
        older: older.map(named),
        erasers: erasers.map(named),
        id,
        path: this.#path(id),
        level: inputs.length === 1 ? Math.max(1, highest) : highest + 1,
        floor: dataset.floor,
        firstKnownSort,
        depth: 1,
        compression,
        salt: host.random.bytes(saltBytes),
        encryption,
        gate,
      });
      if (meta === undefined) this.#unnamed.delete(id);
      else await this.syncParts(failures);
      return { output: meta && this.#part(meta), loss };
    } catch (error) {
      await this.#removeFile(id);
      throw diskError(error, "Merging", dir);
    }
  }

  /**
   * Makes the names of parts durable that were made since `syncFailures` was `failures`. What a sync has covered that failed, whoever asked
   * for it, counts as clean: another one that succeeds says nothing of it.
   */
  async syncParts(failures: number): Promise<void> {
    const directory = join(this.#options.dir, "parts");
    try {
      await this.#host.files.syncDirectory(directory);
    } catch (error) {
      this.syncFailures++;
      throw error;
    }
    if (failures === this.syncFailures) return;
    const message = `a sync of ${directory} failed, and the names of new parts may not be durable. They are made again`;
    throw new EhdbError("IO_ERROR", message, { path: directory });
  }

  /** The part isn't named any more, and somebody may still read it: it isn't reclaimed until it's discarded. */
  keep(part: LogPart | MapPart): void {
    this.#unnamed.add(part.meta.id);
  }

  /** A part that no manifest names, nor ever will. What can't be removed now goes with the next `reclaimOrphans`. */
  async discard(part: LogPart | MapPart): Promise<void> {
    await part.close();
    await this.#reclaim(part.meta.id, part.meta.fileBytes);
  }

  /** Removes the files of parts that nothing names and nobody needs: what a crash or an error has left. */
  async reclaimOrphans(): Promise<Reclaimed> {
    const directory = join(this.#options.dir, "parts");
    const { files, bytes: before } = this.reclaimed;
    for (const name of await this.#host.files.list(directory)) {
      const id = partIdIn(name);
      if (id === undefined || this.state.parts.has(id) || this.#unnamed.has(id)) continue;
      await this.#reclaim(id, (await this.#host.files.stat(join(directory, name)))?.bytes ?? 0);
    }
    return { files: this.reclaimed.files - files, bytes: this.reclaimed.bytes - before };
  }

  /** The same for an open, which doesn't fail for it: what can't be looked at or removed is counted, and there still at the next one. */
  async reclaimAtOpen(): Promise<void> {
    try {
      await this.reclaimOrphans();
    } catch {
      this.reclaimed.failed++;
    }
  }

  async close(): Promise<void> {
    await this.#manifest.close();
    await this.#context.handles.close();
  }

  #takeId(): number {
    const id = this.#manifest.takePartId();
    this.#unnamed.add(id);
    return id;
  }

  async #reclaim(id: number, bytes: number): Promise<void> {
    if (await this.#removeFile(id)) {
      this.reclaimed.files++;
      this.reclaimed.bytes += bytes;
    } else this.reclaimed.failed++;
  }

  /** False when it can't be removed now: then it has no reason to be there, and `reclaimOrphans` tries again. */
  async #removeFile(id: number): Promise<boolean> {
    this.#unnamed.delete(id);
    try {
      await this.#host.files.remove(this.#path(id));
      return true;
    } catch (error) {
      return isAbsent(error);
    }
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

  /** Leaves no file behind when it fails: its blocks may be what the next try is in want of. */
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

function named({ path, meta }: LogPart | MapPart): NamedPart {
  return { path, meta };
}

function frozen({ chunks, commits }: Generation): FrozenGeneration {
  return {
    chunks: chunks.buffers.map(({ buffer }) => buffer as unknown as SharedArrayBuffer),
    firstRevision: commits.firstRevision,
    places: Float64Array.from(commits.places),
    ends: Float64Array.from(commits.ends),
  };
}

/** What a part must hold, going by the tables that reads go by. */
function differenceOf(meta: PartMeta, { id }: Dataset, group: readonly Generation[]): string | undefined {
  const logs = group.flatMap((generation) => generation.logs.get(id) ?? []);
  const maps = group.flatMap((generation) => generation.maps.get(id) ?? []);
  const records = [...logs, ...maps].reduce((sum, table) => sum + table.records, 0);
  const last = (logs.at(-1)?.nextSort ?? 1) - 1;
  if (meta.records !== records) return `it has ${meta.records} records, and ${records} were committed`;
  if (records > 0 && logs.length > 0 && meta.lastSort !== last)
    return `it ends at position ${meta.lastSort}, and ${last} was the last one given`;
  return undefined;
}
