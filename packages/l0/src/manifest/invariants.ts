/**
 * What every edit keeps, checked before it is written, and again when it is read:
 *
 *  - numbersAreWhole: every number is one, and none is below 0.
 *  - datasetsKeepTheirIdentity: a dataset's name and order stay; no two have one name.
 *  - datasetsNeverGoBack: neither its next position, nor its last revision, nor its floor, nor what it has lost.
 *  - sealedThroughNeverFalls, timeNeverFalls.
 *  - removedPartsExist: and none is removed twice.
 *  - partIdsAreNew: no id is ever used twice.
 *  - partsAreSorted: one edit adds parts in rising order of id.
 *  - partsHaveTheirDataset.
 *  - rangesRise: the first sort, revision and time of a part are not above its last.
 *  - logPartsDoNotOverlap: a position of a log is in one part.
 *  - mapPartsDoNotOverlap: a revision of a map is in one part.
 *  - mapFloorsAreSealed: a map's floor is at or below `sealedThrough`.
 *  - partsAreSealed: what a part holds is at or below `sealedThrough`.
 *  - positionsAreGivenOut: what a part of a log holds is below its dataset's `nextSort`.
 */
import { EhdbError } from "@ehdb/contracts";
import type { DatasetOrder } from "@ehdb/contracts";
import type { DatasetMeta, ManifestEdit, PartMeta } from "../meta.ts";
import { datasetAfter } from "./state.ts";
import type { ManifestState } from "./state.ts";

/** What is wrong, in words; `undefined` when it holds. `isNew` says whether a part's id was never used. */
type Invariant = (state: ManifestState, edit: ManifestEdit, isNew: (id: number) => boolean) => string | undefined;

const wholePartFields = [
  "id",
  "dataset",
  "level",
  "records",
  "fileBytes",
  "firstSort",
  "lastSort",
  "firstRevision",
  "lastRevision",
  "ids",
  "erasures",
] as const;
const risingFields = ["nextSort", "lastRevision", "floor", "superseded", "erased", "dropped"] as const;

const numbersAreWhole: Invariant = (_state, edit) => {
  for (const part of edit.add ?? []) {
    const wrong = wholePartFields.find((field) => !isWhole(part[field]));
    if (wrong !== undefined) return `${wrong} of part ${part.id} is ${part[wrong]}`;
    if (!isTime(part.firstTime) || !isTime(part.lastTime)) return `a time of part ${part.id} is no time`;
  }
  for (const dataset of edit.datasets ?? []) {
    const after = datasetAfter(undefined, dataset);
    const wrong = risingFields.find((field) => !isWhole(after[field]));
    if (wrong !== undefined) return `${wrong} of dataset ${after.id} is ${after[wrong]}`;
    if (after.nextSort < 1) return `nextSort of dataset ${after.id} is ${after.nextSort}`;
    const areCuts = after.cuts.every((cut) => isWhole(cut.epoch) && isWhole(cut.firstSort));
    if (!areCuts) return `a cut of dataset ${after.id} is no cut`;
  }
  if (edit.sealedThrough !== undefined && !isWhole(edit.sealedThrough)) return `sealedThrough is ${edit.sealedThrough}`;
  return edit.time === undefined || isTime(edit.time) ? undefined : `time is ${edit.time}`;
};

const datasetsKeepTheirIdentity: Invariant = (state, edit) => {
  const names = new Map([...state.datasets.values()].map(({ id, name }) => [name, id]));
  for (const { id, name, order } of edit.datasets ?? []) {
    const before = state.datasets.get(id);
    if (!isWhole(id) || id < 1 || id > 255) return `a dataset's id is ${id}, not from 1 to 255`;
    if (before !== undefined && (before.name !== name || before.order !== order)) {
      return `dataset ${id} is ${before.name} (${before.order}), and would become ${name} (${order})`;
    }
    if ((names.get(name) ?? id) !== id) return `datasets ${names.get(name)} and ${id} are both named ${name}`;
    names.set(name, id);
  }
  return undefined;
};

