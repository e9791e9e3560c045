import { EhdbError } from "@ehdb/contracts";
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import type { Lock } from "../host.ts";

/** The lock goes with the file's last descriptor; children of this process inherit none. */
export async function lockFile(path: string): Promise<Lock> {
  // Loaded when needed: whoever only simulates needs no native code.
  const { tryLock } = await import("fs-native-extensions");
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
