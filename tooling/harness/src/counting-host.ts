import { realHost } from "@ehdb/host";
import type { File, Files, Host, OpenMode } from "@ehdb/host";

/** This machine, counting the reads of files. */
export interface CountingHost {
  readonly host: Host;
  /** Reads, and the bytes that they gave, since it was last called. */
  readonly take: () => { reads: number; bytes: number };
}

export function countingHost(): CountingHost {
  const real = realHost();
  let counted = { reads: 0, bytes: 0 };
  const counting = (file: File): File =>
    new Proxy(file, {
      get(target, name): unknown {
        if (name === "read") {
          return async (into: Uint8Array, position: number): Promise<number> => {
            const bytes = await target.read(into, position);
            counted.reads++;
            counted.bytes += bytes;
            return bytes;
          };
        }
        return bound(target, name);
      },
    });
  const files: Files = new Proxy(real.files, {
    get(target, name): unknown {
      if (name === "open")
        return async (path: string, mode: OpenMode): Promise<File> => counting(await target.open(path, mode));
      return bound(target, name);
    },
  });
  return {
    host: { ...real, files },
    take: () => {
      const taken = counted;
      counted = { reads: 0, bytes: 0 };
      return taken;
    },
  };
}

/** Methods keep their own `this`: private fields aren't the proxy's. */
function bound(target: object, name: string | symbol): unknown {
  const value: unknown = Reflect.get(target, name, target);
  return typeof value === "function" ? value.bind(target) : value;
}
