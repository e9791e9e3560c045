import type { Fault, FaultContext } from "@ehdb/harness";
import type { JournalOptions } from "@ehdb/journal";
import { join } from "node:path";
import { allDone, refusedLast, refusedOnlyWith, same } from "./expect.ts";
import { checkAfresh } from "./fresh-open.ts";
import { Ledger } from "./ledger.ts";
import { idsOf } from "./records.ts";
import { Remote } from "./remote.ts";
import { failFromNow, requireStrace } from "./strace.ts";
import type { Injection, Traced } from "./strace.ts";

/** A journal that writes, and whose calls to the kernel fail from some moment on. */
interface Scene {
  readonly name: string;
  readonly injection: Injection;
  /** Whose calls: of the thread that runs JavaScript, of those that do the file work, or of all. */
  readonly threads: "main" | "others" | "all";
  readonly recordBytes: number;
  /** The call isn't made for an append, but for room that is made ahead. */
  readonly inBackground?: boolean;
}

/** A failure that leaves open what is on disk: the journal is poisoned until `reopen()`. */
export function poisons(scene: Scene): Fault {
  return {
    name: scene.name,
    inject: async (context) => {
      requireStrace();
      const ledger = new Ledger();
      const options = optionsOf(context);
      await using remote = await Remote.start({ nodeOptions: context.nodeOptions, threads: 1 });
      same("the state", await remote.ask("open", options), "open");
      const before = await remote.ask("appendTogether", idsOf("before", 20), 500);
      allDone(before);
      await using failing = await failFromNow(
        tracedOf(remote, scene),
        scene.injection,
        join(context.directory, "strace.log"),
      );
      const during = await remote.ask("append", idsOf("during", 2000), scene.recordBytes);
      // What fails in the background may fail between two appends: then none is left open.
      const message = refusedLast(during, "OUTCOME_UNKNOWN", ...(scene.inBackground ? ["POISONED" as const] : []));
      await failing.stop();
      const after = await remote.ask("append", ["poisoned:1"], 100);
      refusedLast(after, "POISONED");
      for (const outcomes of [before, during, after]) ledger.note(outcomes);
      const { state, cursors } = await remote.ask("state");
      same("the state", state, "poisoned");
      const readable = await remote.ask("readAll");
      ledger.check(readable);
      same("the last that is read", readable.at(-1)?.sequence, cursors.durable);
      await remote.ask("reopen");
      const reopened = await remote.ask("append", idsOf("reopened", 200), scene.recordBytes);
      allDone(reopened);
      ledger.note(reopened);
      ledger.check(await remote.ask("readAll"));
      same("the close", await remote.ask("close"), "clean");
      await checkAfresh(options, ledger);
      return `${ledger.acknowledged} acknowledged, all there; "${message.slice(0, message.indexOf(":"))}"`;
    },
  };
}

/** A disk that is full while room is made ahead: nothing is taken in, nothing is lost, and nothing has to be opened again. */
export function waitsForSpace(scene: Scene): Fault {
  return {
    name: scene.name,
    inject: async (context) => {
      requireStrace();
      const ledger = new Ledger();
      const options = optionsOf(context);
      await using remote = await Remote.start({ nodeOptions: context.nodeOptions, threads: 1 });
      await remote.ask("open", options);
      await using failing = await failFromNow(
        tracedOf(remote, scene),
        scene.injection,
        join(context.directory, "strace.log"),
      );
      const during = await remote.ask("append", idsOf("during", 2000), scene.recordBytes);
      refusedLast(during, "NO_SPACE");
      ledger.note(during);
      const { state, cursors } = await remote.ask("state");
      same("the state", state, "no-space");
      same("the last sequence given out", cursors.appended, ledger.acknowledged);
      ledger.check(await remote.ask("readAll"));
      await failing.stop();
      const millis = await untilAppended(remote, ledger, scene.recordBytes);
      const after = await remote.ask("append", idsOf("after", 100), scene.recordBytes);
      allDone(after);
      ledger.note(after);
      same("the close", await remote.ask("close"), "clean");
      await checkAfresh(options, ledger);
      return `NO_SPACE after ${during.length - 1} appends, on again within ${millis} ms; ${ledger.acknowledged} acknowledged, all there`;
    },
  };
}

/** Appends go on by themselves, within a second. Resolves with how long that took, in milliseconds. */
export async function untilAppended(remote: Remote, ledger: Ledger, bytes: number): Promise<number> {
  const started = performance.now();
  for (let tries = 1; ; tries++) {
    const outcomes = await remote.ask("append", [`again-${tries}:1`], bytes);
    ledger.note(outcomes);
    const millis = Math.round(performance.now() - started);
    if (outcomes[0]?.sequence !== undefined) return millis;
    refusedOnlyWith(outcomes, "NO_SPACE");
    if (millis > 1000) throw new Error(`there has been space for ${millis} ms, and appends still don't go on`);
  }
}

function optionsOf({ directory }: FaultContext): JournalOptions {
  return { dir: join(directory, "journal"), segmentBytes: 1024 * 1024 };
}

function tracedOf(remote: Remote, { threads }: Scene): Traced {
  if (threads === "all") return { process: remote.pid };
  return { threads: threads === "main" ? [remote.pid] : remote.otherThreads };
}