const datasetsNeverGoBack: Invariant = (state, edit) => {
  for (const dataset of edit.datasets ?? []) {
    const before = state.datasets.get(dataset.id);
    const field = before && risingFields.find((name) => (dataset[name] ?? before[name]) < before[name]);
    if (field !== undefined)
      return `${field} of dataset ${dataset.id} would fall from ${before?.[field]} to ${dataset[field]}`;
  }
  return undefined;
};

const sealedThroughNeverFalls: Invariant = (state, { sealedThrough = state.sealedThrough }) =>
  sealedThrough < state.sealedThrough
    ? `sealedThrough would fall from ${state.sealedThrough} to ${sealedThrough}`
    : undefined;

const timeNeverFalls: Invariant = (state, { time = state.time }) =>
  time < state.time ? `time would fall from ${state.time} to ${time}` : undefined;

const removedPartsExist: Invariant = (state, { remove = [] }) => {
  const missing = remove.find((id, place) => !state.parts.has(id) || remove.indexOf(id) !== place);
  return missing === undefined ? undefined : `part ${missing} is removed and isn't there`;
};

const partIdsAreNew: Invariant = (_state, { add = [] }, isNew) => {
  const seen = new Set<number>();
  for (const { id } of add) {
    if (id < 1 || seen.has(id) || !isNew(id)) return `the id ${id} of an added part isn't new`;
    seen.add(id);
  }
  return undefined;
};

const partsAreSorted: Invariant = (_state, { add = [] }) => {
  const wrong = add.find((part, place) => part.id <= (add[place - 1]?.id ?? 0));
  return wrong === undefined ? undefined : `part ${wrong.id} comes behind part ${add[add.indexOf(wrong) - 1]?.id}`;
};

const partsHaveTheirDataset: Invariant = (state, edit) => {
  const wrong = (edit.add ?? []).find(({ dataset }) => datasetWith(state, edit, dataset) === undefined);
  return wrong === undefined ? undefined : `part ${wrong.id} is of dataset ${wrong.dataset}, which doesn't exist`;
};

const rangesRise: Invariant = (_state, { add = [] }) => {
  const wrong = add.find(
    (part) =>
      part.firstSort > part.lastSort || part.firstRevision > part.lastRevision || part.firstTime > part.lastTime,
  );
  return wrong === undefined ? undefined : `a range of part ${wrong.id} ends before it begins`;
};

const logPartsDoNotOverlap: Invariant = (state, edit) =>
  firstOverlap(state, edit, "by-sort", ({ firstSort, lastSort }) => [firstSort, lastSort]);

const mapPartsDoNotOverlap: Invariant = (state, edit) =>
  firstOverlap(state, edit, "by-key", ({ firstRevision, lastRevision }) => [firstRevision, lastRevision]);

const partsAreSealed: Invariant = (state, { add = [], sealedThrough = state.sealedThrough }) => {
  const wrong = add.find(({ lastRevision }) => lastRevision > sealedThrough);
  if (wrong === undefined) return undefined;
  return `part ${wrong.id} holds revision ${wrong.lastRevision}, and sealedThrough is ${sealedThrough}`;
};

const positionsAreGivenOut: Invariant = (state, edit) => {
  for (const { id, dataset, lastSort } of edit.add ?? []) {
    const nextSort = datasetWith(state, edit, dataset)?.nextSort ?? 0;
    if (lastSort >= nextSort) return `part ${id} ends at ${lastSort}, and dataset ${dataset} goes on at ${nextSort}`;
  }
  return undefined;
};

const mapFloorsAreSealed: Invariant = (state, edit) => {
  const { sealedThrough = state.sealedThrough } = edit;
  const wrong = (edit.datasets ?? []).find(({ order, floor = 0 }) => order === "by-key" && floor > sealedThrough);
  return wrong && `the floor of dataset ${wrong.id} is ${wrong.floor}, and sealedThrough is ${sealedThrough}`;
};

