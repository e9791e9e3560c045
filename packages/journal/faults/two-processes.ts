import type { Fault, FaultContext } from "@ehdb/harness";
import type { JournalOptions } from "@ehdb/journal";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { allDone, refusal, same } from "./expect.ts";
import { checkAfresh } from "./fresh-open.ts";
import { Ledger } from "./ledger.ts";
import { idsOf } from "./records.ts";
import { Remote } from "./remote.ts";

/** Far more than an open takes on a busy machine, and far less than the waits that are set here. */
const atOnceMillis = 5000;
const longMillis = 50_000;

export const lockedOut: Fault = {
  name: "a second process opens the directory",
  inject: async (context) => {
    const options = optionsOf(context);
    await using first = await Remote.start(context);
    await first.ask("open", options);
    const ledger = new Ledger();
    ledger.note(await first.ask("append", idsOf("first", 5), 100));
    await using second = await Remote.start(context);
    const started = performance.now();
    const error = await refusal(second.ask("open", options), "LOCKED");
    const millis = Math.round(performance.now() - started);
    if (millis > atOnceMillis) throw new Error(`LOCKED came only after ${millis} ms`);
    if (!error.message.includes(options.dir) || !/close/.test(error.message)) {
      throw new Error(`the error doesn't say what is locked, or what to do: ${error.message}`);
    }
    // The refusal takes nothing from the one who has it.
    const more = await first.ask("append", idsOf("still", 5), 100);
    allDone(more);
    ledger.note(more);
    ledger.check(await first.ask("readAll"));
    await first.ask("close");
    await checkAfresh(options, ledger);
    return `LOCKED: "${error.message.replace(options.dir, "…")}"`;
  },
};

export const lockRemoved: Fault = {
  name: "a second process opens the directory, whose LOCK was removed",
  inject: async (context) => {
    const options = optionsOf(context);
    await using first = await Remote.start(context);
    await first.ask("open", options);
    const ledger = new Ledger();
    ledger.note(await first.ask("append", idsOf("first", 5), 100));
    await rm(join(options.dir, "LOCK"));
    await using second = await Remote.start(context);
    const error = await refusal(second.ask("open", options), "LOCKED");
    if (!error.message.includes(".segment")) throw new Error(`the error doesn't say what is locked: ${error.message}`);
    // As often as it's tried: a refusal that left its lock behind would say so in other words.
    await refusal(second.ask("open", options), "LOCKED");
    await first.kill();
    same("the state", await second.ask("open", options), "open");
    ledger.check(await second.ask("readAll"));
    return `LOCKED: "${error.message.replace(options.dir, "…")}"; in as soon as the first is dead`;
  },
};

export const waitsForLock: Fault = {
  name: "a second process waits with lockTimeoutMillis",
  inject: async (context) => {
    const options = optionsOf(context);
    await using first = await Remote.start(context);
    await first.ask("open", options);
    const ledger = new Ledger();
    ledger.note(await first.ask("append", idsOf("first", 5), 100));
    await using second = await Remote.start(context);
    const briefly = await refusal(second.ask("open", { ...options, lockTimeoutMillis: 100 }), "LOCKED");
    let isOpen = false;
    const opening = second.ask("open", { ...options, lockTimeoutMillis: longMillis }).then((state) => {
      isOpen = true;
      return state;
    });
    // It answers while it waits, and still waits.
    await refusal(second.ask("openReader", join(options.dir, "elsewhere")), "NOT_FOUND");
    same("whether the second got in beside the first", isOpen, false);
    await first.ask("close");
    same("the state", await opening, "open");
    const more = await second.ask("append", idsOf("second", 5), 100);
    allDone(more);
    ledger.note(more);
    ledger.check(await second.ask("readAll"));
    return `${briefly.code} after its 100 ms; with longer, in as soon as the first had closed`;
  },
};

export const killedHolder: Fault = {
  name: "SIGKILL of the process that holds the directory",
  inject: async (context) => {
    const options = optionsOf(context);
    const ledger = new Ledger();
    await using first = await Remote.start(context);
    await first.ask("open", options);
    ledger.note(await first.ask("append", idsOf("first", 20), 100));
    await using second = await Remote.start(context);
    await refusal(second.ask("open", options), "LOCKED");
    await first.kill();
    same("the state", await second.ask("open", options), "open");
    ledger.check(await second.ask("readAll"));
    const more = await second.ask("append", idsOf("second", 5), 100);
    allDone(more);
    ledger.note(more);
    ledger.check(await second.ask("readAll"));
    return `the next open got in without waiting; ${ledger.acknowledged} acknowledged, all there`;
  },
};

function optionsOf({ directory }: FaultContext): JournalOptions {
  return { dir: join(directory, "journal"), segmentBytes: 1024 * 1024 };
}
