/**
 * The bytes of a segment. docs/formats/journal.md draws them and argues each crash case; change both together.
 *
 * All numbers are little-endian; u64 holds safe integers only.
 */
import { crc32 } from "node:zlib";
import { EhdbError, MAX_SEQUENCE } from "@ehdb/contracts";

export const FORMAT_VERSION = 1;
export const SEGMENT_HEADER_BYTES = 128;
/** Batches start here: the header's page is synced before it's used, and never written again. */
export const DATA_START = 4096;
export const BATCH_HEADER_BYTES = 64;
export const BATCH_ALIGNMENT = 8;
/** What the header's own checksum covers, and encryption authenticates: from 8 to here. */
export const HEADER_FIELDS_END = 60;
/** Kept free in each segment for durable marks. */
export const MARK_RESERVE_BYTES = 4096;
export const OPEN_BODY_BYTES = 56;
/** The body of a LOW WATER mark. */
export const LOW_WATER_BODY_BYTES = 16;
export const SALT_BYTES = 32;
export const MAX_KEY_ID_BYTES = 63;
/** A batch body is bounded before its length is believed: the largest write and its framing. */
export const MAX_BODY_BYTES: number = 64 * 1024 * 1024;

const SEGMENT_MAGIC = Buffer.from("EHDBJRNL", "latin1");
/** "EHDB", read as a little-endian u32. */
export const BATCH_MAGIC = 0x42444845;

/** What a batch is. */
export const flag = {
  /** A segment's first batch: the body is the preamble, in plain text. */
  open: 1,
  /** No records: states what is durable. */
  mark: 2,
  compressed: 4,
  encrypted: 8,
  /** A mark whose body is the low water: everything below is void. */
  lowWater: 16,
  /** A mark whose body is the next sequence: what lies between was lost, and salvaged around. */
  gap: 32,
  /** A mark written by a clean close: nothing follows in this segment. Later ones may: another open begins one. */
  clean: 64,
} as const;

const knownFlags = Object.values(flag).reduce((all, one) => all | one, 0);

export interface SegmentHeader {
  readonly id: number;
  readonly salt: Uint8Array;
  /** Empty when the segment isn't encrypted. */
  readonly keyId: string;
}

export interface BatchHeader {
  readonly crc: number;
  readonly bodyBytes: number;
  readonly records: number;
  readonly firstSequence: number;
  readonly durable: number;
  readonly previousCrc: number;
  readonly epoch: number;
  readonly time: number;
  readonly flags: number;
  /** The batch's place in its segment, from 0; also its nonce. */
  readonly number: number;
  /** How many of the segment's batches had been synced when this one was written. */
  readonly synced: number;
}

/** Where what can be read begins. */
export interface LowWater {
  /** Everything below is void. */
  readonly sequence: number;
  /** The epoch of the record right below; 0 when there was none, or it couldn't be read. */
  readonly epoch: number;
}

export const noLowWater: LowWater = { sequence: 1, epoch: 0 };

/** How a segment begins: where in the log it stands, and what came before. */
export interface Preamble {
  readonly firstSequence: number;
  /** 0 when the segment has no predecessor. */
  readonly predecessorId: number;
  readonly predecessorLast: number;
  readonly predecessorEnd: number;
  readonly predecessorCrc: number;
  readonly lowWater: LowWater;
  /** Shows a wrong key before anything is decrypted; zeros when not encrypted. */
  readonly keyCheck: Uint8Array;
}

export const padded = (bytes: number): number => Math.ceil(bytes / BATCH_ALIGNMENT) * BATCH_ALIGNMENT;

/** The seed of every checksum in a segment: a batch of another segment, or a copy stored as payload, doesn't pass. */
export const saltSeed = (salt: Uint8Array): number => crc32(salt);

export function readU64(bytes: Buffer, offset: number): number {
  return bytes.readUInt32LE(offset) + bytes.readUInt32LE(offset + 4) * 0x1_0000_0000;
}