const ofStates: Readonly<Record<string, Invariant>> = {
  numbersAreWhole,
  datasetsKeepTheirIdentity,
  datasetsNeverGoBack,
  sealedThroughNeverFalls,
  timeNeverFalls,
  removedPartsExist,
  partIdsAreNew,
  partsHaveTheirDataset,
  rangesRise,
  logPartsDoNotOverlap,
  mapPartsDoNotOverlap,
  partsAreSealed,
  positionsAreGivenOut,
  mapFloorsAreSealed,
};
const ofEdits: Readonly<Record<string, Invariant>> = { ...ofStates, partsAreSorted };

/** The first invariant that an edit breaks, and how; `undefined` when it breaks none. */
export function brokenByEdit(
  state: ManifestState,
  edit: ManifestEdit,
  isNew: (id: number) => boolean,
): string | undefined {
  return firstBroken(ofEdits, state, edit, isNew);
}

/** The same of a snapshot: it's an edit of nothing. Its parts stand in the order of adding, which merges mix. */
export function brokenBySnapshot(empty: ManifestState, snapshot: ManifestEdit): string | undefined {
  return firstBroken(ofStates, empty, snapshot, () => true);
}

function firstBroken(
  invariants: Readonly<Record<string, Invariant>>,
  ...facts: Parameters<Invariant>
): string | undefined {
  for (const [name, invariant] of Object.entries(invariants)) {
    const wrong = invariant(...facts);
    if (wrong !== undefined) return `${name}: ${wrong}`;
  }
  return undefined;
}

/** Neither the caller's input nor the disk explains a broken invariant. */
export function brokenInvariant(broken: string): EhdbError {
  const message = `a manifest edit breaks an invariant (${broken}). Nothing was written; report it with this message`;
  return new EhdbError("UNEXPECTED", message, { broken });
}

function datasetWith(state: ManifestState, edit: ManifestEdit, id: number): DatasetMeta | undefined {
  const before = state.datasets.get(id);
  const change = edit.datasets?.find((dataset) => dataset.id === id);
  return change === undefined ? before : datasetAfter(before, change);
}

const isWhole = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;
const isTime = (value: unknown): boolean => Number.isFinite(value) && (value as number) >= 0;

type RangeOf = (part: PartMeta) => readonly [first: number, last: number];

/** Two parts of one dataset of this order whose ranges meet. A part whose range is 0 covers nothing. */
function firstOverlap(
  state: ManifestState,
  edit: ManifestEdit,
  order: DatasetOrder,
  rangeOf: RangeOf,
): string | undefined {
  const added = new Map<number, PartMeta[]>();
  for (const part of edit.add ?? []) {
    if (datasetWith(state, edit, part.dataset)?.order !== order || rangeOf(part)[1] === 0) continue;
    const others = added.get(part.dataset);
    if (others === undefined) added.set(part.dataset, [part]);
    else others.push(part);
  }
  if (added.size === 0) return undefined;
  for (const parts of added.values()) {
    parts.sort((a, b) => rangeOf(a)[0] - rangeOf(b)[0]);
    for (const [place, part] of parts.entries()) {
      const before = parts[place - 1];
      if (before !== undefined && meet(rangeOf(before), rangeOf(part))) return overlap(before, part, rangeOf);
    }
  }
  const removed = new Set(edit.remove);
  for (const there of state.parts.values()) {
    const met = added.get(there.dataset)?.find((part) => meet(rangeOf(part), rangeOf(there)));
    if (met !== undefined && !removed.has(there.id)) return overlap(there, met, rangeOf);
  }
  return undefined;
}

function meet([first, last]: readonly [number, number], [otherFirst, otherLast]: readonly [number, number]): boolean {
  return first <= otherLast && otherFirst <= last;
}

function overlap(a: PartMeta, b: PartMeta, rangeOf: RangeOf): string {
  const range = (part: PartMeta): string => `part ${part.id} (${rangeOf(part).join(" to ")})`;
  return `${range(a)} and ${range(b)} of dataset ${a.dataset} overlap`;
}
