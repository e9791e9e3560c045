import { EhdbError } from "@ehdb/contracts";
import type { NewEvent } from "@ehdb/contracts";

/** What an import takes of a line that an export wrote. */
export interface ImportedEvent {
  readonly stream: string;
  readonly event: NewEvent;
  /** As they were; `undefined` when the line doesn't say. */
  readonly position: number | undefined;
  readonly version: number | undefined;
}

/** INVALID_ARGUMENT, with the line's number, for what isn't an event. */
export function eventIn(line: string, number: number): ImportedEvent {
  const parsed = jsonIn(line, number);
  const { stream, type, id, data, dataBase64, metadata, position, version } = parsed;
  if (typeof stream !== "string" || typeof type !== "string")
    throw refused(number, "it has no stream or no type that is a string");
  if (id !== undefined && typeof id !== "string") throw refused(number, "its id isn't a string");
  if (dataBase64 !== undefined && typeof dataBase64 !== "string")
    throw refused(number, "its dataBase64 isn't a string");
  if (dataBase64 !== undefined && data !== undefined) throw refused(number, "it has data and dataBase64");
  const content = dataBase64 === undefined ? data : bytesIn(dataBase64, number);
  return {
    stream,
    position: typeof position === "number" ? position : undefined,
    version: typeof version === "number" ? version : undefined,
    event: {
      type,
      ...(id === undefined ? {} : { id }),
      ...(content === undefined ? {} : { data: content }),
      ...(metadata === undefined ? {} : { metadata }),
    },
  };
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

function refused(line: number, reason: string, data: Readonly<Record<string, unknown>> = {}): EhdbError {
  const message = `line ${line} isn't an event: ${reason}. All that stands before it is imported: mend it, and go on from it (${goOn(line)})`;
  return new EhdbError("INVALID_ARGUMENT", message, { line, ...data });
}

/** How to import what isn't there yet. The lines before again would double those that have no id. */
export const goOn = (line: number): string => `tail -n +${line} FILE | ehdb import - DIR --append`;
