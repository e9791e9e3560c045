import type { EhdbError } from "@ehdb/contracts";
import { NotInjected } from "@ehdb/harness";
import type { Fault } from "@ehdb/harness";
import type { JournalOptions } from "@ehdb/journal";
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync } from "node:fs";
import { join } from "node:path";
import { allDone, refusal, refusedOnlyWith, same } from "./expect.ts";
import { untilAppended } from "./failing-calls.ts";
import { checkAfresh, prepare } from "./fresh-open.ts";
import { Ledger } from "./ledger.ts";
import { idsOf } from "./records.ts";
import { Remote } from "./remote.ts";
import { SmallDisk } from "./small-disk.ts";

const mib = 1024 * 1024;
/** Enough for Node itself, and a few dozen more. */
const fewFiles = ["sh", "-c", 'ulimit -n 96; exec "$@"', "sh"];
/** Descriptors that are left when the rest is taken: an open needs a handful. */
const leftOver = [0, 1, 2, 3, 4];

export const filesInOpen: Fault = {
  name: "no more files may be open: an open",
  inject: async (context) => {
    const options = optionsOf(join(context.directory, "journal"));
    const ledger = new Ledger();
    await prepare(options, ledger);
    await using remote = await Remote.start({ ...context, through: fewFiles });
    const errors: string[] = [];
    for (const left of leftOver) {
      await remote.ask("takeDescriptors", left);
      try {
        const error = await refusal(remote.ask("open", options), "IO_ERROR");
        saysWhatToDo(error, /ulimit/);
        errors.push(String(error.data["errno"]));
      } catch (error) {
        // With so many left it may go well.
        if (!(error instanceof Error) || !error.message.includes('gave "open"')) throw error;
        errors.push("open");
        await remote.ask("close");
      }
      await remote.ask("giveDescriptors");
    }
    same("the state with files again, in the same process", await remote.ask("open", options), "open");
    const more = await remote.ask("append", idsOf("more", 10), 1000);
    allDone(more);
    ledger.note(more);
    await remote.ask("close");
    await checkAfresh(options, ledger);
    return `${leftOver.join(", ")} left: ${errors.join(", ")}; then open in the same process; ${ledger.acknowledged} acknowledged, all there`;
  },
};

export const filesInUse: Fault = {
  name: "no more files may be open: rolls and reads",
  inject: async (context) => {
    const options = optionsOf(join(context.directory, "journal"));
    const ledger = new Ledger();
    await prepare(options, ledger);
    await using remote = await Remote.start({ ...context, through: fewFiles });
    await remote.ask("open", options);
    await remote.ask("takeDescriptors", 0);
    const reading = await refusal(remote.ask("readAll"), "IO_ERROR");
    const during = await remote.ask("append", idsOf("during", 200), 16 * 1024);
    refusedOnlyWith(during, "NO_SPACE");
    ledger.note(during);
    const refused = during.at(-1)?.refusal;
    same("the cause", refused?.data?.["cause"], "files");
    same("the state", (await remote.ask("state")).state, "no-space");
    await remote.ask("giveDescriptors");
    ledger.check(await remote.ask("readAll"));
    const millis = await untilAppended(remote, ledger, 16 * 1024);
    const after = await remote.ask("append", idsOf("after", 200), 16 * 1024);
    allDone(after);
    ledger.note(after);
    ledger.check(await remote.ask("readAll"));
    same("the close", await remote.ask("close"), "clean");
    await checkAfresh(options, ledger);
    return `a read: ${reading.code} ${String(reading.data["errno"])}; a roll: ${refused?.code} ${String(refused?.data?.["errno"])}, on again within ${millis} ms; ${ledger.acknowledged} acknowledged, all there`;
  },
};

export const unwritableDirectory: Fault = {
  name: "a directory that may not be written",
  inject: async (context) => {
    const options = optionsOf(join(context.directory, "journal"));
    const ledger = new Ledger();
    await prepare(options, ledger);
    const through = process.getuid?.() === 0 ? withoutOverride() : [];
    chmodSync(options.dir, 0o555);
    try {
      await using remote = await Remote.start({ ...context, through });
      const made = await refusal(remote.ask("open", optionsOf(join(options.dir, "new"))), "IO_ERROR");
      await remote.ask("openReader", options.dir);
      ledger.check(await remote.ask("readAll"));
      const error = await refusal(remote.ask("open", options), "IO_ERROR");
      saysWhatToDo(error, /user/);
      return `"${error.message.replaceAll(context.directory, "…")}"; a new one: ${String(made.data["errno"])}; a reader reads all`;
    } finally {
      chmodSync(options.dir, 0o755);
    }
  },
};

export const readOnlyMount: Fault = {
  name: "a disk that is mounted read-only",
  inject: async (context) => {
    using disk = new SmallDisk(join(context.directory, "disk"), "size=8m");
    const options = optionsOf(join(disk.directory, "journal"));
    const ledger = new Ledger();
    await prepare(options, ledger);
    disk.makeReadOnly();
    await using remote = await Remote.start(context);
    const error = await refusal(remote.ask("open", options), "IO_ERROR");
    saysWhatToDo(error, /openJournalReader/);
    await remote.ask("openReader", options.dir);
    ledger.check(await remote.ask("readAll"));
    const made = await refusal(remote.ask("open", optionsOf(join(disk.directory, "new"))), "IO_ERROR");
    if (existsSync(join(disk.directory, "new"))) throw new Error("a directory was made on a read-only disk");
    return `"${error.message.replaceAll(context.directory, "…")}"; a new one: ${String(made.data["errno"])}; a reader reads all`;
  },
};

/** Root may write everywhere, unless it gives that up. */
function withoutOverride(): string[] {
  const command = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"];
  const tried = spawnSync(command[0] as string, [...command.slice(1), "true"]);
  if (tried.status !== 0)
    throw new NotInjected("root may write everywhere, and setpriv isn't there to take that away: run as another user");
  return command;
}

function saysWhatToDo({ message }: EhdbError, remedy: RegExp): void {
  if (!remedy.test(message)) throw new Error(`the error doesn't say what to do: ${message}`);
}

function optionsOf(dir: string): JournalOptions {
  return { dir, segmentBytes: mib };
}
