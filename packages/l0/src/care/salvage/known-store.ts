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
import type { StoreLoss } from "./loss.ts";
import { repairBit } from "./single-bit.ts";

/** What the manifests of a store tell. */
export interface KnownStore {
  /** The manifest in force is whole: what it doesn't name isn't part of the store. */
  readonly isCertain: boolean;
  /** `undefined` when none could be read. */
  readonly state: LiveState | undefined;
  /** The highest there is. */
  readonly manifestId: number;
  readonly losses: readonly StoreLoss[];
}

/** The manifest in force; where it's damaged, the newest one that can be read, as far as it can. */
export async function readKnownStore(host: Host, dir: string): Promise<KnownStore> {
  try {
    const { manifests } = await listDirectory(host, dir);
    const manifestId = manifests.at(-1) ?? 0;
    const losses: StoreLoss[] = [];
    try {
      const found = await readInForce(host, dir);
      if (found !== undefined) return { isCertain: true, state: found.replayed.state, manifestId, losses };
    } catch (error) {
      if (!isEhdbError(error, "CORRUPT")) throw error;
      losses.push(damageOf("manifest", error, currentPath(dir)));
    }
    for (const id of manifests.toReversed()) {
      const bytes = await readWhole(host, manifestPath(dir, id));
      const state = bytes && stateOf(bytes, manifestPath(dir, id));
      if (state !== undefined) return { isCertain: false, state, manifestId, losses };
    }
    return { isCertain: false, state: undefined, manifestId, losses };
  } catch (error) {
    throw diskError(error, "Reading the manifest", dir);
  }
}

/** The snapshot and the edits behind it, up to the first that isn't whole; a single flipped bit is put right. */
function stateOf(bytes: Buffer, path: string): LiveState | undefined {
  const header = headerOf(bytes, path);
  if (header === undefined) return undefined;
  const seed = saltSeed(header.salt);
  let state: LiveState | undefined;
  let number = 0;
  for (let at = HEADER_BYTES; ; number++) {
    const found = entryAt(bytes, at, seed);
    if (found?.entry.number !== number) return state;
    const { entry } = found;
    if ("snapshot" in entry) state = LiveState.fromSnapshot(entry.snapshot);
    else {
      const before: LiveState | undefined = state;
      if (before === undefined || brokenByEdit(before, entry.edit, (id) => !before.parts.has(id)) !== undefined)
        return state;
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
