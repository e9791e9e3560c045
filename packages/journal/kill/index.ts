import type { KillTarget, Survivor } from "@ehdb/harness";
import { openJournal } from "@ehdb/journal";
import { existsSync } from "node:fs";
import { idOf, recordIntact } from "./records.ts";
import { journalOptions, settingsOf } from "./settings.ts";
import type { KillSettings } from "./settings.ts";

export const kill: KillTarget = {
  tier: "journal",
  program: new URL("program.ts", import.meta.url),
  killsPerDirectory: 10,
  settings: settingsOf,
  defects: { "acknowledges before it is durable": "lost", "appends twice": "doubled" },
  async *survivors(directory: string, settings: unknown): AsyncGenerator<Survivor> {
    // A program that was killed before it made the directory has acknowledged nothing.
    if (!existsSync(directory)) return;
    await using journal = await openJournal(journalOptions(directory, settings as KillSettings));
    for await (const records of journal.scan().batches()) {
      for (const { sequence, data } of records)
        yield { position: sequence, id: idOf(data), intact: recordIntact(data) };
    }
  },
};
