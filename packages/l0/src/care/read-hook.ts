import type { File, Files } from "@ehdb/host";

/** Files of which each read is told of, with its bytes, and isn't done before whoever is told lets it go on. */
export function withReadHook(files: Files, hook: (bytes: number) => Promise<void>): Pick<Files, "open"> {
  return { open: async (path, mode) => hooked(await files.open(path, mode), hook) };
}

function hooked(file: File, hook: (bytes: number) => Promise<void>): File {
  return {
    path: file.path,
    read: async (into, position) => {
      const bytes = await file.read(into, position);
      await hook(bytes);
      return bytes;
    },
    write: (bytes, position) => file.write(bytes, position),
    writeAtSync: (bytes, position) => file.writeAtSync(bytes, position),
    preallocate: (position, bytes) => file.preallocate(position, bytes),
    dataSync: () => file.dataSync(),
    dataSyncBlocking: () => file.dataSyncBlocking(),
    truncate: (bytes) => file.truncate(bytes),
    size: () => file.size(),
    close: () => file.close(),
  };
}
