// A door that counts what is read through it.
import type { File, Files, Host, OpenMode } from "@ehdb/host";

export interface Measured {
  readonly host: Host;
  reads: number;
  bytesRead: number;
  /** Files that are open now. */
  open: number;
}

export function measured(inner: Host): Measured {
  const { clock, random, workers } = inner;
  const files = new Proxy(inner.files, {
    get(target, name) {
      if (name === "open")
        return (path: string, mode: OpenMode) => target.open(path, mode).then((file) => watched(file, counts));
      const value: unknown = target[name as keyof Files];
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
  const counts: Measured = { host: { files, clock, random, workers }, reads: 0, bytesRead: 0, open: 0 };
  return counts;
}

function watched(file: File, counts: Measured): File {
  let isOpen = true;
  counts.open++;
  return new Proxy(file, {
    get(target, name) {
      if (name === "read") {
        return async (into: Uint8Array, position: number) => {
          const read = await target.read(into, position);
          counts.reads++;
          counts.bytesRead += read;
          return read;
        };
      }
      if (name === "close") {
        return async () => {
          if (isOpen) counts.open--;
          isOpen = false;
          await target.close();
        };
      }
      const value: unknown = target[name as keyof File];
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}
