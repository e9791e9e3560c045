import type { Dataset } from "./dataset.ts";
import type { Generation } from "./generation.ts";
import { LogPart } from "./part/log-part.ts";
import type { MapPart } from "./part/map-part.ts";

/** By dataset; a dataset's parts are in the order of their revisions. */
export interface Parts {
  readonly logs: ReadonlyMap<number, readonly LogPart[]>;
  readonly maps: ReadonlyMap<number, readonly MapPart[]>;
}

/** What there is to read at one moment. Never changed: another moment has another view, and who reads keeps its own. */
export interface View {
  readonly parts: Parts;
  /** In the order of their revisions; the last one takes commits. */
  readonly generations: readonly Generation[];
  /** Rises with each change of `parts`. */
  readonly partsVersion: number;
}

/** Parts by dataset. */
export function partsOf(all: readonly (LogPart | MapPart)[]): Parts {
  const logs = new Map<number, LogPart[]>();
  const maps = new Map<number, MapPart[]>();
  // The parts of an import have one revision.
  const inOrder = all.toSorted(
    ({ meta: a }, { meta: b }) => a.firstRevision - b.firstRevision || a.firstSort - b.firstSort,
  );
  for (const part of inOrder) {
    const { dataset } = part.meta;
    if (part instanceof LogPart) add(logs, dataset, part);
    else add(maps, dataset, part);
  }
  return { logs, maps };
}

function add<T>(lists: Map<number, T[]>, key: number, item: T): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [item]);
  else list.push(item);
}

export function logParts(view: View, dataset: Dataset): readonly LogPart[] {
  return view.parts.logs.get(dataset.id) ?? [];
}

export function mapParts(view: View, dataset: Dataset): readonly MapPart[] {
  return view.parts.maps.get(dataset.id) ?? [];
}
