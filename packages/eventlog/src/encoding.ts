import { EhdbError, invalidArgument, MAX_WRITE_BYTES, nearestName } from "@ehdb/contracts";
import type { EventShape, NewEvent } from "@ehdb/contracts";
import type { Random } from "@ehdb/host";
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
const recordedProperties = new Set(["stream", "version", "position", "time"]);

/** Checks and encodes all events of one append, or throws and has changed nothing. */
export function encodeEvents(stream: string, given: unknown, schemas: DataSchemas, random: Random): EncodedEvent[] {
  assertName("stream", stream);
  const list: readonly unknown[] = Array.isArray(given) ? given : [given];
  if (list.length === 0) throw invalidArgument("events", given, "one event, or an array of one or more");
  const events = list.map((event, index) => encodeEvent(event, index, schemas, random));
  refuseTwice(events);
  const bytes = events.reduce((sum, event) => sum + bytesOf(event), Buffer.byteLength(stream));
  if (bytes > MAX_WRITE_BYTES) {
    const message = `the append holds ${bytes} bytes, ${MAX_WRITE_BYTES} at most: split it, or keep large data elsewhere and store where`;
    throw new EhdbError("TOO_LARGE", message, { stream, bytes, maxBytes: MAX_WRITE_BYTES });
  }
  return events;
}

export function decodeData(data: EncodedData): unknown {
  return typeof data === "string" ? (JSON.parse(data) as unknown) : data;
}

function encodeEvent(given: unknown, index: number, schemas: DataSchemas, random: Random): EncodedEvent {
  if (typeof given !== "object" || given === null) {
    throw invalidArgument(`events[${index}]`, given, "an event, { type, data, metadata, id }");
  }
  refuseUnknownProperties(given);
  const { id, type, data, metadata } = given as Partial<NewEvent>;
  if (id !== undefined) assertName("id", id);
  assertName("type", type);
  return {
    id: id ?? random.id(),
    isIdGiven: id !== undefined,
    type,
    data: encodeData(schemas.validated(type, data)),
    metadata: encodeMetadata(metadata),
  };
}

function encodeData(data: unknown): EncodedData {
  return data instanceof Uint8Array ? Uint8Array.from(data) : encodeJson(data, "data");
}

function encodeMetadata(metadata: EventShape["metadata"]): string | undefined {
  const json = metadata instanceof Uint8Array ? "" : encodeJson(metadata, "metadata");
  if (json === undefined && metadata === undefined) return undefined;
  if (json?.startsWith("{") === true) return json;
  throw invalidArgument("metadata", metadata, "an object that JSON takes as one");
}

function refuseUnknownProperties(event: object): void {
  for (const property of Object.keys(event)) {
    if ((eventProperties as readonly string[]).includes(property) || recordedProperties.has(property)) continue;
    const suggestion = nearestName(property, eventProperties);
    const hint = suggestion === undefined ? "Put it into data or metadata" : `Did you mean ${suggestion}?`;
    const message = `an event has no property ${property}. ${hint}`;
    throw new EhdbError("INVALID_ARGUMENT", message, { property, suggestion });
  }
}

function refuseTwice(events: readonly EncodedEvent[]): void {
  const ids = new Set<string>();
  for (const { id, isIdGiven } of events) {
    if (isIdGiven && ids.has(id)) {
      throw new EhdbError("INVALID_ARGUMENT", `two events of one append have the id "${id}": ids differ`, { id });
    }
    ids.add(id);
  }
}

function bytesOf({ id, type, data, metadata }: EncodedEvent): number {
  const dataBytes = data === undefined ? 0 : Buffer.byteLength(data);
  return Buffer.byteLength(id) + Buffer.byteLength(type) + dataBytes + Buffer.byteLength(metadata ?? "");
}
