import { EhdbError, isEhdbError } from "@ehdb/contracts";

/** The system's name of an error: ENOSPC, EIO, … */
function errnoOf(error: unknown): string | undefined {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" && /^E[A-Z0-9]+$/.test(code) ? code : undefined;
}

export const isAbsent = (error: unknown): boolean => errnoOf(error) === "ENOENT";

/** A file where a directory should be. */
export const isNoDirectory = (error: unknown): boolean => errnoOf(error) === "ENOTDIR";

/** A directory that something else needs, as a mount point. */
export const isInUse = (error: unknown): boolean => errnoOf(error) === "EBUSY";

/** The disk, or the user's share of it, is full, or files may not grow any more (ulimit -f). */
export function isNoSpace(error: unknown): boolean {
  const errno = errnoOf(error);
  return errno === "ENOSPC" || errno === "EDQUOT" || errno === "EFBIG" || isEhdbError(error, "NO_SPACE");
}

/** What the disk said, as IO_ERROR, or NO_SPACE when it's full; anything else stays what it is. */
export function diskError(error: unknown, what: string, path: string): unknown {
  const errno = errnoOf(error);
  if (error instanceof EhdbError || !(error instanceof Error) || errno === undefined) return error;
  const reason = error.message;
  if (isNoSpace(error)) {
    const message = `${what} failed: the disk is full (${reason}). Free some space, then call again`;
    return new EhdbError("NO_SPACE", message, { path, errno }, error);
  }
  const message = `${what} failed: ${reason}. What was acknowledged is still there; call again, or open the store anew`;
  return new EhdbError("IO_ERROR", message, { path, errno }, error);
}
