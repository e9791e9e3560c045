import { EhdbError } from "@ehdb/contracts";
import type { LogRecord } from "@ehdb/contracts";
import type { EncodedEvent } from "./encoding.ts";
import { KnownNames } from "./known-names.ts";
import type { EventContents } from "./lazy-event.ts";
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

/** `bytes`: the record's memory. UNSUPPORTED_VERSION for a format or a flag that isn't known, CORRUPT when lengths don't fit. */
export function checkEvent(record: LogRecord, bytes: Buffer): void {
  const { start, end } = record;
  const found = start === end ? undefined : bytes[start];
  if (found !== format) throw unknownFormat(`the event at position ${record.sort}`, found);
  if (end - start < 2) throw cut(record);
  const flags = bytes[start + 1] as number;
  if ((flags & ~allFlags) !== 0) throw unknownFormat(`the event at position ${record.sort}`, flags * 256 + format);
  const type = typeStart(flags, start);
  if (type > end) throw cut(record);
  let data = typeEnd(bytes, type);
  if ((flags & hasMetadata) !== 0) data += data + 4 > end ? Infinity : 4 + bytes.readUInt32LE(data);
  if (data > end) throw cut(record);
}

/** Behind the bytes of its length. `at`: where the event begins. */
function typeStart(flags: number, at: number): number {
  return at + 4 + ((flags & ownId) === 0 ? 0 : OWN_ID_BYTES) + ((flags & inCompany) === 0 ? 0 : 8);
}

function typeEnd(bytes: Buffer, start: number): number {
  return start + ((bytes[start - 2] as number) | ((bytes[start - 1] as number) << 8));
}

/** Of a checked event. */
export function typeOf(bytes: Buffer, at: number): string {
  const start = typeStart(bytes[at + 1] as number, at);
  return names.text(bytes, start, typeEnd(bytes, start));
}

/** Of a checked event. */
export function companyOf(bytes: Buffer, start: number): Company {
  const flags = bytes[start + 1] as number;
  if ((flags & inCompany) === 0) return { index: 0, count: 1 };
  const at = start + 2 + ((flags & ownId) === 0 ? 0 : OWN_ID_BYTES);
  return { index: bytes.readUInt32LE(at), count: bytes.readUInt32LE(at + 4) };
}

/** Checked events in memory that stays as it is. */
export class StoredContents implements EventContents {
  readonly #bytes: Buffer;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** Empty when one was given. */
  idAt(start: number): string {
    const bytes = this.#bytes;
    const at = start + 2;
    return ((bytes[start + 1] as number) & ownId) === 0 ? "" : bytes.toString("hex", at, at + OWN_ID_BYTES);
  }

  typeAt(start: number): string {
    return typeOf(this.#bytes, start);
  }

  dataAt(start: number, end: number): unknown {
    const bytes = this.#bytes;
    const flags = bytes[start + 1] as number;
    const kind = flags & dataKinds;
    if (kind === 0) return undefined;
    const head = typeEnd(bytes, typeStart(flags, start));
    const data = (flags & hasMetadata) === 0 ? head : head + 4 + bytes.readUInt32LE(head);
    if (kind === jsonData) return JSON.parse(bytes.toString("utf8", data, end));
    return new Uint8Array(bytes.subarray(data, end));
  }

  metadataAt(start: number): unknown {
    const bytes = this.#bytes;
    const flags = bytes[start + 1] as number;
    if ((flags & hasMetadata) === 0) return undefined;
    const head = typeEnd(bytes, typeStart(flags, start));
    return JSON.parse(bytes.toString("utf8", head + 4, head + 4 + bytes.readUInt32LE(head)));
  }
}

const names = new KnownNames();

function cut({ sort, key }: LogRecord): EhdbError {
  const message = `the event at position ${sort} (stream "${key}") is cut off: something else has written to this store`;
  return new EhdbError("CORRUPT", message, { position: sort, stream: key });
}
