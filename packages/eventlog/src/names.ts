import { invalidArgument, MAX_NAME_BYTES } from "@ehdb/contracts";

const wantedName = `a string of 1 to ${MAX_NAME_BYTES} bytes of well-formed Unicode`;

/** Up to here a loop over the characters is faster than a call into the runtime. */
const shortName = 64;

/** What streams, types, ids and consumers may be called. INVALID_ARGUMENT. */
export function assertName(what: string, value: unknown): asserts value is string {
  if (!isName(value)) throw invalidArgument(what, value, wantedName);
}

export function isName(value: unknown): value is string {
  return isText(value) && value !== "";
}

/** As a name, but perhaps empty: the beginning of one. */
export function isText(value: unknown): value is string {
  if (typeof value !== "string") return false;
  // A lone surrogate has no UTF-8: two different names could be stored as one.
  return isShortAscii(value) || (!loneSurrogate.test(value) && Buffer.byteLength(value) <= MAX_NAME_BYTES);
}

/** For a name: one byte of UTF-8 a character. */
export function isShortAscii(name: string): boolean {
  if (name.length > shortName) return false;
  for (let i = 0; i < name.length; i++) if (name.charCodeAt(i) > 0x7f) return false;
  return true;
}

const loneSurrogate = /\p{Surrogate}/u;

/** INVALID_ARGUMENT unless `value` is a whole number from `least` on. */
export function assertSequence(what: string, value: unknown, least: number): asserts value is number {
  if (!isWhole(value, least)) throw invalidArgument(what, value, `a whole number from ${least} to 2^53 - 1`);
}

export const isWhole = (value: unknown, least: number): value is number =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= least;
