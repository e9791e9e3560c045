import { join } from "node:path";
import type { File, Host } from "@ehdb/host";
import type { DecryptionKeys } from "./api.ts";
import { segmentCipher, wrongKey } from "./cipher.ts";
import type { SegmentCipher } from "./cipher.ts";
import { DATA_START, decodePreamble, decodeSegmentHeader, flag, OPEN_BODY_BYTES, saltSeed } from "./format.ts";
import type { Preamble, SegmentHeader } from "./format.ts";
import { isDirectory } from "./machine-error.ts";
import { SparseIndex } from "./sparse-index.ts";
import { BatchWalker } from "./walker.ts";

const segmentName = /^(\d{16})\.segment$/;
/** Ids go up by one; a name beyond isn't ours, and numbers stay whole. */
const mostId = 2 ** 52;
const temporaryName = /\.(?:segment|reserve)\.[0-9a-f]+\.tmp$/;

export const segmentPath = (dir: string, id: number): string => join(dir, `${String(id).padStart(16, "0")}.segment`);

/** The segment's id in a file name; `undefined` for other files. */
export function segmentId(name: string): number | undefined {
  const match = segmentName.exec(name);
  const id = Number(match?.[1] ?? 0);
  return id > 0 && id <= mostId ? id : undefined;
}

export const isTemporary = (name: string): boolean => temporaryName.test(name);

/** A started segment of the live chain: who it is, and which part of it is readable. */
export class Segment {
  readonly id: number;
  readonly path: string;
  readonly salt: Uint8Array;
  readonly seed: number;
  readonly keyId: string;
  readonly cipher: SegmentCipher | undefined;
  readonly preamble: Preamble;
  readonly epoch: number;
  /** When it was started, milliseconds since 1970. */
  readonly openedMillis: number;
  /** The first batch's checksum, and where it ends. */
  readonly openCrc: number;
  readonly openEnd: number;
  readonly index: SparseIndex;
  /** Batches up to this offset are part of the log; `last` is the last sequence among them, `lastCrc` the checksum of the last. */
  end: number;
  last: number;
  lastCrc: number;
  /** The time of its last record; `undefined` where that isn't known without reading it. */
  lastMillis: number | undefined;
  /** The size of its file, space made ahead included. */
  fileBytes = 0;

  constructor(
    header: SegmentHeader,
    path: string,
    opening: { preamble: Preamble; epoch: number; time: number; crc: number; end: number },
    cipher: SegmentCipher | undefined,
    indexStride: number,
  ) {
    this.id = header.id;
    this.path = path;
    this.salt = header.salt;
    this.seed = saltSeed(header.salt);
    this.keyId = header.keyId;
    this.cipher = cipher;
    this.preamble = opening.preamble;
    this.epoch = opening.epoch;
    this.openedMillis = opening.time;
    this.openCrc = opening.crc;
    this.openEnd = opening.end;
    this.index = new SparseIndex(indexStride);
    this.end = opening.end;
    this.last = opening.preamble.firstSequence - 1;
    this.lastCrc = opening.crc;
  }

  get first(): number {
    return this.preamble.firstSequence;
  }
}

/** What a file under a segment's final name turned out to be. */
export type FoundSegment =
  | { readonly state: "started"; readonly segment: Segment; readonly bytes: number }
  /** A whole header, but no whole first batch. */
  | {
      readonly state: "unstarted";
      readonly id: number;
      readonly path: string;
      readonly seed: number;
      readonly bytes: number;
    }
  /** Nothing but zeros, or nothing at all. */
  | { readonly state: "empty"; readonly id: number; readonly path: string; readonly bytes: number }
  | {
      readonly state: "damaged";
      readonly id: number;
      readonly path: string;
      readonly bytes: number;
      readonly reason: string;
    };

export interface LoadContext {
  readonly host: Host;
  readonly dir: string;
  readonly encryption: DecryptionKeys | undefined;
  readonly indexStride: number;
}

export async function loadSegment(context: LoadContext, id: number): Promise<FoundSegment> {
  const path = segmentPath(context.dir, id);
  try {
    return await readSegment(context, id, path);
  } catch (error) {
    if (!isDirectory(error)) throw error;
    return { state: "damaged", id, path, bytes: 0, reason: "it is a directory" };
  }
}

async function readSegment(context: LoadContext, id: number, path: string): Promise<FoundSegment> {
  const file = await context.host.files.open(path, "read");
  try {
    const bytes = await file.size();
    const page = Buffer.alloc(DATA_START);
    const read = await file.read(page, 0);
    const header = decodeSegmentHeader(page.subarray(0, read), path);
    if (header === undefined) {
      if (await onlyZeros(file, bytes)) return { state: "empty", id, path, bytes };
      return { state: "damaged", id, path, bytes, reason: "its header doesn't match its checksum" };
    }
    if (bytes < DATA_START) return { state: "damaged", id, path, bytes, reason: "it was cut within its first page" };
    if (header.id !== id) return { state: "damaged", id, path, bytes, reason: `its header says segment ${header.id}` };
    return await readOpening(context, file, header, path, bytes);
  } finally {
    await file.close();
  }
}

async function readOpening(
  context: LoadContext,
  file: File,
  header: SegmentHeader,
  path: string,
  bytes: number,
): Promise<FoundSegment> {
  const seed = saltSeed(header.salt);
  const walker = new BatchWalker(file, seed, { offset: DATA_START, number: 0 }, bytes, { chunkBytes: DATA_START });
  const open = await walker.next();
  const whole =
    open !== undefined && (open.header.flags & flag.open) !== 0 && open.header.bodyBytes === OPEN_BODY_BYTES;
  if (!whole) return { state: "unstarted", id: header.id, path, seed, bytes };
  const preamble = decodePreamble(open.body);
  const cipher = segmentCipher(context.encryption, header.keyId, header.salt, path);
  if (cipher !== undefined && !Buffer.from(preamble.keyCheck).equals(cipher.keyCheck))
    throw wrongKey(path, header.keyId);
  const { epoch, time, crc } = open.header;
  const opening = { preamble, epoch, time, crc, end: walker.offset };
  const segment = new Segment(header, path, opening, cipher, context.indexStride);
  segment.fileBytes = bytes;
  return { state: "started", segment, bytes };
}

async function onlyZeros(file: File, bytes: number): Promise<boolean> {
  const chunk = Buffer.alloc(Math.min(bytes, 1 << 18));
  for (let at = 0; at < bytes; at += chunk.length) {
    const read = await file.read(chunk, at);
    if (read === 0) return true;
    for (let i = 0; i < read; i++) if (chunk[i] !== 0) return false;
  }
  return true;
}
