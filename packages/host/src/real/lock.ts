import { EhdbError } from "@ehdb/contracts";
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import type * as native from "fs-native-extensions";
import { createRequire } from "node:module";
import { codeOf } from "../file-error.ts";
import type { Lock } from "../host.ts";

const require = createRequire(import.meta.url);

/** See `File.tryLockByte`. */
export function tryLockByte(descriptor: number, position: number): boolean {
  const { tryLock } = require("fs-native-extensions") as typeof native;
  try {
    return tryLock(descriptor, position, 1);
  } catch (error) {
    if (codeOf(error) === "EINVAL") return true;
    throw error;
  }
}

/** The lock goes with the file's last descriptor; children of this process inherit none. */
export async function lockFile(path: string): Promise<Lock> {
  // Loaded when needed: whoever only simulates needs no native code. An import() that failed once, say for want of a file
  // descriptor, would fail for ever; a require is tried again.
  const { tryLock } = require("fs-native-extensions") as typeof native;
  const handle = await open(path, constants.O_RDWR | constants.O_CREAT, 0o666);
  try {
    if (!tryLock(handle.fd)) {
      throw new EhdbError("LOCKED", `${path} is locked: close what holds it, in this process or another, first`, {
        path,
      });
    }
  } catch (error) {
    await handle.close();
    throw error;
  }
  let released: Promise<void> | undefined;
  return { release: () => (released ??= handle.close()) };
}
