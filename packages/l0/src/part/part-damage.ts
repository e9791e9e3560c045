import { EhdbError } from "@ehdb/contracts";

/** A place of a part that isn't what was written there. */
export interface PartDamage {
  readonly file: string;
  readonly offset: number;
  readonly reason: string;
}

export function corruptPart(file: string, offset: number, reason: string, cause?: unknown): EhdbError {
  return new EhdbError(
    "CORRUPT",
    `${file} is damaged at byte ${offset}: ${reason}. Nothing was changed; put this file back from a backup`,
    { file, offset, reason },
    cause,
  );
}

/** What the machine said about a part's file. One that is missing is damage: a part is named only once it's durable. */
export function partReadError(error: unknown, file: string): unknown {
  const errno = error instanceof Error && "code" in error ? error.code : undefined;
  if (error instanceof EhdbError || !(error instanceof Error) || typeof errno !== "string") return error;
  if (errno === "ENOENT") return corruptPart(file, 0, "the file is missing", error);
  return new EhdbError("IO_ERROR", `reading ${file} failed: ${error.message}`, { path: file, errno }, error);
}

/** Whether the file of a part is what is missing: beside a writer that can mean that it was merged into another. */
export function isMissingPart(error: unknown): boolean {
  const cause = error instanceof EhdbError && error.code === "CORRUPT" ? error.cause : undefined;
  return cause instanceof Error && "code" in cause && cause.code === "ENOENT";
}
