import { isEhdbError } from "@ehdb/contracts";
import type { EhdbError } from "@ehdb/contracts";
import { simulatedHost } from "@ehdb/host";
import type { File, Files, Host, OperationKind, SimulatedHost } from "@ehdb/host";
import { openManifest } from "../../src/manifest/manifest.ts";
import type { Manifest, ManifestOptions } from "../../src/manifest/manifest.ts";
import type { ManifestState } from "../../src/manifest/state.ts";
import { newDataset } from "../../src/meta.ts";
import type { DatasetMeta, ManifestEdit, PartMeta } from "../../src/meta.ts";

export const dir = "/store";
export const current = "/store/CURRENT";
export const file = (id: number): string => `/store/manifest-${String(id).padStart(12, "0")}`;

export const machine = (seed = 1): SimulatedHost => simulatedHost({ seed, keepHistory: 10_000 });

export async function openOn(host: Host, options: Partial<ManifestOptions> = {}): Promise<Manifest> {
  return await openManifest({ host, dir, epoch: 1, ...options });
}

/** Open, and begun with a log and a map. */
export async function begunOn(host: Host, options: Partial<ManifestOptions> = {}): Promise<Manifest> {
  const manifest = await openOn(host, options);
  await manifest.begin({ datasets: [log(1), map] });
  return manifest;
}

/** The log dataset, when its next position is `nextSort`, opened for the nth time. */
export const log = (nextSort: number, opens = 1): DatasetMeta => ({
  ...newDataset(1, "events", "by-sort"),
  nextSort,
  cuts: Array.from({ length: opens }, (_, place) => ({ epoch: place + 1, firstSort: 1 })),
});
export const map: DatasetMeta = newDataset(2, "heads", "by-key");

/** A part of the log with the positions and revisions from `first` to `last`. */
export const part = (id: number, first: number, last = first + 9): PartMeta => ({
  id,
  dataset: 1,
  level: 0,
  records: last - first + 1,
  fileBytes: 4096,
  firstSort: first,
  lastSort: last,
  firstRevision: first,
  lastRevision: last,
  firstTime: 1000 + first,
  lastTime: 1000 + last,
  ids: 0,
  erasures: 0,
});

/** The seal of the ten commits behind `sealedThrough`, as one part. */
export function seal(manifest: Manifest): ManifestEdit {
  const first = manifest.state.sealedThrough + 1;
  const added = part(manifest.takePartId(), first);
  return { add: [added], sealedThrough: first + 9, datasets: [log(first + 10)], time: 1000 + first + 9 };
}

/** The same edit with a field that this release doesn't know, so that it has so many bytes more. */
export const padded = (edit: ManifestEdit, bytes: number): ManifestEdit =>
  Object.assign({}, edit, { padding: "p".repeat(bytes) });

/** The merge of the log's last two parts. */
export function merge(manifest: Manifest): ManifestEdit {
  const [one, other] = [...manifest.state.parts.values()].slice(-2) as [PartMeta, PartMeta];
  const merged = part(manifest.takePartId(), one.firstSort, other.lastSort);
  return { add: [{ ...merged, level: 1 }], remove: [one.id, other.id] };
}

/** What the tests compare: the state without what each open gives anew. */
export interface Plain {
  readonly sealedThrough: number;
  readonly time: number;
  readonly datasets: readonly DatasetMeta[];
  readonly parts: readonly PartMeta[];
}

export const nothing: Plain = { sealedThrough: 0, time: 0, datasets: [], parts: [] };

export const plainOf = ({ sealedThrough, time, datasets, parts }: ManifestState): Plain => ({
  sealedThrough,
  time,
  datasets: [...datasets.values()],
  parts: [...parts.values()],
});

/** The model: what an edit does, said once more and plainly. */
export function after(before: Plain, edit: ManifestEdit): Plain {
  const changed = edit.datasets ?? [];
  return {
    sealedThrough: edit.sealedThrough ?? before.sealedThrough,
    time: edit.time ?? before.time,
    datasets: [
      ...before.datasets.filter(({ id }) => !changed.some((one) => one.id === id)),
      ...changed.map((one) => ({
        ...newDataset(one.id, one.name, one.order),
        ...before.datasets.find(({ id }) => id === one.id),
        ...one,
      })),
    ].toSorted((a, b) => a.id - b.id),
    parts: [...before.parts.filter(({ id }) => edit.remove?.includes(id) !== true), ...(edit.add ?? [])],
  };
}

export async function errorOf(work: Promise<unknown>): Promise<EhdbError> {
  let result: unknown;
  try {
    result = await work;
  } catch (error) {
    if (isEhdbError(error)) return error;
    throw error;
  }
  throw new Error(`it was taken, with ${String(result)}`);
}

export const codeOf = async (work: Promise<unknown>): Promise<string> => (await errorOf(work)).code;

/** What a disk does otherwise; each is told the path. */
export interface Detour {
  /** The sync of a file resolves, and nothing is synced. */
  readonly skipsSync?: (path: string) => boolean;
  readonly skipsDirectorySync?: (path: string) => boolean;
  readonly lists?: (names: string[], path: string) => string[];
  /** Before every operation. */
  readonly before?: (kind: OperationKind) => void;
}

/** A host that takes detours: to plant a defect below the manifest, or to fail at a chosen operation. */
export function detoured(host: SimulatedHost, detour: Detour): Host {
  const { files, clock, random, workers } = host;
  const before = (kind: OperationKind): void => detour.before?.(kind);
  const fileOf = (real: File): File =>
    overriding(real, {
      write: (bytes: Uint8Array, position: number) => (before("write"), real.write(bytes, position)),
      dataSync: () =>
        detour.skipsSync?.(real.path) === true ? Promise.resolve() : (before("dataSync"), real.dataSync()),
    });
  const detouring: Files = overriding(files, {
    open: async (path, mode) => (before(mode === "create" ? "create" : "open"), fileOf(await files.open(path, mode))),
    rename: (from, to) => (before("rename"), files.rename(from, to)),
    syncDirectory: (path) =>
      detour.skipsDirectorySync?.(path) === true
        ? Promise.resolve()
        : (before("syncDirectory"), files.syncDirectory(path)),
    list: async (path) => detour.lists?.(await files.list(path), path) ?? (await files.list(path)),
  });
  return { files: detouring, clock, random, workers };
}

/** `real`, some of whose methods are others. */
function overriding<T extends object>(real: T, methods: Partial<T>): T {
  return new Proxy(real, {
    get(target, name): unknown {
      const value: unknown = Reflect.get(name in methods ? methods : target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

export async function overwrite(host: Host, path: string, bytes: Uint8Array): Promise<void> {
  const opened = await host.files.open(path, "write");
  await opened.truncate(0);
  await opened.write(bytes, 0);
  await opened.dataSync();
  await opened.close();
}

export async function touch(host: Host, path: string): Promise<void> {
  const made = await host.files.open(path, "create");
  await made.close();
}
