import type { Fault } from "@ehdb/harness";
import { openJournalReader } from "@ehdb/journal";
import { join } from "node:path";
import { Ledger } from "./ledger.ts";
import { same } from "./expect.ts";
import { Remote } from "./remote.ts";
import type { Found, Outcome } from "./telling.ts";

const recordBytes = 3000;
/** Enough for a few segments. */
const firstRecords = 400;
const moreRecords = 100;

/** A writer is stopped in mid-load, goes on, is killed and followed by another, while a reader in a third process tails. */
export const stoppedWriter: Fault = {
  name: "SIGSTOP, SIGCONT and SIGKILL of a writer beside a tailing reader",
  inject: async (context) => {
    const options = { dir: join(context.directory, "journal"), segmentBytes: 1024 * 1024 };
    await using reader = await Remote.start(context);
    await using first = await Remote.start(context);
    await first.ask("open", options);
    await reader.ask("openReader", options.dir);
    await reader.ask("keepReading");
    await first.ask("keepAppending", "first", recordBytes);
    await first.until(() => outcomesOf(first).length >= firstRecords, `${firstRecords} records are acknowledged`);

    first.signal("SIGSTOP");
    const stated = await statedIn(options.dir);
    await reader.until(
      () => lastOf(reader) >= stated,
      `it has read all ${stated} records that the stopped writer stated`,
    );
    same("the last that the reader knows of", await reader.ask("refresh"), stated);
    // Whoever reads the log besides the tail is served too.
    same("the records that a scan gives meanwhile", (await reader.ask("readAll")).length, stated);

    first.signal("SIGCONT");
    await first.until(() => outcomesOf(first).length >= stated + moreRecords, "it goes on");
    await reader.until(() => lastOf(reader) >= stated + moreRecords, "it reads on");
    await first.kill();

    await using second = await Remote.start(context);
    await second.ask("open", { ...options, lockTimeoutMillis: 5000 });
    await second.ask("keepAppending", "second", recordBytes);
    await second.until(() => outcomesOf(second).length >= moreRecords, "it appends");
    const last = outcomesOf(second).at(-1)?.sequence ?? 0;
    await reader.until(() => lastOf(reader) >= last, `it reads what the second writer appended, up to ${last}`);
    second.signal("SIGSTOP");
    const all = recordsOf(reader);
    checkAgainst([...outcomesOf(first), ...outcomesOf(second)], all);
    return `${all.length} records read without a gap or a double, ${stated} of them stated when the writer stopped`;
  },
};

/** What the log itself states durable, as a fourth party finds it. */
async function statedIn(dir: string): Promise<number> {
  await using reader = await openJournalReader({ dir });
  return await reader.refresh();
}

/** Each acknowledged record was read once, at its sequence, from the first on; what wasn't acknowledged may be there too. */
function checkAgainst(outcomes: readonly Outcome[], all: readonly Found[]): void {
  const ledger = new Ledger();
  ledger.expect(all.map(({ id }) => id));
  ledger.note(outcomes.filter(({ sequence = 0 }) => sequence <= (all.at(-1)?.sequence ?? 0)));
  same("the first that was read", all[0]?.sequence, 1);
  ledger.check(all);
}

function outcomesOf(writer: Remote): Outcome[] {
  return writer.heard.flatMap((telling) => (telling.says === "acknowledged" ? [telling.outcome] : []));
}

function recordsOf(reader: Remote): Found[] {
  return reader.heard.flatMap((telling) => (telling.says === "read" ? [...telling.records] : []));
}

function lastOf(reader: Remote): number {
  const ended = reader.heard.find(({ says }) => says === "ended");
  if (ended?.says === "ended") throw new Error(`the tail ended: ${ended.refusal.code}: ${ended.refusal.message}`);
  const newest = reader.heard.findLast(({ says }) => says === "read");
  return newest?.says === "read" ? (newest.records.at(-1)?.sequence ?? 0) : 0;
}
