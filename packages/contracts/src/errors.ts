/** What the caller should do about an error. */
export type ErrorKind =
  /** Wait, then call again: the call itself has taken nothing in, so nothing is done twice. */
  | "retry"
  /** The outcome is unknown or the writer has stopped: call `reopen()`, or open the directory again. */
  | "reopen"
  /** The call or the configuration is wrong: change it. */
  | "fix-the-call"
  /** What is on disk is damaged: `verify()`, then `salvage`, where there are these; else put back a copy. */
  | "repair-data"
  /** Neither the caller nor the disk explains it: report it with the data attached. */
  | "report";

export type ErrorCode =
  | "ABORTED"
  | "ALREADY_EXISTS"
  | "CLOSED"
  | "COMPACTED"
  | "CONFLICT"
  | "CORRUPT"
  | "FLUSH_TIMEOUT"
  | "ID_REUSED"
  | "INVALID_ARGUMENT"
  | "INVALID_OPTION"
  | "IO_ERROR"
  | "KEY_MISSING"
  | "LEASE_LOST"
  | "LOCKED"
  | "NOT_FOUND"
  | "NO_SPACE"
  | "OUTCOME_UNKNOWN"
  | "OUT_OF_ORDER"
  | "OUT_OF_RANGE"
  | "POISONED"
  | "QUEUE_FULL"
  | "READY_TIMEOUT"
  | "READ_ONLY"
  | "SEQUENCE_LOST"
  | "TOO_LARGE"
  | "TRUNCATED"
  | "UNEXPECTED"
  | "UNSUPPORTED"
  | "UNSUPPORTED_VERSION"
  | "WORKER_FAILED"
  | "WRONG_KEY";

/** Every code, with its kind. Codes are API and never change their meaning; messages aren't API. */
export const errorKinds: Readonly<Record<ErrorCode, ErrorKind>> = {
  ABORTED: "retry",
  ALREADY_EXISTS: "fix-the-call",
  CLOSED: "reopen",
  COMPACTED: "fix-the-call",
  CONFLICT: "fix-the-call",
  CORRUPT: "repair-data",
  FLUSH_TIMEOUT: "retry",
  ID_REUSED: "fix-the-call",
  INVALID_ARGUMENT: "fix-the-call",
  INVALID_OPTION: "fix-the-call",
  IO_ERROR: "reopen",
  KEY_MISSING: "fix-the-call",
  LEASE_LOST: "fix-the-call",
  LOCKED: "retry",
  NOT_FOUND: "fix-the-call",
  NO_SPACE: "retry",
  OUTCOME_UNKNOWN: "reopen",
  OUT_OF_ORDER: "fix-the-call",
  OUT_OF_RANGE: "fix-the-call",
  POISONED: "reopen",
  QUEUE_FULL: "retry",
  READY_TIMEOUT: "retry",
  READ_ONLY: "fix-the-call",
  SEQUENCE_LOST: "repair-data",
  TOO_LARGE: "fix-the-call",
  TRUNCATED: "fix-the-call",
  UNEXPECTED: "report",
  UNSUPPORTED: "fix-the-call",
  UNSUPPORTED_VERSION: "fix-the-call",
  WORKER_FAILED: "retry",
  WRONG_KEY: "fix-the-call",
};

/** Facts for the next step: the value that was wrong, the limit, the file and offset, the actual version. */
export type ErrorData = Readonly<Record<string, string | number | boolean | null | undefined>>;

/**
 * The one error that EHDB's packages throw on purpose. Decide by `code` (or `kind`), show `message` to
 * people, take the next step from `data`; `cause` keeps what the machine said.
 */
export class EhdbError extends Error {
  override readonly name = "EhdbError";
  readonly code: ErrorCode;
  readonly kind: ErrorKind;
  readonly data: ErrorData;

  constructor(code: ErrorCode, message: string, data: ErrorData = {}, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.kind = errorKinds[code];
    this.data = data;
  }

  /** The same facts for a machine. */
  toJSON(): { name: string; code: ErrorCode; kind: ErrorKind; message: string; data: ErrorData } {
    return { name: this.name, code: this.code, kind: this.kind, message: this.message, data: this.data };
  }
}

/** Whether `error` is an `EhdbError`, and, when codes are given, has one of them. */
export function isEhdbError(error: unknown, ...codes: ErrorCode[]): error is EhdbError {
  return error instanceof EhdbError && (codes.length === 0 || codes.includes(error.code));
}

/** Throws ABORTED, with the signal's reason as cause, when `signal` is aborted. */
export function throwIfAborted(signal: AbortSignal | undefined, what: string): void {
  if (signal?.aborted) throw abortedError(signal, what);
}

/** The error that a wait ends with when its signal fires. */
export function abortedError(signal: AbortSignal, what: string): EhdbError {
  return new EhdbError("ABORTED", `${what} was aborted by its signal`, {}, signal.reason);
}
