import type { DatasetEdit, ManifestEdit } from "../meta.ts";
import { packParts, unpackParts } from "./packed-parts.ts";
import type { LiveState, Snapshot } from "./state.ts";

/**
 * What a manifest is a row of: a snapshot, then edits. Each says its number in the file, and the checksum of the one before it
 * (of the header, for the first), so that none is taken for another.
 */
export type Entry = { readonly number: number; readonly after: number } & (
  | { readonly snapshot: Snapshot }
  | { readonly edit: ManifestEdit }
);

/** The first entry of a file, as it's written. */
export function snapshotEntry(after: number, state: LiveState): object {
  const snapshot = state.snapshot();
  return { number: 0, after, snapshot: { ...snapshot, parts: packParts(snapshot.parts) } };
}

const countFields = ["epoch", "sealedThrough", "nextPartId", "edits"] as const;

/** The entry that a text holds, when it has the form of one; what its numbers mean is for the invariants. */
export function parseEntry(text: string): Entry | undefined {
  let entry: unknown;
  try {
    entry = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isRecord(entry) || !isCount(entry["number"]) || !isCount(entry["after"])) return undefined;
  if (entry["number"] === 0 && isRecord(entry["snapshot"])) {
    entry["snapshot"]["parts"] = unpackParts(entry["snapshot"]["parts"]);
  }
  // Format version 1 didn't know of erasures.
  for (const parts of [entry["snapshot"], entry["edit"]].flatMap((one) =>
    isRecord(one) ? [one["parts"], one["add"]] : [],
  )) {
    if (isRecords(parts)) for (const part of parts) part["erasures"] ??= 0;
  }
  const formed = entry["number"] === 0 ? isSnapshot(entry["snapshot"]) : isEdit(entry["edit"]);
  return formed ? (entry as unknown as Entry) : undefined;
}

function isSnapshot(value: unknown): boolean {
  if (!isRecord(value) || !countFields.every((field) => isCount(value[field]))) return false;
  const { store, incarnation, datasets, parts, time } = value;
  if (!isDatasets(datasets) || !isRecords(parts) || typeof time !== "number") return false;
  const nextPartId = value["nextPartId"] as number;
  if (!parts.every(({ id }) => isCount(id) && id < nextPartId)) return false;
  return isName(store) && isName(incarnation) && distinct(datasets) && distinct(parts);
}

function isEdit(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { add = [], remove = [], datasets = [], sealedThrough = 0, time = 0 } = value;
  if (!isRecords(add) || !isDatasets(datasets) || !Array.isArray(remove) || !remove.every(isCount)) return false;
  return typeof sealedThrough === "number" && typeof time === "number";
}

function isDatasets(value: unknown): value is DatasetEdit[] {
  if (!isRecords(value)) return false;
  return value.every(
    ({ name, order, cuts = [] }) =>
      typeof name === "string" && (order === "by-sort" || order === "by-key") && isRecords(cuts),
  );
}

const distinct = (all: readonly { readonly id?: unknown }[]): boolean =>
  new Set(all.map(({ id }) => id)).size === all.length;

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isRecords = (value: unknown): value is Record<string, unknown>[] => Array.isArray(value) && value.every(isRecord);
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
const isName = (value: unknown): boolean => typeof value === "string" && /^[0-9a-f]{32}$/.test(value);
