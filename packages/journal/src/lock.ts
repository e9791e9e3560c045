import { isEhdbError } from "@ehdb/contracts";
import type { Host, Lock } from "@ehdb/host";
import { join } from "node:path";
import { assertUntouched, inodeOf } from "./owned.ts";
import type { OwnedFile } from "./owned.ts";

const retryMillis = 20;

/** The lock and the file that carries it: whoever removes it lets others in. */
export interface DirectoryLock extends Lock, OwnedFile {
  /** Throws IO_ERROR when the file isn't there any more, or another is. */
  readonly assertHeld: () => Promise<void>;
  /** Told what `assertHeld` throws. */
  onLost: (error: unknown) => void;
}

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

async function lockFile(host: Host, path: string, timeoutMillis: number): Promise<Lock> {
  const { clock } = host;
  const end = clock.monotonic() + timeoutMillis;
  for (;;) {
    try {
      return await host.files.lock(path);
    } catch (error) {
      const left = end - clock.monotonic();
      if (!isEhdbError(error, "LOCKED") || left <= 0) throw error;
      await new Promise<void>((resolve) => clock.timer(Math.min(retryMillis, left), resolve, true));
    }
  }
}
