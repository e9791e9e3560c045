import { EhdbError, invalidArgument, isBytes, MAX_WRITE_BYTES, nearestName } from "@ehdb/contracts";
import type { EventShape, NewEvent } from "@ehdb/contracts";
import { encodeJson } from "./json.ts";
import { assertName } from "./names.ts";
import type { DataSchemas } from "./schemas.ts";

/** Data in the form in which it is stored: JSON text, bytes, or nothing. */
export type EncodedData = string | Uint8Array | undefined;

/** An event in the form in which it is stored. It shares no memory with what the caller gave. */
export interface EncodedEvent {
  readonly id: string;
  /** Otherwise the id was made for it, and nobody can know it yet. */
  readonly isIdGiven: boolean;
  readonly type: string;
  readonly data: EncodedData;
  /** JSON text of an object. */
  readonly metadata: string | undefined;
}

const eventProperties = ["id", "type", "data", "metadata"] as const satisfies (keyof NewEvent)[];
/** An event that was read from a log may be appended to another; these say where it was, and are left out. */
const recordedProperties = ["stream", "version", "position", "time"];
const knownProperties: ReadonlySet<string> = new Set([...eventProperties, ...recordedProperties]);

/** The most bytes of UTF-8 that a unit of a string can take. */
const mostBytesAUnit = 3;

/** Checks and encodes all events of one append, or throws and has changed nothing. `makeId`: for those that come without. */
export function encodeEvents(
  stream: string,
  given: unknown,
  schemas: DataSchemas,
  makeId: () => string,
): EncodedEvent[] {
  assertName("stream", stream);
  const list: readonly unknown[] = Array.isArray(given) ? given : [given];
  if (list.length === 0) throw invalidArgument("events", given, "one event, or an array of one or more");
  const events: EncodedEvent[] = [];
  for (let index = 0; index < list.length; index++) events.push(encodeEvent(list[index], index, schemas, makeId));
  if (events.length > 1) refuseTwice(events);
  refuseLarge(stream, events);
  return events;
}

export function decodeData(data: EncodedData): unknown {
  return typeof data === "string" ? (JSON.parse(data) as unknown) : data;
}

/** Not less than what the event's pieces take, at once; the same to the byte costs a look at all of its text. */
export function mostBytesOf({ id, type, data, metadata }: EncodedEvent): number {
  const dataBytes = typeof data === "string" ? data.length * mostBytesAUnit : data === undefined ? 0 : data.length;
  const units = id.length + type.length + (metadata === undefined ? 0 : metadata.length);
  return units * mostBytesAUnit + dataBytes;
}

export function bytesOf({ id, type, data, metadata }: EncodedEvent): number {
  const dataBytes = data === undefined ? 0 : Buffer.byteLength(data);
  return Buffer.byteLength(id) + Buffer.byteLength(type) + dataBytes + Buffer.byteLength(metadata ?? "");
}

function encodeEvent(given: unknown, index: number, schemas: DataSchemas, makeId: () => string): EncodedEvent {
  if (typeof given !== "object" || given === null) {
    throw invalidArgument(`events[${index}]`, given, "an event, { type, data, metadata, id }");
  }
  refuseUnknownProperties(given);
  refuseSpread(given);
  const { id, type, data, metadata } = given as Partial<NewEvent>;
  if (id !== undefined) assertName("id", id);
  assertName("type", type);
  return {
    id: id ?? makeId(),
    isIdGiven: id !== undefined,
    type,
    data: encodeData(schemas.validated(type, data)),
    metadata: metadata === undefined ? undefined : encodeMetadata(metadata),
  };
}

function encodeData(data: unknown): EncodedData {
  if (isBytes(data)) return copyOf(data);
  // JSON takes other views of memory for objects with numbers as names.
  const json = isMemory(data) ? undefined : encodeJson(data, "data");
  if (json === undefined && data !== undefined)
    throw invalidArgument("data", data, "something that JSON takes, or a Uint8Array");
  return json;
}

function encodeMetadata(metadata: EventShape["metadata"]): string {
  const json = ArrayBuffer.isView(metadata) ? "" : encodeJson(metadata, "metadata");
  if (json?.startsWith("{") === true) return json;
  throw invalidArgument("metadata", metadata, "an object that JSON takes as one");
}

function copyOf(data: Uint8Array): Uint8Array {
  try {
    return new Uint8Array(data);
  } catch (error) {
    throw new EhdbError("INVALID_ARGUMENT", "data's memory was given away (its buffer is detached)", {}, error);
  }
}

function isMemory(data: unknown): boolean {
  if (ArrayBuffer.isView(data) || data instanceof Uint8Array) return true;
  return typeof data === "object" && /^\[object (Shared)?ArrayBuffer\]$/.test(Object.prototype.toString.call(data));
}

function refuseUnknownProperties(event: object): void {
  for (const property of Object.keys(event)) {
    if (knownProperties.has(property)) continue;
    const suggestion = nearestName(property, eventProperties);
    const hint = suggestion === undefined ? "Put it into data or metadata" : `Did you mean ${suggestion}?`;
    const message = `an event has no property ${property}. ${hint}`;
    throw new EhdbError("INVALID_ARGUMENT", message, { property, suggestion });
  }
}

/** Of an event that was read, data and metadata are getters of its class, which a spread leaves out. */
function refuseSpread(event: object): void {
  if (!Object.hasOwn(event, "position") || !Object.hasOwn(event, "version") || "data" in event) return;
  const message =
    "this event was read from a log and has lost its data, as { ...event } does: give { ...event, data: event.data, metadata: event.metadata }";
  throw new EhdbError("INVALID_ARGUMENT", message, { property: "data" });
}

function refuseTwice(events: readonly EncodedEvent[]): void {
  const ids = new Set<string>();
  for (const { id, isIdGiven } of events) {
    if (isIdGiven && ids.has(id)) {
      throw new EhdbError("INVALID_ARGUMENT", `two events of one append have the id "${id}": ids differ`, { id });
    }
    if (isIdGiven) ids.add(id);
  }
}

function refuseLarge(stream: string, events: readonly EncodedEvent[]): void {
  let atMost = stream.length * mostBytesAUnit;
  for (const event of events) atMost += mostBytesOf(event);
  if (atMost <= MAX_WRITE_BYTES) return;
  const bytes = events.reduce((sum, event) => sum + bytesOf(event), Buffer.byteLength(stream));
  if (bytes > MAX_WRITE_BYTES) throw tooLarge(stream, bytes);
}

export function tooLarge(stream: string, bytes: number): EhdbError {
  const message = `the append holds ${bytes} bytes, ${MAX_WRITE_BYTES} at most: split it, or keep large data elsewhere and store where`;
  return new EhdbError("TOO_LARGE", message, { stream, bytes, maxBytes: MAX_WRITE_BYTES });
}
