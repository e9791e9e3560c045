import { EhdbError, isEhdbError } from "@ehdb/contracts";

/** The system's name of an error: ENOSPC, EIO, … */
export function errnoOf(error: unknown): string | undefined {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" && /^E[A-Z0-9]+$/.test(code) ? code : undefined;
}

/** The disk, or the user's share of it, is full, or files may not grow any more (ulimit -f). */
export function isNoSpace(error: unknown): boolean {
  const errno = errnoOf(error);
  return errno === "ENOSPC" || errno === "EDQUOT" || errno === "EFBIG" || isEhdbError(error, "NO_SPACE");
}

/** No more files can be opened, by this process or on this machine: that passes when others are closed. */
export function isOutOfFiles(error: unknown): boolean {
  const errno = errnoOf(error);
  return errno === "EMFILE" || errno === "ENFILE";
}

/** Not for this process. */
export function isForbidden(error: unknown): boolean {
  const errno = errnoOf(error);
  return errno === "EACCES" || errno === "EPERM";
}

/** A directory where a file should be. */
export const isDirectory = (error: unknown): boolean => errnoOf(error) === "EISDIR";

/** A file where a directory should be. */
export function isNoDirectory(error: unknown): boolean {
  const errno = errnoOf(error);
  return errno === "ENOTDIR" || errno === "EEXIST";
}

export const isAbsent = (error: unknown): boolean => errnoOf(error) === "ENOENT";

/** What to do about what the machine said, where that is known. */
const remedies: Readonly<Record<string, string>> = {
  EACCES: "Let this process's user read and write there",
  EPERM: "Let this process's user read and write there",
  EROFS: "Mount it for writing, or open it with a reader, which takes no lock and writes nothing",
  EMFILE: "Raise this process's limit of open files (ulimit -n), or close some",
  ENFILE: "Raise this machine's limit of open files, or close some",
};

/**
 * What the machine said, as IO_ERROR (NO_SPACE for a full disk). Everything else stays what it is: an `EhdbError`, and what a
 * caller's own function threw.
 */
export function machineError(error: unknown, what: string, path: string): unknown {
  const errno = errnoOf(error);
  if (error instanceof EhdbError || !(error instanceof Error) || errno === undefined) return error;
  const reason = error.message;
  if (isNoSpace(error)) {
    return new EhdbError(
      "NO_SPACE",
      `${what} failed: the disk is full (${reason}). Free some space, then call again`,
      { path },
      error,
    );
  }
  const remedy = remedies[errno];
  const message = `${what} failed: ${reason}${remedy === undefined ? "" : `. ${remedy}`}`;
  return new EhdbError("IO_ERROR", message, { path, errno }, error);
}
