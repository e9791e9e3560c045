import { corrupt } from "./damage.ts";
import { parseEntry } from "./entries.ts";
import type { Entry } from "./entries.ts";
import {
  decodeHeader,
  ENTRY_HEADER_BYTES,
  entryLength,
  HEADER_BYTES,
  headerCrc,
  saltSeed,
  storedCrc,
} from "./format.ts";
import type { ManifestHeader } from "./format.ts";
import { brokenByEdit, brokenBySnapshot } from "./invariants.ts";
import { LiveState } from "./state.ts";

export interface Replayed {
  readonly header: ManifestHeader;
  readonly headerCrc: number;
  readonly state: LiveState;
  /** Edits behind the snapshot. */
  readonly edits: number;
  /** Where the last whole edit ends. */
  readonly end: number;
  /** What lies behind it: an edit that was never acknowledged. */
  readonly tornBytes: number;
}

/**
 * What the bytes of a manifest say. CORRUPT when its header or snapshot isn't whole, for both were synced before the file had its
 * name, and when a whole entry stands where it doesn't belong: behind one that isn't, or out of its row.
 */
export function replay(bytes: Buffer, path: string, id: number): Replayed {
  const header = decodeHeader(bytes, path);
  if (header === undefined) throw corrupt(path, 0, "its header doesn't match its checksum");
  if (header.id !== id) throw corrupt(path, 0, `its header says manifest ${header.id}`);
  const seed = saltSeed(header.salt);
  let state: LiveState | undefined;
  let at = HEADER_BYTES;
  let after = headerCrc(bytes);
  let number = 0;
  for (;;) {
    const entry = entryAt(bytes, at, seed, path);
    if (entry === undefined || entry.number !== number || entry.after !== after) break;
    state = advance(state, entry, header, path, at);
    after = storedCrc(bytes, at);
    at += ENTRY_HEADER_BYTES + bytes.readUInt32LE(at);
    number++;
  }
  const stray = wholeEntryFrom(bytes, at, seed);
  if (state === undefined) throw corrupt(path, at, "its snapshot isn't whole");
  if (stray !== undefined) {
    throw corrupt(path, at, `edit ${number} isn't whole, and a whole entry, written later, begins at byte ${stray}`);
  }
  return { header, headerCrc: headerCrc(bytes), state, edits: number - 1, end: at, tornBytes: bytes.length - at };
}

function entryAt(bytes: Buffer, at: number, seed: number, path: string): Entry | undefined {
  const length = entryLength(bytes, at, seed);
  if (length === undefined) return undefined;
  const start = at + ENTRY_HEADER_BYTES;
  const entry = parseEntry(bytes.toString("utf8", start, start + length));
  if (entry === undefined) throw corrupt(path, at, "an entry matches its checksum and isn't of its form");
  return entry;
}

function advance(
  state: LiveState | undefined,
  entry: Entry,
  header: ManifestHeader,
  path: string,
  at: number,
): LiveState {
  const next = "snapshot" in entry ? LiveState.fromSnapshot(entry.snapshot) : (state as LiveState);
  if ("snapshot" in entry) {
    const { parts, ...rest } = entry.snapshot;
    if (rest.store !== header.store || rest.incarnation !== header.incarnation) {
      throw corrupt(path, at, "its snapshot is of another store than its header");
    }
    const broken = brokenBySnapshot(new LiveState(rest.store, rest.incarnation), { ...rest, add: parts });
    if (broken !== undefined) throw corrupt(path, at, `its snapshot breaks an invariant (${broken})`);
    return next;
  }
  const broken = brokenByEdit(next, entry.edit, (id) => !next.parts.has(id));
  if (broken !== undefined) throw corrupt(path, at, `edit ${entry.number} breaks an invariant (${broken})`);
  next.apply(entry.edit);
  return next;
}

/** Where the first whole entry begins, at `from` or anywhere behind it. No torn write leaves one. */
function wholeEntryFrom(bytes: Buffer, from: number, seed: number): number | undefined {
  for (let at = from; at + ENTRY_HEADER_BYTES < bytes.length; at++) {
    if (entryLength(bytes, at, seed) !== undefined) return at;
  }
  return undefined;
}
