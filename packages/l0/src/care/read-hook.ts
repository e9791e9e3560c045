import type { File, Files } from "@ehdb/host";

/** Files of which each read is told of, with its bytes, and isn't done before whoever is told lets it go on. */
export function withReadHook(files: Pick<Files, "open">, hook: (bytes: number) => Promise<void>): Pick<Files, "open"> {
  return withReads(files, async (file, into, position) => {
    const bytes = await file.read(into, position);
    await hook(bytes);
    return bytes;
  });
}

/** Files that are read in another way. */
export function withReads(
  files: Pick<Files, "open">,
  read: (file: File, into: Uint8Array, position: number) => Promise<number>,
): Pick<Files, "open"> {
  return { open: async (path, mode) => readBy(await files.open(path, mode), read) };
}

function readBy(file: File, read: (file: File, into: Uint8Array, position: number) => Promise<number>): File {
  return {
    path: file.path,
    read: (into, position) => read(file, into, position),
    write: (bytes, position) => file.write(bytes, position),
    writeAtSync: (bytes, position) => file.writeAtSync(bytes, position),
    preallocate: (position, bytes) => file.preallocate(position, bytes),
    dataSync: () => file.dataSync(),
    dataSyncBlocking: () => file.dataSyncBlocking(),
    truncate: (bytes) => file.truncate(bytes),
    tryLockByte: (position) => file.tryLockByte(position),
    size: () => file.size(),
    close: () => file.close(),
  };
}
