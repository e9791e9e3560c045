import { EhdbError, type ErrorCode, type ErrorData } from "@ehdb/contracts";

/** What goes to a worker thread. `id` is unique in its thread. */
export interface JobRequest {
  readonly id: number;
  readonly module: string;
  readonly name: string;
  readonly input: unknown;
}

/** What comes back, once for each request. */
export type JobReply =
  | { readonly id: number; readonly output: unknown }
  | { readonly id: number; readonly failure: Failure };

/** An error on its way: structured cloning would strip it of its class and `code`. */
export interface Failure {
  readonly ehdb?: { readonly code: ErrorCode; readonly data: ErrorData } | undefined;
  readonly name: string;
  readonly message: string;
  readonly stack?: string | undefined;
  /** Node's additions: `code`, `errno`, `syscall`, `path`. */
  readonly facts: Readonly<Record<string, string | number>>;
  readonly cause?: Failure | undefined;
}

export function failureOf(thrown: unknown): Failure {
  if (!(thrown instanceof Error)) return { name: "Error", message: String(thrown), facts: {} };
  const { name, message, stack, cause } = thrown;
  return {
    ehdb: thrown instanceof EhdbError ? { code: thrown.code, data: thrown.data } : undefined,
    name,
    message,
    stack,
    facts: Object.fromEntries(
      Object.entries(thrown).filter(([, value]) => typeof value === "string" || typeof value === "number"),
    ),
    cause: cause === undefined ? undefined : failureOf(cause),
  };
}

export function errorOf(failure: Failure): Error {
  const { ehdb, name, message, stack, facts } = failure;
  const cause = failure.cause && errorOf(failure.cause);
  if (ehdb !== undefined) {
    const error = new EhdbError(ehdb.code, message, ehdb.data, cause);
    if (stack !== undefined) error.stack = stack;
    return error;
  }
  const error = new Error(message, cause && { cause });
  return Object.assign(error, { name, ...(stack !== undefined && { stack }) }, facts);
}
