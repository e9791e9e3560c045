import { join } from "node:path";
import type { Host } from "@ehdb/host";
import { isAbsent, isNoSpace } from "./machine-error.ts";

/** Space kept aside: recovery gives it back to the disk when it can't go on without. */
export const reservePath = (dir: string): string => join(dir, "space.reserve");

/** Makes the reserve as large as configured. On a full disk it stays as it is, until another open. */
export async function keepReserve(host: Host, dir: string, bytes: number): Promise<void> {
  const path = reservePath(dir);
  const { files } = host;
  const found = await files.stat(path);
  if (found?.bytes === bytes || (found === undefined && bytes === 0)) return;
  if (bytes === 0) return await files.remove(path);
  const temporary = `${path}.${host.random.id()}.tmp`;
  try {
    const file = await files.open(temporary, "create");
    try {
      await file.preallocate(0, bytes);
      await file.dataSync();
    } finally {
      await file.close();
    }
    await files.rename(temporary, path);
    await files.syncDirectory(dir);
  } catch (error) {
    await files.remove(temporary).catch(() => undefined);
    if (!isNoSpace(error)) throw error;
  }
}

export async function giveUpReserve(host: Host, dir: string): Promise<void> {
  try {
    await host.files.remove(reservePath(dir));
  } catch (error) {
    if (!isAbsent(error)) throw error;
  }
}
