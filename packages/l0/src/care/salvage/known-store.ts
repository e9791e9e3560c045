import type { Host } from "@ehdb/host";
import { isEhdbError } from "@ehdb/contracts";
import { diskError } from "../../manifest/disk-error.ts";
import { parseEntry } from "../../manifest/entries.ts";
import type { Entry } from "../../manifest/entries.ts";
import { decodeHeader, ENTRY_HEADER_BYTES, entryLength, HEADER_BYTES, saltSeed } from "../../manifest/format.ts";
import type { ManifestHeader } from "../../manifest/format.ts";
import { readInForce, readWhole } from "../../manifest/in-force.ts";
import { brokenByEdit } from "../../manifest/invariants.ts";
import { currentPath, listDirectory, manifestPath } from "../../manifest/layout.ts";
import { LiveState } from "../../manifest/state.ts";
import { damageOf } from "../damage.ts";
import type { StoreDamage } from "../damage.ts";
import type { StoreLoss } from "./loss.ts";
import { repairBit } from "./single-bit.ts";

/** What the manifests of a store tell. */
export interface KnownStore {
  /** What the manifest in force doesn't name isn't part of the store. */
  readonly isCertain: boolean;
  /** The edits that were read of it, to tell whether somebody writes it; `undefined` when it's damaged. */
  readonly edits: number | undefined;
  /** `undefined` when none could be read. */
  readonly state: LiveState | undefined;
  /** The highest there is. */
  readonly manifestId: number;
  readonly losses: readonly StoreLoss[];
}

/**
 * The manifest in force; where it's damaged, the newest one that can be read, as far as it can. What looks like an edit that was being written may be
 * one that was durable, and is damaged: it counts when a single bit is wrong with it. Otherwise the manifest is certain only when
 * `fits` says that nothing is missing without it.
 */
export async function readKnownStore(
  host: Host,
  dir: string,
  fits: (state: LiveState) => Promise<boolean>,
): Promise<KnownStore> {
  try {
    const { manifests } = await listDirectory(host, dir);
    const manifestId = manifests.at(-1) ?? 0;
    const losses: StoreLoss[] = [];
    try {
      const found = await readInForce(host, dir);
      if (found !== undefined) {
        const { state: read, end, tornBytes, header } = found.replayed;
        const { edits } = read;
        const repaired = tornBytes === 0 ? undefined : await withoutTear(host, manifestPath(dir, header.id), end);
        if (repaired !== undefined) losses.push(repaired.damage);
        const state = repaired?.state ?? read;
        const isCertain = tornBytes === 0 || repaired !== undefined || (await fits(state));
        return { isCertain, edits, state, manifestId, losses };
      }
    } catch (error) {
      if (!isEhdbError(error, "CORRUPT")) throw error;
      losses.push(damageOf("manifest", error, currentPath(dir)));
    }
    for (const id of manifests.toReversed()) {
      const bytes = await readWhole(host, manifestPath(dir, id));
      const state = bytes && stateOf(bytes, manifestPath(dir, id))?.state;
      if (state !== undefined) return { isCertain: false, edits: undefined, state, manifestId, losses };
    }
    return { isCertain: false, edits: undefined, state: undefined, manifestId, losses };
  } catch (error) {
    throw diskError(error, "Reading the manifest", dir);
  }
}

/** What the manifest says when a single bit keeps its last edit from being read; `undefined` when that isn't all that is wrong. */
async function withoutTear(
  host: Host,
  path: string,
  at: number,
): Promise<{ readonly state: LiveState; readonly damage: StoreDamage } | undefined> {
  const bytes = await readWhole(host, path);
  const found = bytes && stateOf(bytes, path);
  if (found === undefined || found.end !== bytes?.length) return undefined;
  const reason = "a bit of its last edit is flipped";
  return { state: found.state, damage: { kind: "manifest", file: path, offset: at, reason } };
}

/** The snapshot and the edits behind it, up to the first that isn't whole, where they end; a single flipped bit is put right. */
function stateOf(bytes: Buffer, path: string): { readonly state: LiveState; readonly end: number } | undefined {
  const header = headerOf(bytes, path);
  if (header === undefined) return undefined;
  const seed = saltSeed(header.salt);
  let state: LiveState | undefined;
  let number = 0;
  for (let at = HEADER_BYTES; ; number++) {
    const found = entryAt(bytes, at, seed);
    const known = state && { state, end: at };
    if (found?.entry.number !== number) return known;
    const { entry } = found;
    if ("snapshot" in entry) state = LiveState.fromSnapshot(entry.snapshot);
    else {
      const before: LiveState | undefined = state;
      if (before === undefined || brokenByEdit(before, entry.edit, (id) => !before.parts.has(id)) !== undefined)
        return known;
      before.apply(entry.edit);
    }
    at += ENTRY_HEADER_BYTES + found.length;
  }
}

function headerOf(bytes: Buffer, path: string): ManifestHeader | undefined {
  if (bytes.length < HEADER_BYTES) return undefined;
  const whole = decodeHeader(bytes, path);
  if (whole !== undefined) return whole;
  const header = bytes.subarray(0, HEADER_BYTES - 4);
  const checksum = bytes.readUInt32LE(HEADER_BYTES - 4);
  if (!repairBit(header, checksum)) return undefined;
  return decodeHeader(bytes, path);
}

function entryAt(bytes: Buffer, at: number, seed: number): { entry: Entry; length: number } | undefined {
  if (at + ENTRY_HEADER_BYTES > bytes.length) return undefined;
  const stated = bytes.readUInt32LE(at);
  for (const length of [stated, ...Array.from({ length: 32 }, (_, bit) => (stated ^ (1 << bit)) >>> 0)]) {
    const end = at + ENTRY_HEADER_BYTES + length;
    if (end > bytes.length || length < 2) continue;
    bytes.writeUInt32LE(length, at);
    const entry = wholeEntry(bytes, at, length, seed) ?? (length === stated && repairedEntry(bytes, at, length, seed));
    if (entry) return { entry, length };
  }
  bytes.writeUInt32LE(stated, at);
  return undefined;
}

function wholeEntry(bytes: Buffer, at: number, length: number, seed: number): Entry | undefined {
  if (entryLength(bytes, at, seed) === undefined) return undefined;
  const start = at + ENTRY_HEADER_BYTES;
  return parseEntry(bytes.toString("utf8", start, start + length));
}

function repairedEntry(bytes: Buffer, at: number, length: number, seed: number): Entry | undefined {
  const start = at + ENTRY_HEADER_BYTES;
  // The checksum is of the length, then of the text.
  const content = Buffer.concat([bytes.subarray(at, at + 4), bytes.subarray(start, start + length)]);
  if (!repairBit(content, bytes.readUInt32LE(at + 4), seed) || content.readUInt32LE(0) !== length) return undefined;
  return parseEntry(content.toString("utf8", 4));
}
