// Several real processes at one directory, a few seconds each. `npm run faults -- --tier journal` does more of it, and worse.
import { mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";
import { filesInOpen } from "../faults/limits.ts";
import { stoppedWriter } from "../faults/stopped-writer.ts";
import { killedHolder, lockedOut, lockRemoved, waitsForLock } from "../faults/two-processes.ts";

const tsx = pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href;
/** The programs run the sources, as this test does: nothing has to be built before. */
const nodeOptions = ["--conditions=@ehdb/source", "--import", tsx];

describe.skipIf(process.platform === "win32")("several processes at one directory", () => {
  test.each([
    ["a second process is refused at once, and told what to do", lockedOut],
    ["a second process is refused as well when the LOCK was removed", lockRemoved],
    ["a second process waits as long as it was told to, and gets in when the first closes", waitsForLock],
    ["after a SIGKILL the next process gets in at once", killedHolder],
    ["a reader goes on beside a writer that is stopped, continued, killed and followed by another", stoppedWriter],
    ["an open that had no file descriptors left is possible later in the same process", filesInOpen],
  ])("%s", async (_what, fault) => {
    const directory = await mkdtemp(join(tmpdir(), "journal-processes-"));
    try {
      expect(await fault.inject({ directory, nodeOptions })).toMatch(/./);
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });
});
