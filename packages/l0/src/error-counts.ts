import { errorKinds, isEhdbError } from "@ehdb/contracts";
import type { ErrorCode } from "@ehdb/contracts";

export type ErrorsByCode = Readonly<Record<ErrorCode, number>>;

/** Of every code, those that can't happen included: whoever watches sees each from the start. */
export function noErrors(): Record<ErrorCode, number> {
  return Object.fromEntries(Object.keys(errorKinds).map((code) => [code, 0])) as Record<ErrorCode, number>;
}

/** What callers' own functions threw, and gets back to them. */
const callers = new WeakSet<object>();

/** What `theirs` throws, a function that a caller gave, is no error of the engine: it isn't counted. */
export function callersOwn<T>(theirs: () => T): T {
  try {
    return theirs();
  } catch (error) {
    throw isCallers(error);
  }
}

export async function callersOwnLater<T>(theirs: () => Promise<T>): Promise<T> {
  try {
    return await theirs();
  } catch (error) {
    throw isCallers(error);
  }
}

function isCallers(error: unknown): unknown {
  if (typeof error === "object" && error !== null) callers.add(error);
  return error;
}

/** How many calls ended with which error. */
export class ErrorCounts {
  readonly #counts: Record<ErrorCode, number> = noErrors();

  get byCode(): ErrorsByCode {
    return { ...this.#counts };
  }

  /** A caller is told of it, or soon will be. What has no code counts as UNEXPECTED. */
  readonly add = (error: unknown): void => {
    if (typeof error === "object" && error !== null && callers.has(error)) return;
    this.#counts[isEhdbError(error) ? error.code : "UNEXPECTED"]++;
  };
}
