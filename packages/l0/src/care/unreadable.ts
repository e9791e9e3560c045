import { sep } from "node:path";
import type { File, Files, Host } from "@ehdb/host";
import { withReads } from "./read-hook.ts";
import type { StoreDamage } from "./damage.ts";

/** Bytes of a file that the disk can't give back. */
export interface Unreadable {
  readonly file: string;
  readonly offset: number;
  readonly bytes: number;
}

/** What a disk loses at once. */
const pieceBytes = 4096;

/**
 * The same machine, whose reads below `dir` go around what the disk can't read (EIO): that comes out as zeros, which no checksum takes for what was
 * there, and is told. So a bad sector is damage in one place, and not the end of the work.
 */
export function aroundUnreadable(host: Host, dir: string, onUnreadable: (found: Unreadable) => void): Host {
  const { clock, random, workers } = host;
  return { clock, random, workers, files: filesAround(host.files, dir, onUnreadable) };
}

export function openAround(files: Pick<Files, "open">, onUnreadable: (found: Unreadable) => void): Pick<Files, "open"> {
  return withReads(files, async (file, into, position) => {
    try {
      return await file.read(into, position);
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      return await readPieces(file, into, position, onUnreadable);
    }
  });
}

export function damageOfUnreadable({ file, offset, bytes }: Unreadable): StoreDamage {
  const kind = file.endsWith(".part") ? "part" : file.endsWith(".segment") ? "journal" : "manifest";
  return { kind, file, offset, reason: `the disk can't read ${bytes} bytes there (EIO)` };
}

/** Pieces that lie behind each other as one, each once. */
export class UnreadablePlaces {
  readonly #pieces = new Map<string, Unreadable>();

  readonly add = (found: Unreadable): void => void this.#pieces.set(`${found.file}:${found.offset}`, found);

  get damage(): StoreDamage[] {
    const places: Unreadable[] = [];
    const inOrder = [...this.#pieces.values()].sort(
      (a, b) => (a.file < b.file ? -1 : a.file > b.file ? 1 : 0) || a.offset - b.offset,
    );
    for (const piece of inOrder) {
      const before = places.at(-1);
      if (before?.file === piece.file && before.offset + before.bytes >= piece.offset)
        places[places.length - 1] = { ...before, bytes: piece.offset + piece.bytes - before.offset };
      else places.push(piece);
    }
    return places.map(damageOfUnreadable);
  }
}

function filesAround(files: Files, dir: string, onUnreadable: (found: Unreadable) => void): Files {
  const around = openAround(files, onUnreadable);
  return {
    open: (path, mode) => (mode === "read" && path.startsWith(dir + sep) ? around : files).open(path, mode),
    rename: (from, to) => files.rename(from, to),
    link: (existing, path) => files.link(existing, path),
    remove: (path) => files.remove(path),
    list: (directory) => files.list(directory),
    stat: (path) => files.stat(path),
    makeDirectory: (path) => files.makeDirectory(path),
    removeDirectory: (path) => files.removeDirectory(path),
    syncDirectory: (directory) => files.syncDirectory(directory),
    watch: (directory, onChange) => files.watch(directory, onChange),
    lock: (path) => files.lock(path),
    freeBytes: (path) => files.freeBytes(path),
  };
}

async function readPieces(
  file: File,
  into: Uint8Array,
  position: number,
  onUnreadable: (found: Unreadable) => void,
): Promise<number> {
  const end = Math.min(into.length, (await file.size()) - position);
  for (let at = 0; at < end;) {
    // At the disk's own borders.
    const next = Math.min(end, at + pieceBytes - ((position + at) % pieceBytes));
    const piece = into.subarray(at, next);
    try {
      await file.read(piece, position + at);
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      piece.fill(0);
      onUnreadable({ file: file.path, offset: position + at, bytes: piece.length });
    }
    at = next;
  }
  return Math.max(0, end);
}

const isUnreadable = (error: unknown): boolean => error instanceof Error && "code" in error && error.code === "EIO";
