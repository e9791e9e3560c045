import { EhdbError, nearestName } from "@ehdb/contracts";
import type { NewEvent } from "@ehdb/contracts";

/** An event, and the number of its line. */
export interface ImportedLine {
  readonly line: number;
  readonly imported: ImportedEvent;
}

/** What an import takes of a line that an export wrote. */
export interface ImportedEvent {
  readonly stream: string;
  readonly event: NewEvent;
  /** As they were; `undefined` when the line doesn't say. */
  readonly position: number | undefined;
  readonly version: number | undefined;
  readonly time: number | undefined;
}

/** What an export writes. */
const known = ["position", "stream", "version", "id", "type", "time", "data", "dataBase64", "metadata"] as const;

/** INVALID_ARGUMENT, with the line's number, for what isn't an event. */
export function eventIn(line: string, number: number): ImportedEvent {
  const parsed = jsonIn(line, number);
  const { stream, type, id, data, dataBase64, metadata, position, version, time } = parsed;
  if (typeof stream !== "string" || typeof type !== "string")
    throw refused(number, "it has no stream or no type that is a string");
  refuseUnknown(parsed, number);
  if (id !== undefined && typeof id !== "string") throw refused(number, "its id isn't a string");
  if (dataBase64 !== undefined && typeof dataBase64 !== "string")
    throw refused(number, "its dataBase64 isn't a string");
  if (dataBase64 !== undefined && data !== undefined) throw refused(number, "it has data and dataBase64");
  for (const [name, value] of Object.entries({ position, version, time })) {
    if (value !== undefined && typeof value !== "number") throw refused(number, `its ${name} isn't a number`);
  }
  const content = dataBase64 === undefined ? data : bytesIn(dataBase64, number);
  return {
    stream,
    position: typeof position === "number" ? position : undefined,
    version: typeof version === "number" ? version : undefined,
    time: typeof time === "number" ? time : undefined,
    event: {
      type,
      ...(id === undefined ? {} : { id }),
      ...(content === undefined ? {} : { data: content }),
      ...(metadata === undefined ? {} : { metadata }),
    },
  };
}

/** What isn't known would be lost without a word. */
function refuseUnknown(parsed: object, number: number): void {
  const property = Object.keys(parsed).find((name) => !(known as readonly string[]).includes(name));
  if (property === undefined) return;
  const near = nearestName(property, known);
  const hint = near === undefined ? `known are ${known.join(", ")}` : `did you mean ${near}?`;
  throw refused(number, `it has ${JSON.stringify(property)}, which isn't known (${hint})`, { property });
}

/** Base64 as it's written, to the letter: what isn't would become other bytes without a word. */
function bytesIn(base64: string, number: number): Buffer {
  const bytes = Buffer.from(base64, "base64");
  if (bytes.toString("base64") === base64) return bytes;
  const shown = base64.length > 60 ? `${base64.slice(0, 60)}…` : base64;
  throw refused(number, `its dataBase64 isn't Base64 as it's written: ${JSON.stringify(shown)}`, { value: shown });
}

function jsonIn(line: string, number: number): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    throw refused(number, `it isn't JSON (${error instanceof Error ? error.message : String(error)})`);
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw refused(number, "it isn't an object");
}

function refused(line: number, reason: string, data: Readonly<Record<string, string>> = {}): EhdbError {
  return new EhdbError("INVALID_ARGUMENT", `line ${line} isn't an event: ${reason}`, { line, ...data });
}
