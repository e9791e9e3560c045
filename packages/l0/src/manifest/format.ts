/**
 * The bytes of a manifest and of CURRENT. docs/formats/manifest.md draws them and argues each crash case; change both
 * together. Numbers are little-endian.
 */
import { crc32 } from "node:zlib";
import { EhdbError, MIB } from "@ehdb/contracts";
import { unsupportedVersion } from "./damage.ts";
import { manifestFile } from "./layout.ts";

const FORMAT_VERSION = 1;
export const HEADER_BYTES = 128;
export const SALT_BYTES = 32;
/** Length and checksum, before each entry's text. */
export const ENTRY_HEADER_BYTES = 8;
/** The longest text of an entry: a snapshot of about a million parts. */
const MAX_ENTRY_BYTES = 256 * MIB;

const MAGIC = Buffer.from("EHDBMNFT", "latin1");
const crcOffset = HEADER_BYTES - 4;
const braces = { open: 0x7b, close: 0x7d };

export interface ManifestHeader {
  readonly id: number;
  /** The manifest that CURRENT named when this one was written; 0: it's a new store's. */
  readonly predecessor: number;
  readonly salt: Uint8Array;
  /** Two names of 16 bytes, in hexadecimal. */
  readonly store: string;
  readonly incarnation: string;
}

/** What CURRENT says: which manifest is in force, and the checksum of its header, so that no other file passes for it. */
export interface Current {
  readonly id: number;
  readonly headerCrc: number;
}

/** The seed of every checksum in a manifest: what was written to another file doesn't pass. */
export const saltSeed = (salt: Uint8Array): number => crc32(salt);

export function encodeHeader(header: ManifestHeader): Buffer {
  const bytes = Buffer.alloc(HEADER_BYTES);
  MAGIC.copy(bytes, 0);
  bytes.writeUInt32LE(FORMAT_VERSION, 8);
  bytes.writeBigUInt64LE(BigInt(header.id), 16);
  bytes.writeBigUInt64LE(BigInt(header.predecessor), 24);
  bytes.set(header.salt, 32);
  bytes.write(header.store, 64, 16, "hex");
  bytes.write(header.incarnation, 80, 16, "hex");
  bytes.writeUInt32LE(crc32(bytes.subarray(0, crcOffset)), crcOffset);
  return bytes;
}

export const headerCrc = (bytes: Buffer): number => bytes.readUInt32LE(crcOffset);

/** `undefined` for bytes that aren't a whole header. UNSUPPORTED_VERSION for a whole one of another version. */
export function decodeHeader(bytes: Buffer, path: string): ManifestHeader | undefined {
  if (bytes.length < HEADER_BYTES || !bytes.subarray(0, 8).equals(MAGIC)) return undefined;
  if (crc32(bytes.subarray(0, crcOffset)) !== headerCrc(bytes)) return undefined;
  const version = bytes.readUInt32LE(8);
  if (version !== FORMAT_VERSION) throw unsupportedVersion(path, version, FORMAT_VERSION);
  return {
    id: Number(bytes.readBigUInt64LE(16)),
    predecessor: Number(bytes.readBigUInt64LE(24)),
    salt: Uint8Array.from(bytes.subarray(32, 32 + SALT_BYTES)),
    store: bytes.toString("hex", 64, 80),
    incarnation: bytes.toString("hex", 80, 96),
  };
}

/** An entry: length, checksum, and `content` as JSON. TOO_LARGE beyond `MAX_ENTRY_BYTES`. */
export function encodeEntry(content: object, seed: number): Buffer {
  const text = JSON.stringify(content);
  const length = Buffer.byteLength(text);
  if (length > MAX_ENTRY_BYTES) {
    throw new EhdbError(
      "TOO_LARGE",
      `a manifest entry has ${length} bytes, at most ${MAX_ENTRY_BYTES}: merge parts, so that there are fewer`,
      { bytes: length, maxBytes: MAX_ENTRY_BYTES },
    );
  }
  const bytes = Buffer.allocUnsafe(ENTRY_HEADER_BYTES + length);
  bytes.writeUInt32LE(length, 0);
  bytes.write(text, ENTRY_HEADER_BYTES, "utf8");
  bytes.writeUInt32LE(entryCrc(bytes, 0, length, seed), 4);
  return bytes;
}

export const storedCrc = (bytes: Buffer, at: number): number => bytes.readUInt32LE(at + 4);

/** The bytes of the text of the entry at `at`, when it is whole; else `undefined`. */
export function entryLength(bytes: Buffer, at: number, seed: number): number | undefined {
  if (at + ENTRY_HEADER_BYTES > bytes.length) return undefined;
  const length = bytes.readUInt32LE(at);
  const end = at + ENTRY_HEADER_BYTES + length;
  if (length < 2 || length > MAX_ENTRY_BYTES || end > bytes.length) return undefined;
  // Cheap, and nearly always decides where nothing begins.
  if (bytes[at + ENTRY_HEADER_BYTES] !== braces.open || bytes[end - 1] !== braces.close) return undefined;
  return storedCrc(bytes, at) === entryCrc(bytes, at, length, seed) ? length : undefined;
}

function entryCrc(bytes: Buffer, at: number, length: number, seed: number): number {
  const text = at + ENTRY_HEADER_BYTES;
  return crc32(bytes.subarray(text, text + length), crc32(bytes.subarray(at, at + 4), seed));
}

const hex = (crc: number): string => crc.toString(16).padStart(8, "0");

export function encodeCurrent({ id, headerCrc }: Current): Buffer {
  const text = `ehdb current ${FORMAT_VERSION}\n${manifestFile(id)}\n${hex(headerCrc)}\n`;
  return Buffer.from(`${text}${hex(crc32(text))}\n`, "latin1");
}

/** `undefined` for bytes that aren't a whole CURRENT. UNSUPPORTED_VERSION for a whole one of another version. */
export function decodeCurrent(bytes: Buffer, path: string): Current | undefined {
  const lines = /^(ehdb current (\d{1,9})\n[^]*\n)([0-9a-f]{8})\n$/.exec(bytes.toString("latin1"));
  const [, text = "", version = "", crc = ""] = lines ?? [];
  if (lines === null || hex(crc32(bytes.subarray(0, text.length))) !== crc) return undefined;
  if (Number(version) !== FORMAT_VERSION) throw unsupportedVersion(path, Number(version), FORMAT_VERSION);
  const named = /\nmanifest-(\d{12})\n([0-9a-f]{8})\n$/.exec(text);
  if (named === null) return undefined;
  return { id: Number(named[1]), headerCrc: Number.parseInt(named[2] as string, 16) };
}
