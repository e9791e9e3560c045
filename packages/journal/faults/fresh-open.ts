import { openJournal } from "@ehdb/journal";
import type { JournalOptions } from "@ehdb/journal";
import { same } from "./expect.ts";
import type { Ledger } from "./ledger.ts";
import { idOf, idsOf, isIntact, recordOf } from "./records.ts";
import type { Found, Outcome } from "./telling.ts";

const recordBytes = 12_000;

/** Opens the journal anew, reads all of it, and finds what was acknowledged. */
export async function checkAfresh(options: JournalOptions, ledger: Ledger): Promise<void> {
  await using journal = await openJournal({ ...options, verifyOnOpen: "all" });
  same("the state of a fresh open", journal.state, "open");
  const found: Found[] = [];
  for await (const { sequence, data } of journal.scan())
    found.push({ sequence, id: idOf(data), intact: isIntact(data) });
  ledger.check(found);
}

/** Makes a journal with records in two segments, and closes it. */
export async function prepare(options: JournalOptions, ledger: Ledger): Promise<void> {
  await using journal = await openJournal(options);
  const appended = idsOf("prepared", 120).map(async (id): Promise<Outcome> => {
    return { id, sequence: await journal.appendDurable(recordOf(id, recordBytes)) };
  });
  ledger.note(await Promise.all(appended));
}
