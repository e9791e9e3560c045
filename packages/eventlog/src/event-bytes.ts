import { EhdbError } from "@ehdb/contracts";
import type { LogRecord } from "@ehdb/contracts";
import type { EncodedEvent } from "./encoding.ts";
import { KnownNames } from "./known-names.ts";
import type { EventContent } from "./lazy-event.ts";
import { unknownFormat } from "./map-values.ts";
import { isShortAscii } from "./names.ts";

/**
 * An event as the payload of a record of the log, little endian. Its stream is the record's key, and an id that was given is the
 * record's id.
 *
 *     payload := u8 format, 1 | u8 flags
 *              | 16 bytes of an id that was made                      when `ownId`
 *              | u32 its place in its append, from 0 | u32 events of that append    when `inCompany`
 *              | u16 bytes, type | u32 bytes, metadata                the latter when `hasMetadata`
 *              | data, to the end
 */
const format = 1;
const dataKinds = 3;
const jsonData = 1;
const bytesData = 2;
const hasMetadata = 4;
const ownId = 8;
const inCompany = 16;
const allFlags = dataKinds | hasMetadata | ownId | inCompany;

export const OWN_ID_BYTES = 16;
/** All that stands before and between type, metadata and data. */
export const EVENT_OVERHEAD_BYTES: number = 2 + OWN_ID_BYTES + 8 + 2 + 4;

/** Which of how many events of one append an event is. Part of what is stored: so that a part of an append isn't taken for it. */
export interface Company {
  /** From 0. */
  readonly index: number;
  readonly count: number;
}

/** The bytes of an event, one of `count`. `made` holds the id of one that came without. There is room; returns the end. */
export function writeEvent(
  into: Buffer,
  at: number,
  event: EncodedEvent,
  index: number,
  count: number,
  made: Uint8Array,
): number {
  const { type, data, metadata, isIdGiven } = event;
  into[at] = format;
  into[at + 1] =
    (typeof data === "string" ? jsonData : data === undefined ? 0 : bytesData) |
    (metadata === undefined ? 0 : hasMetadata) |
    (isIdGiven ? 0 : ownId) |
    (count === 1 ? 0 : inCompany);
  let next = at + 2;
  if (!isIdGiven) {
    into.set(made, next);
    next += OWN_ID_BYTES;
  }
  if (count > 1) {
    into.writeUInt32LE(index, next);
    into.writeUInt32LE(count, next + 4);
    next += 8;
  }
  const typeBytes = writeType(into, next + 2, type);
  into.writeUInt16LE(typeBytes, next);
  next += 2 + typeBytes;
  if (metadata !== undefined) {
    const metadataBytes = into.write(metadata, next + 4, "utf8");
    into.writeUInt32LE(metadataBytes, next);
    next += 4 + metadataBytes;
  }
  if (typeof data === "string") return next + into.write(data, next, "utf8");
  if (data === undefined) return next;
  into.set(data, next);
  return next + data.length;
}

function writeType(into: Buffer, at: number, type: string): number {
  if (!isShortAscii(type)) return into.write(type, at, "utf8");
  for (let i = 0; i < type.length; i++) into[at + i] = type.charCodeAt(i);
  return type.length;
}

/** UNSUPPORTED_VERSION for a format or a flag that isn't known, CORRUPT when lengths don't fit. */
export function checkEvent(record: LogRecord, bytes: Buffer): void {
  const flags = bytes[1] as number;
  if (bytes[0] !== format) throw unknownFormat(`the event at position ${record.sort}`, bytes[0]);
  if ((flags & ~allFlags) !== 0) throw unknownFormat(`the event at position ${record.sort}`, flags * 256 + format);
  const start = typeStart(flags, 0);
  if (start > bytes.length) throw cut(record);
  let end = start + bytes.readUInt16LE(start - 2);
  if ((flags & hasMetadata) !== 0) end += end + 4 > bytes.length ? Infinity : 4 + bytes.readUInt32LE(end);
  if (end > bytes.length) throw cut(record);
}

/** Behind the bytes of its length. `at`: where the event begins. */
function typeStart(flags: number, at: number): number {
  return at + 4 + ((flags & ownId) === 0 ? 0 : OWN_ID_BYTES) + ((flags & inCompany) === 0 ? 0 : 8);
}

/** Of a checked event. */
export function typeOf(bytes: Buffer, at: number): string {
  const start = typeStart(bytes[at + 1] as number, at);
  return names.text(bytes, start, start + bytes.readUInt16LE(start - 2));
}

/** Of a checked event: the id that was made for it; empty when one was given. */
export function ownIdOf(bytes: Buffer, at: number): string {
  return ((bytes[at + 1] as number) & ownId) === 0 ? "" : bytes.toString("hex", at + 2, at + 2 + OWN_ID_BYTES);
}

/** Of a checked event. */
export function companyOf(bytes: Buffer): Company {
  const flags = bytes[1] as number;
  if ((flags & inCompany) === 0) return { index: 0, count: 1 };
  const at = 2 + ((flags & ownId) === 0 ? 0 : OWN_ID_BYTES);
  return { index: bytes.readUInt32LE(at), count: bytes.readUInt32LE(at + 4) };
}

/** A checked event in memory of ours. */
export class StoredContent implements EventContent {
  readonly type: string;
  readonly #bytes: Buffer;
  readonly #start: number;
  readonly #end: number;

  constructor(bytes: Buffer, start: number, end: number) {
    this.type = typeOf(bytes, start);
    this.#bytes = bytes;
    this.#start = start;
    this.#end = end;
  }

  readData(): unknown {
    const kind = this.#flags & dataKinds;
    if (kind === 0) return undefined;
    const start = (this.#flags & hasMetadata) === 0 ? this.#typeEnd : this.#metadataEnd;
    if (kind === jsonData) return JSON.parse(this.#bytes.toString("utf8", start, this.#end));
    return new Uint8Array(this.#bytes.subarray(start, this.#end));
  }

  readMetadata(): unknown {
    if ((this.#flags & hasMetadata) === 0) return undefined;
    return JSON.parse(this.#bytes.toString("utf8", this.#typeEnd + 4, this.#metadataEnd));
  }

  get #flags(): number {
    return this.#bytes[this.#start + 1] as number;
  }

  get #typeEnd(): number {
    const start = typeStart(this.#flags, this.#start);
    return start + this.#bytes.readUInt16LE(start - 2);
  }

  get #metadataEnd(): number {
    const start = this.#typeEnd;
    return start + 4 + this.#bytes.readUInt32LE(start);
  }
}

const names = new KnownNames();

function cut({ sort, key }: LogRecord): EhdbError {
  const message = `the event at position ${sort} (stream "${key}") is cut off: something else has written to this store`;
  return new EhdbError("CORRUPT", message, { position: sort, stream: key });
}
