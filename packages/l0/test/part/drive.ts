import type { LogRecord } from "@ehdb/contracts";
import { MIB } from "@ehdb/contracts";
import { simulatedHost } from "@ehdb/host";
import type { SimulatedHost } from "@ehdb/host";
import type { KeyRing } from "@ehdb/journal";
import { BlockCache } from "../../src/block-cache.ts";
import { opBytes, operation, writeOp } from "../../src/envelope.ts";
import type { Operation } from "../../src/envelope.ts";
import type { PartMeta } from "../../src/meta.ts";
import type { MapEntry } from "../../src/part/entry-cells.ts";
import { LogPart } from "../../src/part/log-part.ts";
import { MapPart } from "../../src/part/map-part.ts";
import { PartBuilder } from "../../src/part/part-builder.ts";
import type { PartBuilderOptions } from "../../src/part/part-builder.ts";
import type { PartDamage } from "../../src/part/part-damage.ts";
import type { PartContext } from "../../src/part/part-file.ts";
import { PartHandles } from "../../src/part/part-handles.ts";

export const dataset = 3;
export const path = "/store/parts/000000000007.part";
export const masterKey: Uint8Array = noise(32, 99);
export const ring: KeyRing = { current: "k", keys: { k: masterKey } };

export interface LogItem {
  readonly sort: number;
  readonly key: string;
  readonly version: number;
  readonly id?: string | undefined;
  readonly payload: Uint8Array;
}

export interface MapItem {
  readonly key: string;
  readonly revision: number;
  readonly operation: Operation;
  readonly payload: Uint8Array;
}

export interface Built {
  readonly meta: PartMeta;
  readonly bytes: Buffer;
}

/** Reproducible bytes that don't compress. */
export function noise(count: number, seed: number): Buffer {
  const bytes = Buffer.alloc(count);
  let state = (seed * 2_654_435_761 + 1) >>> 0;
  for (let i = 0; i < count; i++) {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) >>> 0;
    bytes[i] = state >>> 24;
  }
  return bytes;
}

export const revisionOf = (sort: number): number => 100 + Math.floor(sort / 3);
export const timeOf = (revision: number): number => 1_700_000_000_000 + revision * 10;
/** A content hash that depends on the id. */
export const hashOf = (id: string): Buffer => noise(8, id.length * 31 + (id.codePointAt(0) ?? 0));

export function appendOp(item: LogItem, of: number = dataset): Buffer {
  return op(
    {
      operation: operation.append,
      dataset: of,
      key: item.key,
      keyBytes: Buffer.byteLength(item.key),
      id: item.id,
      idBytes: Buffer.byteLength(item.id ?? ""),
      hash: item.id === undefined ? Buffer.alloc(0) : hashOf(item.id),
      payload: item.payload,
    },
    item.sort,
    item.version,
  );
}

export function mapOp(item: MapItem): Buffer {
  const none = Buffer.alloc(0);
  const { payload } = item;
  const key = { key: item.key, keyBytes: Buffer.byteLength(item.key) };
  return op({ operation: item.operation, dataset, ...key, id: undefined, idBytes: 0, hash: none, payload }, 0, 0);
}

function op(content: Parameters<typeof writeOp>[2], sort: number, version: number): Buffer {
  const bytes = Buffer.alloc(opBytes(content));
  writeOp(bytes, 0, content, sort, version);
  return bytes;
}

export function builder(options: Partial<PartBuilderOptions> = {}): { readonly builder: PartBuilder; finish(): Built } {
  const pieces: Uint8Array[] = [];
  const sink = (bytes: Uint8Array): number => pieces.push(bytes);
  const defaults = { id: 7, dataset, order: "by-sort", level: 0, compression: "none", salt: noise(32, 5) } as const;
  const part = new PartBuilder({ ...defaults, sink, ...options });
  return {
    builder: part,
    finish() {
      const meta = part.finish();
      return { meta, bytes: Buffer.concat(pieces) };
    },
  };
}

export function buildLog(items: readonly LogItem[], options: Partial<PartBuilderOptions> = {}): Built {
  const { builder: part, finish } = builder(options);
  for (const item of items) part.add(appendOp(item), 0, revisionOf(item.sort), timeOf(revisionOf(item.sort)));
  return finish();
}

