import { errorKinds, isEhdbError } from "@ehdb/contracts";
import type { ErrorCode } from "@ehdb/contracts";

export type ErrorsByCode = Readonly<Record<ErrorCode, number>>;

/** Of every code, those that can't happen included: whoever watches sees each from the start. */
export function noErrors(): Record<ErrorCode, number> {
  return Object.fromEntries(Object.keys(errorKinds).map((code) => [code, 0])) as Record<ErrorCode, number>;
}

/** How many calls ended with which error. */
export class ErrorCounts {
  readonly #counts: Record<ErrorCode, number> = noErrors();

  get byCode(): ErrorsByCode {
    return { ...this.#counts };
  }

  /** A caller is told of it, or soon will be. What has no code counts as UNEXPECTED. */
  readonly add = (error: unknown): void => {
    this.#counts[isEhdbError(error) ? error.code : "UNEXPECTED"]++;
  };
}
