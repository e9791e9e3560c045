import { EhdbError, MAX_NAME_BYTES, shown } from "@ehdb/contracts";
import { loneSurrogate } from "./read-options.ts";

/** Up to here a loop over the characters is faster than a call into the runtime. */
const shortName = 64;

/** How many bytes of UTF-8 a key or an id takes. INVALID_ARGUMENT when it's none, TOO_LARGE. */
export function nameBytes(what: string, name: unknown): number {
  if (typeof name !== "string" || name.length === 0) {
    throw new EhdbError("INVALID_ARGUMENT", `${what} must be a string of at least one character, not ${shown(name)}`, {
      got: shown(name),
    });
  }
  if (isShortAscii(name)) return name.length;
  if (loneSurrogate.test(name)) {
    throw new EhdbError(
      "INVALID_ARGUMENT",
      `${what} ${JSON.stringify(name)} has half of a surrogate pair: it must be well-formed Unicode`,
      {},
    );
  }
  const bytes = Buffer.byteLength(name);
  if (bytes > MAX_NAME_BYTES) {
    const message = `${what} of ${bytes} bytes of UTF-8 is longer than the limit of ${MAX_NAME_BYTES}`;
    throw new EhdbError("TOO_LARGE", message, { bytes, maxBytes: MAX_NAME_BYTES });
  }
  return bytes;
}

/** Writes a name of `bytes` bytes of UTF-8 at `at`, where there is room. */
export function writeName(into: Buffer, at: number, name: string, bytes: number): void {
  if (bytes > shortName || bytes !== name.length) {
    into.write(name, at, bytes, "utf8");
    return;
  }
  for (let i = 0; i < bytes; i++) into[at + i] = name.charCodeAt(i);
}

function isShortAscii(name: string): boolean {
  if (name.length > shortName) return false;
  for (let i = 0; i < name.length; i++) if (name.charCodeAt(i) > 0x7f) return false;
  return true;
}
