import { isEhdbError } from "@ehdb/contracts";
import { backupStore, restoreStore } from "@ehdb/l0";
import type { BackupOptions, BackupReport } from "@ehdb/l0";
import { assertOutside } from "../assert-outside.ts";
import { store } from "../command.ts";
import type { Command } from "../command.ts";
import { exit } from "../exit-codes.ts";
import type { Session } from "../session.ts";
import { list, moment, size } from "../table.ts";
import { withEngine } from "../writable.ts";
import { writingKeys } from "../writing-keys.ts";

export const backup: Command = {
  name: "backup",
  isWriter: true,
  summary: "copies a store as it is now, parts by a second name where that can be",
  about:
    "Into a directory that is missing or empty, best on another disk. A store that nobody has open is opened as its writer, which also recovers what a crash has left. Beside the process that has it open nothing is locked or written there: the backup has all that it had acknowledged. To another disk, beside one that seals and merges all the time, it may never get done (LOCKED): engine.backup() in that process holds back what it copies.",
  args: [store, ["<to>", "the backup's directory"]],
  examples: [{ line: "ehdb backup ./store ./backup", says: "and `ehdb verify ./backup` says whether it's whole" }],
  async run(session, [dir = "", to = ""]) {
    await assertOutside(dir, to);
    const options = { signal: session.signal, onProgress: session.progress.of("backing up") };
    const { report, besideWriter } = await backUp(session, dir, to, options);
    await session.answer({ dir, to, besideWriter, ...report }, () =>
      list([
        ["taken", besideWriter ? "beside the process that writes" : "of a store that nobody had open"],
        ["commits up to", report.revision],
        ["parts", report.parts],
        ["commits in its journal", report.commits],
        ["linked", size(report.linkedBytes)],
        ["copied", size(report.copiedBytes)],
      ]),
    );
    return exit.fine;
  },
};

/** As the writer, so that nothing is missing that a crash has left unstated; beside the one there is. */
async function backUp(
  session: Session,
  dir: string,
  to: string,
  options: BackupOptions,
): Promise<{ readonly report: BackupReport; readonly besideWriter: boolean }> {
  try {
    const instead = "call engine.backup() in it, which lets it go on meanwhile";
    const report = await withEngine(session, dir, {}, instead, (engine) => engine.backup(to, options));
    return { report, besideWriter: false };
  } catch (error) {
    if (!isEhdbError(error, "LOCKED")) throw error;
  }
  const { signal, onProgress } = options;
  const encryption = await writingKeys(session, dir);
  const source = {
    dir,
    to,
    host: session.io.host,
    ...encryption,
    ...(signal && { signal }),
    ...(onProgress && { onProgress }),
  };
  return { report: await backupStore(source), besideWriter: true };
}

export const restore: Command = {
  name: "restore",
  summary: "makes a store of a backup",
  about:
    "Copies the backup, which stays as it is, into a directory that is missing or empty. The store is another incarnation: checkpoints of what came behind the backup are TRUNCATED there, and never taken for others' places.",
  args: [
    ["<backup>", "the backup's directory"],
    ["<to>", "the new store's directory"],
  ],
  examples: [
    { line: "ehdb restore ./backup ./restored", says: "as often as you like, each time into a new directory" },
  ],
  async run(session, [from = "", to = ""]) {
    await assertOutside(from, to);
    const report = await restoreStore({
      from,
      to,
      host: session.io.host,
      signal: session.signal,
      onProgress: session.progress.of("restoring"),
    });
    await session.answer({ from, to, ...report }, () =>
      list([
        ["commits up to", report.revision],
        ["backed up", moment(report.backupMillis)],
        ["bytes", size(report.bytes)],
      ]),
    );
    return exit.fine;
  },
};
