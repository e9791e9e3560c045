import { EhdbError } from "@ehdb/contracts";
import type { ErrorCode } from "@ehdb/contracts";
import type { Fault, FaultContext } from "@ehdb/harness";
import type { JournalOptions } from "@ehdb/journal";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { refusedOnlyWith } from "./expect.ts";
import { checkAfresh } from "./fresh-open.ts";
import { Ledger } from "./ledger.ts";
import { idsOf } from "./records.ts";
import { Remote } from "./remote.ts";
import { failFromNow, requireStrace } from "./strace.ts";
import type { Injection } from "./strace.ts";

const lives = 2;
const recordBytes = 24 * 1024;
const keptRecords = 40;

/**
 * One call fails, whatever it is made for: an open, an append, a roll, a drop, a reopen or a close. What was acknowledged
 * stays, whoever is told is told IO_ERROR, OUTCOME_UNKNOWN or POISONED, and a second call does it.
 */
export function failsAnywhere(what: string, injection: Omit<Injection, "when">, nth: readonly number[]): Fault {
  return {
    name: `${what}: call ${nth.join(", ")} from the open on`,
    inject: async (context) => {
      requireStrace();
      const told = new Set<string>();
      let failed = 0;
      for (const n of nth) {
        const directory = join(context.directory, String(n));
        mkdirSync(directory);
        failed += await live({ ...context, directory }, { ...injection, when: String(n) }, told);
      }
      const how = told.size === 0 ? "nobody had to be told" : `told as ${[...told].sort().join(", ")}`;
      return `${failed} calls failed; ${how}; all acknowledged there`;
    },
  };
}

async function live(context: FaultContext, injection: Injection, told: Set<string>): Promise<number> {
  const options: JournalOptions = { dir: join(context.directory, "journal"), segmentBytes: 1024 * 1024 };
  const ledger = new Ledger();
  let failed: number;
  {
    await using remote = await Remote.start({ nodeOptions: context.nodeOptions, threads: 1 });
    await using failing = await failFromNow({ process: remote.pid }, injection, join(context.directory, "strace.log"));
    for (let life = 0; life < lives; life++) {
      await twice(told, () => remote.ask("open", options));
      for (let round = 0; round < 3; round++) {
        const outcomes = await remote.ask("append", idsOf(`${life}.${round}`, 30), recordBytes);
        refusedOnlyWith(outcomes, "OUTCOME_UNKNOWN", "POISONED");
        ledger.note(outcomes);
        const code = outcomes.at(-1)?.refusal?.code;
        if (code !== undefined) told.add(code);
        await recovered(remote, told);
        ledger.check(await twice(told, () => remote.ask("readAll")));
        await dropOld(remote, ledger, told);
      }
      const closed = await remote.ask("close");
      if (closed !== "clean") told.add(closed);
    }
    failed = await failing.stop();
  }
  await checkAfresh(options, ledger);
  return failed;
}

async function dropOld(remote: Remote, ledger: Ledger, told: Set<string>): Promise<void> {
  const first = (await remote.ask("last")) - keptRecords;
  if (first < 1) return;
  ledger.mayDrop(first);
  await twice(told, async () => {
    await recovered(remote, told);
    return await remote.ask("dropBefore", first);
  });
}

async function recovered(remote: Remote, told: Set<string>): Promise<void> {
  if ((await remote.ask("state")).state === "poisoned") await twice(told, () => remote.ask("reopen"));
}

/** A call that may fail once, with an error that says so. */
async function twice<T>(told: Set<string>, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    const expected: readonly ErrorCode[] = ["IO_ERROR", "OUTCOME_UNKNOWN", "POISONED"];
    if (!(error instanceof EhdbError) || !expected.includes(error.code)) throw error;
    told.add(error.code);
    return await call();
  }
}
