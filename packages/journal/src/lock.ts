import { EhdbError, isEhdbError } from "@ehdb/contracts";
import type { File, Host, Lock } from "@ehdb/host";
import { dirname, join } from "node:path";
import { isAbsent, isDirectory, isForbidden } from "./machine-error.ts";
import { assertUntouched, inodeOf } from "./owned.ts";
import type { OwnedFile } from "./owned.ts";
import { segmentId, segmentPath } from "./segment.ts";

const retryMillis = 20;

/** The lock and the file that carries it: whoever removes it lets others in. */
export interface DirectoryLock extends Lock, OwnedFile {
  /** Throws IO_ERROR when the file isn't there any more, or another is. */
  readonly assertHeld: () => Promise<void>;
  /** Told what `assertHeld` throws. */
  onLost: (error: unknown) => void;
}

/** Segments that a writer may have locked at once: the one it writes, and the one it has made ready. */
const lockedAtOnce = 2;

/**
 * The byte of a segment that its writer locks, beyond all that is in it. By the directory, so that a segment that also has a name in a copy
 * isn't locked there.
 */
export const segmentLockPlace = async (host: Host, dir: string): Promise<number> =>
  2 ** 52 + ((await inodeOf(host, dir)) % 2 ** 52);

/** The kernel's lock on the journal's directory. LOCKED when somebody holds it for longer than `timeoutMillis`. */
export async function lockDirectory(host: Host, dir: string, timeoutMillis: number): Promise<DirectoryLock> {
  const path = join(dir, "LOCK");
  const lock = await lockFile(host, path, timeoutMillis);
  try {
    const held: DirectoryLock = {
      path,
      inode: await inodeOf(host, path),
      release: () => lock.release(),
      onLost: () => undefined,
      assertHeld: async () => {
        try {
          await assertUntouched(host, [held]);
        } catch (error) {
          held.onLost(error);
          throw error;
        }
      },
    };
    return held;
  } catch (error) {
    await lock.release();
    throw error;
  }
}

/** LOCKED when somebody writes here without the LOCK that there is: his was removed while he held it. */
async function refuseWritten(host: Host, dir: string): Promise<void> {
  const place = await segmentLockPlace(host, dir);
  const ids = (await host.files.list(dir)).flatMap((name) => segmentId(name) ?? []).sort((a, b) => a - b);
  for (const id of ids.slice(-lockedAtOnce)) {
    const path = segmentPath(dir, id);
    let file: File;
    try {
      file = await host.files.open(path, "write");
    } catch (error) {
      // Who can't write it can't lock it either.
      if (isAbsent(error) || isForbidden(error) || isDirectory(error)) continue;
      throw error;
    }
    const isFree = file.tryLockByte(place);
    await file.close();
    if (isFree) continue;
    const message = `${path} is being written, and its writer's LOCK isn't there any more: somebody removed it. Close that writer, in this process or another, first`;
    throw new EhdbError("LOCKED", message, { path });
  }
}

async function lockFile(host: Host, path: string, timeoutMillis: number): Promise<Lock> {
  const { clock } = host;
  const end = clock.monotonic() + timeoutMillis;
  for (;;) {
    try {
      const lock = await host.files.lock(path);
      try {
        await refuseWritten(host, dirname(path));
        return lock;
      } catch (error) {
        await lock.release();
        throw error;
      }
    } catch (error) {
      const left = end - clock.monotonic();
      if (!isEhdbError(error, "LOCKED") || left <= 0) throw error;
      await new Promise<void>((resolve) => clock.timer(Math.min(retryMillis, left), resolve, true));
    }
  }
}
