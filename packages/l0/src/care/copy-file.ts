import { MIB } from "@ehdb/contracts";
import type { Files } from "@ehdb/host";

const sliceBytes = MIB;
/** Synced at once: a sync of more would hold up others for long. */
const syncBytes: number = 16 * MIB;

/** Copies a file's bytes, and resolves with their number; the copy is synced, its name isn't. `onBytes` is told of each piece, and may throw to end it. */
export async function copyFile(
  files: Files,
  from: string,
  to: string,
  onBytes: (bytes: number) => void,
): Promise<number> {
  const source = await files.open(from, "read");
  try {
    const target = await files.open(to, "create");
    try {
      const bytes = await source.size();
      const slice = Buffer.allocUnsafeSlow(Math.min(sliceBytes, Math.max(1, bytes)));
      let [at, synced] = [0, 0];
      while (at < bytes) {
        const read = await source.read(slice, at);
        if (read === 0) break;
        await target.write(slice.subarray(0, read), at);
        at += read;
        onBytes(read);
        if (at - synced < syncBytes) continue;
        await target.dataSync();
        synced = at;
      }
      await target.dataSync();
      return at;
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

/** What a file system says that can't give a file a second name there. */
const linkRefusals: ReadonlySet<unknown> = new Set(["EXDEV", "EPERM", "ENOTSUP", "EOPNOTSUPP", "EMLINK", "ENOSYS"]);

/** Gives a file that never changes a second name, or, where that can't be, copies it. False when it was copied. */
export async function linkOrCopy(
  files: Files,
  from: string,
  to: string,
  onBytes: (bytes: number) => void,
): Promise<boolean> {
  try {
    await files.link(from, to);
    return true;
  } catch (error) {
    if (!(error instanceof Error && "code" in error && linkRefusals.has(error.code))) throw error;
    await copyFile(files, from, to, onBytes);
    return false;
  }
}
