import { constants } from "node:os";

/** The errors that files end with, worded as Node words them. */
const meanings = {
  EBADF: "bad file descriptor",
  EDQUOT: "disk quota exceeded",
  EEXIST: "file already exists",
  EINVAL: "invalid argument",
  EIO: "i/o error",
  EISDIR: "illegal operation on a directory",
  ENOENT: "no such file or directory",
  ENOSPC: "no space left on device",
  ENOTDIR: "not a directory",
  ENOTEMPTY: "directory not empty",
  EPERM: "operation not permitted",
  EROFS: "read-only file system",
} as const;

export type FileErrorCode = keyof typeof meanings;

/** An error shaped like Node's: `code`, `errno`, `syscall`, `path` and, for two names, `dest`. */
export function fileError(code: FileErrorCode, syscall: string, path: string, dest?: string): NodeJS.ErrnoException {
  const target = dest === undefined ? `'${path}'` : `'${path}' -> '${dest}'`;
  const error: NodeJS.ErrnoException & { dest?: string } = new Error(
    `${code}: ${meanings[code]}, ${syscall} ${target}`,
  );
  error.code = code;
  error.errno = -(constants.errno[code] ?? 0);
  error.syscall = syscall;
  error.path = path;
  if (dest !== undefined) error.dest = dest;
  return error;
}

/** The `code` of an error of the machine, or `undefined`. */
export function codeOf(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}
