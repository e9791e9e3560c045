import { realHost } from "@ehdb/host";
import type { File, Files, Host, OpenMode } from "@ehdb/host";

interface Counted {
  reads: number;
  /** That they gave. */
  bytes: number;
  writtenBytes: number;
}

/** This machine, counting the reads and writes of files. What jobs do in other threads isn't counted. */
export interface CountingHost {
  readonly host: Host;
  /** Since it was last called. */
  readonly take: () => Counted;
}

/** Counts only files whose path matches. */
export function countingHost(counts: RegExp = /^/): CountingHost {
  const real = realHost();
  const none = (): Counted => ({ reads: 0, bytes: 0, writtenBytes: 0 });
  let counted = none();
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
        if (name === "write") {
          return async (from: Uint8Array, position: number): Promise<void> => {
            await target.write(from, position);
            counted.writtenBytes += from.length;
          };
        }
        return bound(target, name);
      },
    });
  const files: Files = new Proxy(real.files, {
    get(target, name): unknown {
      if (name === "open")
        return async (path: string, mode: OpenMode): Promise<File> => {
          const file = await target.open(path, mode);
          return counts.test(path) ? counting(file) : file;
        };
      return bound(target, name);
    },
  });
  return {
    host: { ...real, files },
    take: () => {
      const taken = counted;
      counted = none();
      return taken;
    },
  };
}

/** Methods keep their own `this`: private fields aren't the proxy's. */
function bound(target: object, name: string | symbol): unknown {
  const value: unknown = Reflect.get(target, name, target);
  return typeof value === "function" ? value.bind(target) : value;
}
