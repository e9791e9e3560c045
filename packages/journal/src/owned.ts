import { EhdbError, isEhdbError } from "@ehdb/contracts";
import type { Host } from "@ehdb/host";

/** A file that is this process's own while it has it open. */
export interface OwnedFile {
  readonly path: string;
  /** What the file was when it got its name. No other gets that number while this one is open. */
  readonly inode: number;
  /** It has so many bytes at least. */
  readonly zeroed?: number;
}

/**
 * Throws IO_ERROR when one of the names leads elsewhere, or to fewer bytes: somebody removed, replaced or cut the file, and what is
 * written through the descriptor may never be found again.
 */
export async function assertUntouched(host: Host, owned: readonly OwnedFile[]): Promise<void> {
  await Promise.all(owned.map((file) => assertOne(host, file)));
}

async function assertOne(host: Host, { path, inode, zeroed = 0 }: OwnedFile): Promise<void> {
  const found = await host.files.stat(path);
  const what =
    found === undefined
      ? "was removed"
      : found.inode !== inode
        ? "was replaced by another"
        : found.bytes < zeroed
          ? `was cut to ${found.bytes} bytes`
          : undefined;
  if (what === undefined) return;
  throw touched(path, what);
}

/** The same by the size of the file itself: what makes it longer would hide that it was cut. */
export function assertUncut(path: string, bytes: number, zeroed: number): void {
  if (bytes < zeroed) throw touched(path, `was cut to ${bytes} bytes`);
}

/** What those throw. */
export function isTouched(error: unknown): boolean {
  return isEhdbError(error, "IO_ERROR") && typeof error.data["file"] === "string";
}

function touched(path: string, what: string): EhdbError {
  const message = `${path} ${what} by somebody else while the journal was open, and its directory is its own. Close it, look at what is there, and open it again`;
  return new EhdbError("IO_ERROR", message, { file: path });
}

/** The file's own number. */
export async function inodeOf(host: Host, path: string): Promise<number> {
  return (await host.files.stat(path))?.inode ?? 0;
}