export function writeU64(bytes: Buffer, offset: number, value: number): void {
  bytes.writeUInt32LE(value % 0x1_0000_0000, offset);
  bytes.writeUInt32LE(Math.floor(value / 0x1_0000_0000), offset + 4);
}

export function encodeSegmentHeader(header: SegmentHeader): Buffer {
  const bytes = Buffer.alloc(SEGMENT_HEADER_BYTES);
  const keyId = Buffer.from(header.keyId, "utf8");
  SEGMENT_MAGIC.copy(bytes, 0);
  bytes.writeUInt32LE(FORMAT_VERSION, 8);
  writeU64(bytes, 16, header.id);
  bytes.set(header.salt, 24);
  bytes.writeUInt8(keyId.length, 56);
  keyId.copy(bytes, 57);
  bytes.writeUInt32LE(crc32(bytes.subarray(0, 124)), 124);
  return bytes;
}

/** `undefined` for bytes that aren't a whole header. Throws UNSUPPORTED_VERSION for a whole one of another version. */
export function decodeSegmentHeader(bytes: Buffer, path: string): SegmentHeader | undefined {
  if (bytes.length < SEGMENT_HEADER_BYTES || !bytes.subarray(0, 8).equals(SEGMENT_MAGIC)) return undefined;
  if (crc32(bytes.subarray(0, 124)) !== bytes.readUInt32LE(124)) return undefined;
  const version = bytes.readUInt32LE(8);
  if (version !== FORMAT_VERSION) {
    throw new EhdbError(
      "UNSUPPORTED_VERSION",
      `${path} has format version ${version}; this release reads version ${FORMAT_VERSION}. Open it with the release that wrote it`,
      { file: path, version, supported: FORMAT_VERSION },
    );
  }
  const keyIdBytes = bytes.readUInt8(56);
  if (keyIdBytes > MAX_KEY_ID_BYTES) return undefined;
  return {
    id: readU64(bytes, 16),
    salt: Uint8Array.from(bytes.subarray(24, 24 + SALT_BYTES)),
    keyId: bytes.toString("utf8", 57, 57 + keyIdBytes),
  };
}

/**
 * Completes the batch in `bytes` (header space, then the body, then room for padding) and returns its
 * checksum. `header.bodyBytes` is the body as it goes to disk.
 */
export function sealBatch(bytes: Buffer, header: Omit<BatchHeader, "crc">, seed: number): number {
  writeHeaderFields(bytes, header);
  bytes.writeUInt32LE(crc32(bytes.subarray(8, HEADER_FIELDS_END), seed), HEADER_FIELDS_END);
  const end = BATCH_HEADER_BYTES + header.bodyBytes;
  const crc = crc32(bytes.subarray(8, end), seed);
  bytes.writeUInt32LE(crc, 4);
  bytes.fill(0, end, padded(end));
  return crc;
}

/** The fields that encryption authenticates, too: bytes 8 to `HEADER_FIELDS_END`. */
export function writeHeaderFields(bytes: Buffer, header: Omit<BatchHeader, "crc">): void {
  bytes.writeUInt32LE(BATCH_MAGIC, 0);
  bytes.writeUInt32LE(header.bodyBytes, 8);
  bytes.writeUInt32LE(header.records, 12);
  writeU64(bytes, 16, header.firstSequence);
  writeU64(bytes, 24, header.durable);
  bytes.writeUInt32LE(header.previousCrc, 32);
  bytes.writeUInt32LE(header.epoch, 36);
  writeU64(bytes, 40, header.time);
  bytes.writeUInt32LE(header.flags, 48);
  bytes.writeUInt32LE(header.number, 52);
  bytes.writeUInt32LE(header.synced, 56);
}