/** @param items in any order */
export function buildMap(items: readonly MapItem[], options: Partial<PartBuilderOptions> = {}): Built {
  const { builder: part, finish } = builder({ order: "by-key", ...options });
  for (const item of inOrder(items)) part.add(mapOp(item), 0, item.revision, timeOf(item.revision));
  return finish();
}

export function inOrder(items: readonly MapItem[]): MapItem[] {
  return [...items].sort((a, b) => Buffer.compare(Buffer.from(a.key), Buffer.from(b.key)) || b.revision - a.revision);
}

export interface Stage extends PartContext {
  readonly host: SimulatedHost;
}

/** The part's file on a simulated disk. */
export async function stage(
  bytes: Uint8Array,
  options: { seed?: number; encryption?: KeyRing | undefined; cacheBytes?: number; maxHandles?: number } = {},
): Promise<Stage> {
  const host = simulatedHost({ seed: options.seed ?? 1 });
  await host.files.makeDirectory("/store/parts");
  await place(host, path, bytes);
  return {
    host,
    cache: new BlockCache(options.cacheBytes ?? 64 * MIB),
    handles: new PartHandles(host.files, options.maxHandles),
    encryption: options.encryption,
  };
}

export async function place(host: SimulatedHost, at: string, bytes: Uint8Array): Promise<void> {
  const file = await host.files.open(at, "create");
  await file.write(bytes, 0);
  await file.dataSync();
  await file.close();
  await host.files.syncDirectory("/store/parts");
}

export async function logPart(built: Built, options: Parameters<typeof stage>[1] = {}): Promise<LogPart> {
  return new LogPart(await stage(built.bytes, options), path, built.meta);
}

export async function mapPart(built: Built, options: Parameters<typeof stage>[1] = {}): Promise<MapPart> {
  return new MapPart(await stage(built.bytes, options), path, built.meta);
}

export async function all<T>(batches: AsyncIterable<readonly T[]>): Promise<T[]> {
  const found: T[] = [];
  for await (const batch of batches) found.push(...batch);
  return found;
}

export async function damages(part: LogPart | MapPart): Promise<PartDamage[]> {
  const found: PartDamage[] = [];
  await part.verify((damage) => found.push(damage));
  return found;
}

export async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return "none";
  } catch (error) {
    return error instanceof Error && "code" in error ? String(error.code) : String(error);
  }
}

/** What is read back of an item, payload in hexadecimal. */
export function shown(record: LogRecord): unknown {
  const { sort, key, version, revision, time, id } = record;
  return { sort, key, version, revision, time, id, payload: Buffer.from(record.payload).toString("hex") };
}

export function expected(item: LogItem): unknown {
  const revision = revisionOf(item.sort);
  const { sort, key, version, id } = item;
  return {
    sort,
    key,
    version,
    revision,
    time: timeOf(revision),
    id,
    payload: Buffer.from(item.payload).toString("hex"),
  };
}

export function shownEntry({ operation: kind, record }: MapEntry): unknown {
  const { key, revision, time } = record;
  return { kind, key, revision, time, payload: Buffer.from(record.payload).toString("hex") };
}

export function expectedEntry(item: MapItem): unknown {
  const { key, revision } = item;
  const payload = Buffer.from(item.payload).toString("hex");
  return { kind: item.operation, key, revision, time: timeOf(revision), payload };
}

/** A log of `count` records over `keys` keys; every third one has an id, and positions have a gap now and then. */
export function sampleLog(count: number, keys: number, bytes: number, firstVersion: number = 1): LogItem[] {
  const versions = new Map<string, number>();
  let sort = 10;
  return Array.from({ length: count }, (_, i) => {
    const key = `key-${(i * 7919) % keys}`;
    const version = versions.get(key) ?? firstVersion;
    versions.set(key, version + 1);
    sort += i % 17 === 16 ? 3 : 1;
    const id = i % 3 === 0 ? `id-${i}-${noise(4, i).toString("hex")}` : undefined;
    return { sort, key, version, id, payload: noise(bytes, i) };
  });
}
