import { EhdbError, MIB } from "@ehdb/contracts";
import type { DatasetOrder } from "@ehdb/contracts";
import { passGate } from "@ehdb/host";
import type { File, Files, Job, JobGate } from "@ehdb/host";
import type { KeyRing } from "@ehdb/journal";
import { BlockCache } from "./block-cache.ts";
import type { PartMeta } from "./meta.ts";
import { mergeLogs } from "./part/merge-log.ts";
import { mergeMaps } from "./part/merge-map.ts";
import type { Loss } from "./part/merge-range.ts";
import { PartFile } from "./part/part-file.ts";
import type { PartContext } from "./part/part-file.ts";
import { PartHandles } from "./part/part-handles.ts";
import { PartWriter } from "./part/part-writer.ts";
import { verifyBlocks } from "./part/verify-part.ts";

/** Written at once. */
const sliceBytes = MIB;
/** Synced at once: a sync of more would hold up others for long. */
const syncBytes = 16 * MIB;
const cacheBytes = 4 * MIB;

export interface NamedPart {
  readonly path: string;
  readonly meta: PartMeta;
}

export interface MergeInput {
  readonly order: DatasetOrder;
  readonly dataset: number;
  /** That follow each other, oldest first. */
  readonly parts: readonly NamedPart[];
  /** All before them. */
  readonly older: readonly NamedPart[];
  /** Of a log: those behind them that have erasures. */
  readonly erasers: readonly NamedPart[];
  readonly id: number;
  readonly path: string;
  readonly level: number;
  readonly floor: number;
  readonly firstKnownSort: number;
  readonly depth: number;
  readonly compression: "none" | "deflate";
  readonly salt: Uint8Array;
  readonly encryption: KeyRing | undefined;
  readonly gate: JobGate;
}

export interface MergeOutput {
  /** `undefined` when nothing is left: there is no file. */
  readonly meta: PartMeta | undefined;
  readonly loss: Loss;
}

/** Makes one part of several: written, verified block by block, and synced. Its name isn't durable yet. After an error there is no file. */
export const mergeParts: Job<MergeInput, MergeOutput> = {
  name: "mergeParts",
  module: import.meta.url,
  usesFiles: true,
  async run(input, files) {
    const handles = new PartHandles(files);
    const context: PartContext = { handles, cache: new BlockCache(cacheBytes), encryption: input.encryption };
    const target = await files.open(input.path, "create");
    try {
      const output = await merge(input, context, new PartSink(target, input.gate));
      await target.dataSync();
      await target.close();
      if (output.meta === undefined) await files.remove(input.path);
      else await verifyBlocks(new PartFile(context, input.path, output.meta));
      return output;
    } catch (error) {
      await target.close();
      await removeQuietly(files, input.path);
      throw error;
    } finally {
      await handles.close();
    }
  },
};

async function merge(input: MergeInput, context: PartContext, sink: PartSink): Promise<MergeOutput> {
  const { id, dataset, order, level, compression, salt, encryption } = input;
  const key =
    encryption === undefined
      ? undefined
      : { keyId: encryption.current, masterKey: encryption.keys[encryption.current] as Uint8Array };
  const writer = new PartWriter({ id, dataset, order, level, compression, salt, encryption: key, sink: sink.take });
  const open = ({ path, meta }: NamedPart): PartFile => new PartFile(context, path, meta);
  const [files, older, erasers] = [input.parts.map(open), input.older.map(open), input.erasers.map(open)];
  const { content, loss } =
    order === "by-sort"
      ? await mergeLogs({ files, older, erasers }, writer, input, sink.pace)
      : await mergeMaps(files, writer, { ...input, isBottom: older.length === 0 }, sink.pace);
  const isEmpty = content.keyHashes.length + content.ids.cells + content.erasures.cells === 0;
  const meta = isEmpty ? undefined : writer.finish(content);
  const before = input.parts.reduce((sum, part) => sum + part.meta.records, 0);
  if (content.records + loss.dropped + loss.erased + loss.superseded !== before) {
    const message = `merging into part ${id}: of ${before} records ${content.records} stay, which isn't what was left out`;
    throw new EhdbError("UNEXPECTED", message, { part: id, before, after: content.records, ...loss });
  }
  await sink.end();
  return { meta, loss };
}

/** Takes the bytes of a file as they are made, and writes them some at a time. */
class PartSink {
  readonly #file: File;
  readonly #gate: JobGate;
  #pieces: Uint8Array[] = [];
  #waiting = 0;
  #written = 0;
  #synced = 0;

  constructor(file: File, gate: JobGate) {
    this.#file = file;
    this.#gate = gate;
  }

  readonly take = (bytes: Uint8Array): void => {
    this.#pieces.push(bytes);
    this.#waiting += bytes.length;
  };

  /** Waits when others go first, and writes what is enough. ABORTED when nobody wants the result any more. */
  readonly pace = async (): Promise<void> => {
    await passGate(this.#gate);
    if (this.#waiting >= sliceBytes) await this.#write();
    if (this.#written - this.#synced < syncBytes) return;
    await this.#file.dataSync();
    this.#synced = this.#written;
  };

  async end(): Promise<void> {
    await this.#write();
  }

  async #write(): Promise<void> {
    const bytes = Buffer.concat(this.#pieces);
    this.#pieces = [];
    this.#waiting = 0;
    for (let at = 0; at < bytes.length; at += sliceBytes) {
      await this.#file.write(bytes.subarray(at, at + sliceBytes), this.#written);
      this.#written += Math.min(sliceBytes, bytes.length - at);
    }
  }
}

async function removeQuietly(files: Files, path: string): Promise<void> {
  // What stays is named by nothing, and goes with the next open.
  await files.remove(path).catch(() => undefined);
}
