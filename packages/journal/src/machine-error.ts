import { EhdbError } from "@ehdb/contracts";

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

/** The disk, or the user's share of it, is full. */
export function isNoSpace(error: unknown): boolean {
  const code = codeOf(error);
  return code === "ENOSPC" || code === "EDQUOT" || code === "NO_SPACE";
}

export const isAbsent = (error: unknown): boolean => codeOf(error) === "ENOENT";

/** What the machine said, as IO_ERROR (NO_SPACE for a full disk); an `EhdbError` stays what it is. */
export function machineError(error: unknown, what: string, path: string): EhdbError {
  if (error instanceof EhdbError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  if (isNoSpace(error)) {
    return new EhdbError("NO_SPACE", `${what} failed: the disk is full (${reason}). Free some space, then call again`, { path }, error);
  }
  return new EhdbError("IO_ERROR", `${what} failed: ${reason}`, { path, errno: codeOf(error) ?? "" }, error);
}