/** The header at `offset`, when its own checksum holds; the body is not looked at. */
export function decodeBatchHeader(bytes: Buffer, offset: number, seed: number): BatchHeader | undefined {
  if (offset + BATCH_HEADER_BYTES > bytes.length || bytes.readUInt32LE(offset) !== BATCH_MAGIC) return undefined;
  const crc = crc32(bytes.subarray(offset + 8, offset + HEADER_FIELDS_END), seed);
  if (crc !== bytes.readUInt32LE(offset + HEADER_FIELDS_END)) return undefined;
  const header: BatchHeader = {
    crc: bytes.readUInt32LE(offset + 4),
    bodyBytes: bytes.readUInt32LE(offset + 8),
    records: bytes.readUInt32LE(offset + 12),
    firstSequence: readU64(bytes, offset + 16),
    durable: readU64(bytes, offset + 24),
    previousCrc: bytes.readUInt32LE(offset + 32),
    epoch: bytes.readUInt32LE(offset + 36),
    time: readU64(bytes, offset + 40),
    flags: bytes.readUInt32LE(offset + 48),
    number: bytes.readUInt32LE(offset + 52),
    synced: bytes.readUInt32LE(offset + 56),
  };
  const sane =
    header.bodyBytes <= MAX_BODY_BYTES && header.firstSequence <= MAX_SEQUENCE && (header.flags & ~knownFlags) === 0;
  return sane ? header : undefined;
}

/** Whether the body belongs to the header: `bytes` holds the whole batch from `offset`. */
export function bodyMatches(bytes: Buffer, offset: number, header: BatchHeader, seed: number): boolean {
  const end = offset + BATCH_HEADER_BYTES + header.bodyBytes;
  return end <= bytes.length && crc32(bytes.subarray(offset + 8, end), seed) === header.crc;
}

export const batchBytes = (header: BatchHeader): number => padded(BATCH_HEADER_BYTES + header.bodyBytes);

/** The sequence after the batch's last record. */
export const nextSequence = (header: BatchHeader): number => header.firstSequence + header.records;

export function encodePreamble(preamble: Preamble): Buffer {
  const bytes = Buffer.alloc(OPEN_BODY_BYTES);
  writeU64(bytes, 0, preamble.firstSequence);
  writeU64(bytes, 8, preamble.predecessorId);
  writeU64(bytes, 16, preamble.predecessorLast);
  writeU64(bytes, 24, preamble.predecessorEnd);
  bytes.writeUInt32LE(preamble.predecessorCrc, 32);
  bytes.writeUInt32LE(preamble.lowWater.epoch, 36);
  writeU64(bytes, 40, preamble.lowWater.sequence);
  bytes.set(preamble.keyCheck, 48);
  return bytes;
}

export function decodePreamble(body: Buffer): Preamble {
  return {
    firstSequence: readU64(body, 0),
    predecessorId: readU64(body, 8),
    predecessorLast: readU64(body, 16),
    predecessorEnd: readU64(body, 24),
    predecessorCrc: body.readUInt32LE(32),
    lowWater: { sequence: readU64(body, 40), epoch: body.readUInt32LE(36) },
    keyCheck: Uint8Array.from(body.subarray(48, 56)),
  };
}

export function encodeLowWater({ sequence, epoch }: LowWater): Buffer {
  const bytes = Buffer.alloc(LOW_WATER_BODY_BYTES);
  writeU64(bytes, 0, sequence);
  bytes.writeUInt32LE(epoch, 8);
  return bytes;
}

/** The low water after a batch: a LOW WATER mark raises it, nothing lowers it. */
export function raisedBy(lowWater: LowWater, { flags }: Pick<BatchHeader, "flags">, body: Buffer): LowWater {
  if ((flags & flag.lowWater) === 0) return lowWater;
  return higher(lowWater, { sequence: readU64(body, 0), epoch: body.readUInt32LE(8) });
}

export const higher = (one: LowWater, other: LowWater): LowWater => (other.sequence > one.sequence ? other : one);
