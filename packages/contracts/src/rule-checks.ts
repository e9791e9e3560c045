import { EhdbError } from "./errors.ts";
import type { ErrorCode } from "./errors.ts";

export function holds(isSo: boolean, what: string): void {
  if (!isSo) throw new Error(what);
}

/** Compares by structure; bytes are only like bytes. */
export function same(what: string, actual: unknown, expected: unknown): void {
  if (!isSame(actual, expected)) throw new Error(`${what}: ${shown(actual)} instead of ${shown(expected)}`);
}

/** Calls, and wants an EhdbError of this code, thrown or rejected with; returns it. */
export async function refused(code: ErrorCode, what: string, call: () => unknown): Promise<EhdbError> {
  const error = await errorOf(call);
  if (error === undefined) throw new Error(`${what}: went well instead of ${code}`);
  if (error instanceof EhdbError && error.code === code) return error;
  const got = error instanceof Error ? `${error.name} ${error.message}` : typeof error;
  throw new Error(`${what}: ${got} instead of ${code}`, { cause: error });
}

/** What a call throws or rejects with; `undefined` when it goes well. */
export async function errorOf(call: () => unknown): Promise<unknown> {
  try {
    await call();
    return undefined;
  } catch (error) {
    return error;
  }
}

function isSame(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b) || a instanceof Uint8Array !== b instanceof Uint8Array) return false;
  const [left, right] = [Object.entries(a), Object.entries(b)];
  const others = b as Readonly<Record<string, unknown>>;
  return left.length === right.length && left.every(([key, value]) => key in b && isSame(value, others[key]));
}

function shown(value: unknown): string {
  const text =
    JSON.stringify(value, (_, part: unknown) => (part === undefined ? "(undefined)" : part)) ?? String(value);
  return text.length > 400 ? `${text.slice(0, 400)}...` : text;
}
