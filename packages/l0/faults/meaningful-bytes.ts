import { join } from "node:path";
import type { Host } from "@ehdb/host";
import { ENTRY_HEADER_BYTES, keyTextAt, sortAt } from "../src/envelope.ts";
import { ENTRY_HEADER_BYTES as MANIFEST_ENTRY_BYTES, HEADER_BYTES } from "../src/manifest/format.ts";
import { readManifest } from "../src/manifest/read-manifest.ts";
import { BLOCK_HEADER_BYTES, statedPlace } from "../src/part/block.ts";
import { PART_FOOTER_BYTES, PART_HEADER_BYTES } from "../src/part/part-format.ts";
import { slotAt, slotCount } from "../src/part/slots.ts";

/** Bytes of a file that are damaged together: a page, a block, an entry, a batch. */
export interface Piece {
  readonly kind: "part" | "manifest" | "segment";
  readonly file: string;
  readonly start: number;
  readonly end: number;
  /** What is lost with it: positions of the log, keys of the map, commits. */
  readonly sorts: ReadonlySet<number>;
  readonly keys: ReadonlySet<string>;
  readonly revisions: ReadonlySet<number>;
}

const nothing = { sorts: new Set<number>(), keys: new Set<string>(), revisions: new Set<number>() };

/**
 * All bytes of a closed store that mean something. Left out are:
 *
 *  - in manifests that aren't in force any more, the last edit: damaged it looks like one that a crash cut short, which nobody was promised;
 *  - in segments, the zeros of the first page behind the header, those between batches and behind the last one: nothing is read there;
 *  - the newest segment's last mark, and in others the marks behind the last record: no later batch states them, or they are void.
 *
 * In parts every byte counts.
 */
export async function meaningfulBytes(host: Host, dir: string, isLog: (part: string) => boolean): Promise<Piece[]> {
  const { file: inForce } = await readManifest({ host, dir });
  const pieces: Piece[] = [];
  const names = async (directory: string, pattern: RegExp): Promise<string[]> =>
    (await host.files.list(directory)).filter((name) => pattern.test(name)).map((name) => join(directory, name));
  for (const file of await names(join(dir, "parts"), /\.part$/))
    pieces.push(...inPart(file, await bytesOf(host, file), isLog(file)));
  for (const file of await names(dir, /^CURRENT$/))
    pieces.push({ ...nothing, kind: "manifest", file, start: 0, end: (await bytesOf(host, file)).length });
  for (const file of await names(dir, /^manifest-\d+$/))
    pieces.push(...inManifest(file, await bytesOf(host, file), file === inForce));
  const segments = await names(join(dir, "journal"), /\.segment$/);
  for (const file of segments) pieces.push(...inSegment(file, await bytesOf(host, file), file === segments.at(-1)));
  return pieces;
}

async function bytesOf(host: Host, path: string): Promise<Buffer> {
  const file = await host.files.open(path, "read");
  try {
    const bytes = Buffer.alloc(await file.size());
    await file.read(bytes, 0);
    return bytes;
  } finally {
    await file.close();
  }
}

/** Of a part that is neither compressed nor encrypted. */
function inPart(file: string, bytes: Buffer, isLog: boolean): Piece[] {
  const kind = "part" as const;
  const footer = bytes.length - PART_FOOTER_BYTES;
  const pieces: Piece[] = [
    { ...nothing, kind, file, start: 0, end: PART_HEADER_BYTES },
    { ...nothing, kind, file, start: footer, end: bytes.length },
  ];
  for (let at = PART_HEADER_BYTES; at < footer;) {
    const place = statedPlace(bytes.subarray(at, at + BLOCK_HEADER_BYTES), at);
    if (place === undefined) throw new Error(`${file} has no block at ${at}`);
    const end = at + place.bytes;
    const [sorts, keys] = [new Set<number>(), new Set<string>()];
    const plain = bytes.subarray(at + BLOCK_HEADER_BYTES, end);
    for (let slot = 0; place.kind === "data" && slot < slotCount(plain); slot++) {
      const op = slotAt(plain, slot) + ENTRY_HEADER_BYTES;
      if (isLog) sorts.add(sortAt(plain, op));
      else keys.add(keyTextAt(plain, op));
    }
    pieces.push({ ...nothing, kind, file, start: at, end, sorts, keys });
    at = end;
  }
  return pieces;
}

function inManifest(file: string, bytes: Buffer, isInForce: boolean): Piece[] {
  const kind = "manifest" as const;
  const pieces: Piece[] = [{ ...nothing, kind, file, start: 0, end: HEADER_BYTES }];
  for (let at = HEADER_BYTES; at < bytes.length;) {
    const end = at + MANIFEST_ENTRY_BYTES + bytes.readUInt32LE(at);
    pieces.push({ ...nothing, kind, file, start: at, end });
    at = end;
  }
  // Header and snapshot count in any case.
  return pieces.length > 2 && !isInForce ? pieces.slice(0, -1) : pieces;
}

/** As docs/formats/journal.md draws it. */
function inSegment(file: string, bytes: Buffer, isNewest: boolean): Piece[] {
  const kind = "segment" as const;
  const batches: Piece[] = [];
  let counted = 0;
  for (let at = 4096; at + 64 <= bytes.length && bytes.toString("latin1", at, at + 4) === "EHDB";) {
    const end = at + 64 + bytes.readUInt32LE(at + 8);
    const [records, first] = [bytes.readUInt32LE(at + 12), Number(bytes.readBigUInt64LE(at + 16))];
    const revisions = new Set(Array.from({ length: records }, (_, i) => first + i));
    batches.push({ ...nothing, kind, file, start: at, end, revisions });
    if (records > 0 || batches.length === 1) counted = batches.length;
    at = Math.ceil(end / 8) * 8;
  }
  const wanted = isNewest ? batches.slice(0, -1) : batches.slice(0, counted);
  return [{ ...nothing, kind, file, start: 0, end: 128 }, ...wanted];
}
