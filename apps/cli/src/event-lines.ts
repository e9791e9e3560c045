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
  const content = dataBase64 === undefined ? data : Buffer.from(dataBase64, "base64");
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

function refused(line: number, reason: string): EhdbError {
  const message = `line ${line} isn't an event: ${reason}. What stands before it is imported; mend it, then import again with --append`;
  return new EhdbError("INVALID_ARGUMENT", message, { line });
}
