import { KIB, MAX_WRITE_BYTES, MIB, throwIfAborted } from "@ehdb/contracts";
import type { File, Host } from "@ehdb/host";
import { kindOf, streamAndType } from "./event-fields.ts";
import type { EventFields } from "./event-fields.ts";
import { readLines } from "./lines.ts";
import type { Line } from "./lines.ts";
import { SelfcheckError } from "./outcome.ts";
import type { Payload } from "./payload.ts";

/** The payloads that are used are kept in memory. */
export const MAX_KEPT_BYTES: number = 512 * MIB;
/** Room for what stands around a payload in one record: id, stream and type, which have up to 1 KiB each, and what a store adds. */
const MAX_LINE_BYTES = MAX_WRITE_BYTES - 8 * KIB;
/** What is written as `1e20` takes up to five times as much when it's written as JSON again; a shorter line can't become too long. */
const LEAST_LOOKED_AT = MAX_LINE_BYTES / 5;
/** So many bad lines are named; the others are counted. */
const NAMED = 5;

export interface JsonLines {
  /** The first ones, as many as were wanted. */
  readonly payloads: readonly Payload[];
  /** Lines with an event. */
  readonly lines: number;
}

/**
 * The user's own events: one JSON object a line, in UTF-8. Every line is checked; `wanted` of them are kept. Blank lines, a
 * byte order mark and CRLF are passed over; anything else that isn't an object is named by its line's number.
 */
export async function readJsonLines(
  host: Host,
  path: string,
  wanted: number,
  fields: EventFields = {},
  signal?: AbortSignal,
): Promise<JsonLines> {
  const file = await openInput(host, path);
  try {
    return await collect(file, path, wanted, fields, signal);
  } catch (error) {
    throw rejected(path, error);
  } finally {
    await file.close();
  }
}

async function collect(
  file: File,
  path: string,
  wanted: number,
  fields: EventFields,
  signal: AbortSignal | undefined,
): Promise<JsonLines> {
  const payloads: Payload[] = [];
  const bad: string[] = [];
  let [lines, badLines, keptBytes] = [0, 0, 0];
  for await (const line of readLines(file, MAX_LINE_BYTES)) {
    throwIfAborted(signal, "reading the input");
    const parsed = parseLine(line, fields);
    if (parsed === undefined) continue;
    if (typeof parsed === "string") {
      badLines += 1;
      if (bad.length < NAMED) bad.push(`line ${line.number}: ${parsed}`);
      continue;
    }
    lines += 1;
    if (payloads.length >= wanted) continue;
    keptBytes += parsed.data.length;
    if (keptBytes > MAX_KEPT_BYTES) {
      throw new SelfcheckError(
        "rejected",
        `${path}: its first ${wanted} events hold more than ${MAX_KEPT_BYTES / MIB} MiB: give fewer --events`,
      );
    }
    payloads.push(parsed);
  }
  if (badLines > 0) {
    const more =
      badLines > bad.length
        ? `; and ${badLines - bad.length} more bad line${badLines - bad.length === 1 ? "" : "s"}`
        : "";
    throw new SelfcheckError("rejected", `${path}, ${bad.join("; ")}${more}`);
  }
  if (lines === 0) throw new SelfcheckError("rejected", `${path} holds no events: give one JSON object a line`);
  return { payloads, lines };
}

async function openInput(host: Host, path: string): Promise<File> {
  try {
    const stat = await host.files.stat(path);
    if (stat === undefined)
      throw new SelfcheckError("rejected", `${path} isn't there: --input names a file of JSON Lines`);
    if (stat.kind === "directory")
      throw new SelfcheckError("rejected", `${path} is a directory: --input names a file of JSON Lines`);
    return await host.files.open(path, "read");
  } catch (error) {
    throw rejected(path, error);
  }
}

/** A payload; what is wrong with the line; or undefined for a blank one. */
function parseLine(line: Line, fields: EventFields): Payload | string | undefined {
  if (line.tooLong) return `longer than ${MAX_LINE_BYTES} bytes, the most that an event has`;
  const bytes = line.number === 1 && hasByteOrderMark(line.bytes) ? line.bytes.subarray(3) : line.bytes;
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes).trim();
  } catch {
    return "not UTF-8";
  }
  if (text.length === 0) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return `not JSON: ${(error as Error).message}`;
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return `${kindOf(value)}, and an event is a JSON object`;
  if (text.length > LEAST_LOOKED_AT && Buffer.byteLength(JSON.stringify(value)) > MAX_LINE_BYTES)
    return `longer than ${MAX_LINE_BYTES} bytes when its numbers are written out, and an event has no more`;
  const named = streamAndType(value, fields);
  return typeof named === "string" ? named : { ...named, data: Buffer.from(text) };
}

function rejected(path: string, error: unknown): unknown {
  const isSystemError = error instanceof Error && "syscall" in error;
  return isSystemError ? new SelfcheckError("rejected", `${path} can't be read: ${error.message}`, error) : error;
}

function hasByteOrderMark(bytes: Uint8Array): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
}
