import { MAX_WRITE_BYTES, MIB } from "@ehdb/contracts";
import type { Host } from "@ehdb/host";
import type { Payload } from "./events.ts";
import { SelfcheckError } from "./outcome.ts";
import { readWhole } from "./tree.ts";

/** The payloads are kept in memory. */
export const MAX_INPUT_BYTES: number = 512 * MIB;
/** Room for the id and type around a payload in one record. */
const MAX_LINE_BYTES = MAX_WRITE_BYTES - 1024;
const LINE_FEED = 0x0a;

/** The user's own events: one JSON object a line. Blank lines are passed over; anything else that isn't an object is named. */
export async function readJsonLines(host: Host, path: string): Promise<Payload[]> {
  return parseJsonLines(await readInput(host, path), path);
}

export function parseJsonLines(bytes: Uint8Array, path: string): Payload[] {
  const payloads: Payload[] = [];
  let line = 1;
  for (let start = hasByteOrderMark(bytes) ? 3 : 0; start < bytes.length; line += 1) {
    const feed = bytes.indexOf(LINE_FEED, start);
    const end = feed < 0 ? bytes.length : feed;
    const payload = parseLine(bytes.subarray(start, end), `${path}, line ${line}`);
    if (payload !== undefined) payloads.push(payload);
    start = end + 1;
  }
  if (payloads.length === 0) throw new SelfcheckError("rejected", `${path} holds no events: give one JSON object a line`);
  return payloads;
}

async function readInput(host: Host, path: string): Promise<Uint8Array> {
  const stat = await host.files.stat(path).catch((error: unknown) => {
    throw new SelfcheckError("rejected", `${path} can't be read: ${(error as Error).message}`, error);
  });
  if (stat === undefined) throw new SelfcheckError("rejected", `${path} isn't there`);
  if (stat.kind !== "file") throw new SelfcheckError("rejected", `${path} isn't a file`);
  if (stat.bytes > MAX_INPUT_BYTES) {
    throw new SelfcheckError("rejected", `${path} is larger than ${MAX_INPUT_BYTES / MIB} MiB: give a part of it`);
  }
  try {
    return await readWhole(host.files, path);
  } catch (error) {
    throw new SelfcheckError("rejected", `${path} can't be read: ${(error as Error).message}`, error);
  }
}

function parseLine(bytes: Uint8Array, where: string): Payload | undefined {
  if (bytes.length > MAX_LINE_BYTES) {
    throw new SelfcheckError("rejected", `${where}: ${bytes.length} bytes, and an event has at most ${MAX_LINE_BYTES}`);
  }
  const text = decode(bytes, where).trim();
  if (text.length === 0) return undefined;
  const value = parse(text, where);
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new SelfcheckError("rejected", `${where}: ${kindOf(value)}, and an event is a JSON object`);
  }
  const type = "type" in value && typeof value.type === "string" ? value.type : "event";
  return { type, data: Buffer.from(text) };
}

function decode(bytes: Uint8Array, where: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    throw new SelfcheckError("rejected", `${where}: not UTF-8`, error);
  }
}

function parse(text: string, where: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new SelfcheckError("rejected", `${where}: not JSON: ${(error as Error).message}`, error);
  }
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "an array" : `a ${typeof value}`;
}

function hasByteOrderMark(bytes: Uint8Array): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
}
