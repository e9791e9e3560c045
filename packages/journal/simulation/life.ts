import { Stage } from "@ehdb/harness";
import type { StageEnd } from "@ehdb/harness";
import type { Journal } from "../src/index.ts";
import { codeOf, describe, inspect, mayHappen } from "./context.ts";
import type { Run, Work } from "./context.ts";
import { plantLeftover } from "./leftover.ts";
import { failAfterShowing, losePages } from "./lost-pages.ts";
import { alone, open, reopen } from "./opening.ts";
import { reader, readerProcess, tail } from "./readers.ts";
import { makeRoom, upkeep } from "./upkeep.ts";
import { writer } from "./writers.ts";

/** From an open to a crash, a kill or a close, with reopens between. False when there is no point in going on. */
export async function live(run: Run): Promise<boolean> {
  const { random, counts, ledger } = run;
  run.full = run.host.faults.noSpaceAfterBytes !== Infinity;
  const journal = await open(run);
  if (journal === "failed") return false;
  if (journal === "frozen") return await afterwards(run);
  if (run.settings.encrypted) counts.encrypted++;
  if (run.settings.options.compression === "deflate") counts.compressed++;
  if (random.chance(0.4)) run.host.crashAfter(random.between(1, 400));
  for (let rounds = random.between(1, 2); rounds > 0; rounds--) {
    const end = await work(run, journal);
    if (end === "hung" || ledger.violations.length > 0) return false;
    if (end === "frozen") return await afterwards(run);
    if (journal.state !== "poisoned") continue;
    counts.poisonings++;
    if (random.chance(0.2)) break;
    const reopened = await reopen(run, journal);
    if (reopened === "failed") return false;
    if (reopened === "frozen") return await afterwards(run);
  }
  if (random.chance(0.4) || run.settings.rots) {
    const closed = await close(run, journal);
    if (closed === "failed") return false;
    if (closed === "frozen") counts.crashInClose++;
    if (closed === undefined && random.chance(0.5)) return true;
  }
  return await afterwards(run);
}

/** The machine loses its power, or only the process dies; and the disk may be left with what isn't the log's. */
async function afterwards(run: Run): Promise<boolean> {
  const kill = run.random.chance(0.25);
  run.host = kill ? run.host.kill() : run.host.crash(run.random.chance(0.2) ? "nothing" : undefined);
  if (kill) run.counts.kills++;
  if (!kill && run.random.chance(0.15)) await plantLeftover(run);
  return true;
}

async function work(run: Run, journal: Journal): Promise<StageEnd> {
  const { random, settings } = run;
  const stage = new Stage(run.host, (who, error) => run.ledger.fail(`${who}: ${describe(error)}`));
  const working: Work = {
    run,
    stage,
    journal,
    epoch: journal.epoch,
    showsDurable: journal.durability === "sync",
    crowded: false,
    closing: false,
  };
  const { rolls } = journal.stats();
  const controller = new AbortController();
  const { signal } = controller;
  if (settings.options.retention !== undefined) run.ledger.lowMost = Infinity;
  const workers = [
    ...Array.from({ length: random.between(1, 3) }, () => writer(working, random.between(2, 12))),
    ...Array.from({ length: random.between(0, 2) }, () => reader(working, random.between(1, 5))),
    upkeep(working, random.between(0, 6)),
  ];
  stage.start("the work", async () => {
    try {
      await Promise.all(workers);
      if (random.chance(0.8)) await makeRoom(working);
      if (random.chance(0.4)) await failAfterShowing(working);
      if (journal.state === "poisoned" && random.chance(0.6)) {
        run.counts.poisonings++;
        // Those who follow have seen all they can by then.
        await stage.pause(10);
        if (random.chance(0.7)) await stage.step("losing pages", async () => await losePages(run, journal));
        const reopened = await reopen(run, journal, stage);
        // Sequences that were taken back are given out again, under the eyes of those who follow.
        if (reopened === undefined) await writer({ ...working, epoch: journal.epoch }, random.between(2, 8));
        await stage.pause(10);
      }
    } finally {
      controller.abort();
    }
  });
  for (let tails = random.between(0, 2); tails > 0; tails--)
    stage.start("a tail", async () => await tail(working, journal, signal, () => working.showsDurable));
  if (random.chance(0.3)) stage.start("a reader", async () => await readerProcess(working, signal));
  const end = await stage.finish();
  if (end === "hung") run.ledger.fail(`it hangs: ${stage.waiting}`);
  if (end !== "frozen") run.counts.rolls += journal.stats().rolls - rolls;
  if (end === "done") inspect(working);
  return end;
}

async function close(run: Run, journal: Journal): Promise<"frozen" | "failed" | undefined> {
  const { random, ledger, counts, host } = run;
  if (random.chance(0.3)) host.crashAfter(random.between(1, 6));
  const { appended } = journal.cursors;
  const healthy = journal.state === "open";
  return await alone(run, "close", async () => {
    const { state, cursors } = await journal.close();
    counts.closes++;
    if (state === "clean") {
      if (cursors.durable !== cursors.appended)
        ledger.fail(`close says clean, with ${cursors.durable} of ${cursors.appended} durable`);
      if (cursors.appended !== appended && healthy)
        ledger.fail(`close says that ${cursors.appended} were appended, and it was ${appended}`);
      if (healthy) ledger.acknowledge(cursors.appended);
    } else if (state === "timed out") ledger.fail("close timed out, and no timeout was given");
    else if (!mayHappen(run, "POISONED") && healthy) ledger.fail(`close says ${state}, and nothing has failed`);
    ledger.acknowledge(cursors.durable);
    if (journal.state !== "closed") ledger.fail(`after close the state is ${journal.state}`);
    refusesWhenClosed(run, journal);
    return undefined;
  });
}

function refusesWhenClosed(run: Run, journal: Journal): void {
  try {
    journal.append(new Uint8Array(1));
    run.ledger.fail("append after close was taken");
  } catch (error) {
    if (codeOf(error) !== "CLOSED") run.ledger.fail(`append after close: ${describe(error)}`);
  }
}
