import { restoreStore } from "@ehdb/l0";
import { assertOutside } from "../assert-outside.ts";
import { store } from "../command.ts";
import type { Command } from "../command.ts";
import { exit } from "../exit-codes.ts";
import { list, moment, size } from "../table.ts";
import { withEngine } from "../writable.ts";

export const backup: Command = {
  name: "backup",
  summary: "copies a store as it is now, parts by a second name where that can be",
  about:
    "Into a directory that is missing or empty, best on another disk. Opens the store as its writer, which no other process may be: a program that has it open calls engine.backup(), and goes on meanwhile.",
  args: [store, ["<to>", "the backup's directory"]],
  examples: [{ line: "ehdb backup ./store ./backup", says: "and `ehdb verify ./backup` says whether it's whole" }],
  async run(session, [dir = "", to = ""]) {
    await assertOutside(dir, to);
    const options = { signal: session.signal, onProgress: session.progress.of("backing up") };
    const instead = "call engine.backup() in it, which lets it go on meanwhile";
    const report = await withEngine(session, dir, {}, instead, (engine) => engine.backup(to, options));
    await session.answer({ dir, to, ...report }, () =>
      list([
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
