import type { Fault } from "@ehdb/harness";
import type { JournalOptions } from "@ehdb/journal";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { allDone, refusal, refusedLast, same } from "./expect.ts";
import { untilAppended } from "./failing-calls.ts";
import { checkAfresh } from "./fresh-open.ts";
import { Ledger } from "./ledger.ts";
import { idsOf } from "./records.ts";
import { Remote } from "./remote.ts";
import { SmallDisk } from "./small-disk.ts";

const mib = 1024 * 1024;
const recordBytes = 4000;

export const filledByAppends: Fault = {
  name: "a disk filled by appends, then freed by a drop",
  inject: async (context) => {
    using disk = new SmallDisk(join(context.directory, "disk"), "size=8m");
    const options: JournalOptions = { dir: join(disk.directory, "journal"), segmentBytes: mib };
    const ledger = new Ledger();
    let seen: string;
    {
      await using remote = await Remote.start(context);
      await remote.ask("open", options);
      const message = await fillByAppends(remote, ledger);
      const fullAt = ledger.last;
      await remote.ask("dropBefore", dropHalf(ledger));
      const millis = await untilAppended(remote, ledger, recordBytes);
      const more = await remote.ask("append", idsOf("more", 100), recordBytes);
      allDone(more);
      ledger.note(more);
      ledger.check(await remote.ask("readAll"));
      same("the close", await remote.ask("close"), "clean");
      seen = `full after ${fullAt} appends, on again ${millis} ms after the drop`;
      if (!/dropBefore/.test(message)) throw new Error(`the error doesn't say what to do: ${message}`);
    }
    await checkAfresh(options, ledger);
    return `${seen}; ${ledger.acknowledged} acknowledged and kept, all there`;
  },
};

export const filledByOthers: Fault = {
  name: "a disk filled by other files while closed",
  inject: async (context) => {
    using disk = new SmallDisk(join(context.directory, "disk"), "size=8m");
    const options: JournalOptions = { dir: join(disk.directory, "journal"), segmentBytes: mib };
    const ledger = new Ledger();
    let states: string;
    {
      await using remote = await Remote.start(context);
      await remote.ask("open", options);
      const first = await remote.ask("append", idsOf("first", 300), recordBytes);
      allDone(first);
      ledger.note(first);
      await remote.ask("close");
      disk.fill();
      const reserved = await remote.ask("open", options);
      same("the state that the reserve gives", reserved, "open");
      ledger.check(await remote.ask("readAll"));
      await fillByAppends(remote, ledger);
      await remote.ask("close");
      disk.fill();
      const second = await remote.ask("open", options);
      same("the state without a reserve", second, "read-only");
      ledger.check(await remote.ask("readAll"));
      const refused = await remote.ask("append", ["read-only:1"], recordBytes);
      const message = refusedLast(refused, "READ_ONLY");
      ledger.note(refused);
      if (!/full/.test(message) || !/reopen/.test(message))
        throw new Error(`the error doesn't say why, or what to do: ${message}`);
      disk.free();
      await remote.ask("reopen");
      same("the state after reopen()", (await remote.ask("state")).state, "open");
      const last = await remote.ask("append", idsOf("last", 100), recordBytes);
      allDone(last);
      ledger.note(last);
      same("the close", await remote.ask("close"), "clean");
      states = `${reserved}, ${second}, and open after reopen()`;
    }
    await checkAfresh(options, ledger);
    return `opened ${states}; ${ledger.acknowledged} acknowledged, all there`;
  },
};

/** So small that the first segment doesn't fit, or so many files that no further one may be made. */
export function tooSmall(what: string, mountOptions: string): Fault {
  return {
    name: what,
    inject: async (context) => {
      using disk = new SmallDisk(join(context.directory, "disk"), mountOptions);
      const options: JournalOptions = { dir: join(disk.directory, "journal"), segmentBytes: mib };
      await using remote = await Remote.start(context);
      const error = await refusal(remote.ask("open", options), "NO_SPACE");
      await refusal(remote.ask("open", options), "NO_SPACE");
      const left = readdirSync(disk.directory, { recursive: true, encoding: "utf8" }).filter(
        (name) => !/^journal(\/LOCK)?$/.test(name),
      );
      if (left.length > 0) throw new Error(`left behind: ${left.join(", ")}`);
      return `"${error.message}"; nothing left behind but the directory and its lock`;
    },
  };
}

/** Appends until there is no space. What is refused isn't given a sequence, and everything can be read. Resolves with the refusal. */
async function fillByAppends(remote: Remote, ledger: Ledger): Promise<string> {
  const filled = await remote.ask("append", idsOf(`full-${ledger.last}`, 10_000), recordBytes);
  const message = refusedLast(filled, "NO_SPACE");
  ledger.note(filled);
  const { state, cursors } = await remote.ask("state");
  same("the state", state, "no-space");
  same("the last sequence given out", cursors.appended, ledger.last);
  ledger.check(await remote.ask("readAll"));
  return message;
}

/** Where to drop to, so that about half goes. */
function dropHalf(ledger: Ledger): number {
  const first = Math.floor(ledger.acknowledged / 2);
  ledger.mayDrop(first);
  return first;
}
