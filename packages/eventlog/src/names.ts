import { invalidArgument, MAX_NAME_BYTES } from "@ehdb/contracts";

const wantedName = `a string of 1 to ${MAX_NAME_BYTES} bytes of well-formed Unicode`;

/** What streams, types, ids and consumers may be called. INVALID_ARGUMENT. */
export function assertName(what: string, value: unknown): asserts value is string {
  if (!isName(value)) throw invalidArgument(what, value, wantedName);
}

export function isName(value: unknown): value is string {
  return isText(value) && value !== "";
}

/** As a name, but perhaps empty: the beginning of one. */
export function isText(value: unknown): value is string {
  // A lone surrogate has no UTF-8: two different names could be stored as one.
  return typeof value === "string" && !loneSurrogate.test(value) && Buffer.byteLength(value) <= MAX_NAME_BYTES;
}

const loneSurrogate = /\p{Surrogate}/u;

/** INVALID_ARGUMENT unless `value` is a whole number from `least` on. */
export function assertSequence(what: string, value: unknown, least: number): asserts value is number {
  if (!isWhole(value, least)) throw invalidArgument(what, value, `a whole number from ${least} to 2^53 - 1`);
}

export const isWhole = (value: unknown, least: number): value is number =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= least;
