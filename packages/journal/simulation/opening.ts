import { Stage } from "@ehdb/harness";
import { openJournal } from "../src/index.ts";
import type { Journal, JournalOptions, JournalRecord } from "../src/index.ts";
import { codeOf, describe, DIRECTORY, mayHappen } from "./context.ts";
import type { Run } from "./context.ts";
import type { Shown } from "./ledger.ts";
import { batchesOf, look } from "./readers.ts";
import { drawKeys } from "./settings.ts";

const wholeDisk = 2 ** 40;

/** Why no journal came of it. */
export type NotOpened = "frozen" | "failed";

export function optionsOf(run: Run): JournalOptions {
  const { settings, host, random } = run;
  return { ...settings.options, dir: DIRECTORY, host, ...(settings.encrypted ? { encryption: drawKeys(random) } : {}) };
}

/** Opens the journal, several times when the disk fails, and holds what it finds to the ledger. */
export async function open(run: Run): Promise<Journal | NotOpened> {
  const { counts, random, host } = run;
  for (let attempt = 0; attempt < 8; attempt++) {
    if (attempt === 4) calm(run);
    const filled =
      attempt >= 4 || random.chance(0.7)
        ? undefined
        : await alone(
            run,
            "filling the disk",
            async () => await fill(run, random.pick([0, 8_000, 30_000, random.between(0, 1_300_000)])),
          );
    if (filled !== undefined) return filled;
    if (random.chance(0.2)) host.crashAfter(random.between(1, 45));
    const opened = await alone(run, "openJournal", async () => {
      try {
        return await openJournal(optionsOf(run));
      } catch (error) {
        const code = codeOf(error);
        // A journal without a segment has nothing to show on a full disk, and one whose lock file a crash took can't be locked.
        const cantLock = error instanceof Error && String(error.cause).includes("/LOCK'");
        const hasNoRoom = code === "NO_SPACE" && (run.ledger.firm === 0 || cantLock);
        if (!(code === "IO_ERROR" || hasNoRoom) || !mayHappen(run, code)) throw error;
        return undefined;
      }
    });
    if (opened === "frozen") counts.crashInRecovery++;
    if (opened === "frozen" || opened === "failed") return opened;
    if (opened === undefined) continue;
    counts.opens++;
    const journal = opened;
    const checked = await alone(run, "the look at what was recovered", async () => await checkOpened(run, journal));
    if (checked !== undefined) return checked;
    if (journal.state !== "read-only") return journal;
    // The disk was full. What is there has been read; with room again, the log must be written again.
    counts.readOnlyOpens++;
    host.faults.noSpaceAfterBytes = Infinity;
    const reopened = await reopen(run, journal);
    return reopened ?? journal;
  }
  run.ledger.fail("the journal can't be opened, and nothing is wrong any more");
  return "failed";
}

/** The same in place; `beside` others, who read meanwhile, when they have a stage. */
export async function reopen(run: Run, journal: Journal, beside?: Stage): Promise<NotOpened | undefined> {
  const does = async <T>(what: string, work: () => Promise<T>): Promise<T | NotOpened> =>
    beside === undefined ? await alone(run, what, work) : await beside.step(what, work);
  const { counts, random, host } = run;
  for (let attempt = 0; attempt < 8; attempt++) {
    if (attempt === 4) calm(run);
    if (random.chance(0.15)) host.crashAfter(random.between(1, 45));
    const done = await does("reopen", async () => {
      try {
        await journal.reopen();
        return true;
      } catch (error) {
        if (codeOf(error) !== "IO_ERROR" || !mayHappen(run, "IO_ERROR")) throw error;
        return false;
      }
    });
    if (done === "frozen") counts.crashInReopen++;
    if (done === "frozen" || done === "failed") return done;
    if (!done) continue;
    if (journal.state === "read-only") {
      host.faults.noSpaceAfterBytes = Infinity;
      continue;
    }
    counts.reopens++;
    return await does("the look at what was recovered", async () => await checkOpened(run, journal));
  }
  run.ledger.fail(`the journal can't be reopened, and nothing is wrong any more: ${journal.state}`);
  return "failed";
}

/** Leaves so much room on the disk, when this run has that kind of trouble. */
export async function fill(run: Run, bytes: number): Promise<void> {
  const { trouble } = run.settings;
  if (trouble !== "no space" && trouble !== "all") return;
  const { faults, files } = run.host;
  faults.noSpaceAfterBytes = wholeDisk;
  const free = await files.freeBytes("/");
  run.full = true;
  faults.noSpaceAfterBytes = wholeDisk - free + bytes;
}

/** Nothing goes wrong from now on. */
export function calm(run: Run): void {
  Object.assign(run.host.faults, { syncError: 0, writeError: 0, readError: 0, noSpaceAfterBytes: Infinity });
}

/** Does one thing with nobody beside it. */
export async function alone<T>(run: Run, what: string, work: () => Promise<T>): Promise<T | NotOpened> {
  let result: { readonly value: T } | undefined;
  let failed = false;
  const stage = new Stage(run.host, (who, error) => {
    failed = true;
    run.ledger.fail(`${who}: ${describe(error)}`);
  });
  stage.start(what, async () => {
    const value = await stage.step(what, work);
    result = { value };
  });
  const end = await stage.finish();
  if (end === "frozen") return "frozen";
  if (end === "hung") run.ledger.fail(`it hangs: ${stage.waiting}`);
  if (end === "hung" || failed) return "failed";
  return (result as { readonly value: T }).value;
}

/** Reads everything; then the ledger knows what survived, and old checkpoints are tried. */
async function checkOpened(run: Run, journal: Journal): Promise<undefined> {
  const { ledger, counts, host } = run;
  const { readError } = host.faults;
  host.faults.readError = 0;
  const { first, last, recovery } = journal;
  if (recovery.last !== last)
    ledger.fail(`the recovery report says ${recovery.last} is the last, and the journal ${last}`);
  if (journal.state !== "read-only" && journal.cursors.durable !== last)
    ledger.fail(`after recovery ${last} is the last, and only ${journal.cursors.durable} durable`);
  let next = first;
  let time = 0;
  for await (const batch of journal.scan().batches()) {
    for (const record of batch) {
      if (record.sequence !== next) ledger.fail(`the log goes from ${next - 1} to ${record.sequence}`);
      if (record.time < time) ledger.fail(`the time falls from ${time} to ${record.time} at ${record.sequence}`);
      next = record.sequence + 1;
      time = record.time;
      look(run, record, journal.state !== "read-only");
    }
  }
  if (next !== last + 1) ledger.fail(`a scan of the whole log ends at ${next - 1}, and the last is ${last}`);
  if (run.random.chance(0.15)) {
    const { ok, damage } = await journal.verify();
    if (!ok) ledger.fail(`verify after recovery found damage: ${JSON.stringify(damage[0])}`);
  }
  if (journal.state !== "read-only") {
    counts.copied += recovery.recordsCopied;
    counts.cutRecords += Math.max(0, ledger.last - last);
    ledger.opened(first, last, journal.epoch);
    for (const shown of run.shown) await tryCheckpoint(run, journal, shown);
  }
  host.faults.readError = readError;
}

/** Goes on where a reader stopped once: with the next record, or with the reason why not. */
async function tryCheckpoint(run: Run, journal: Journal, shown: Shown): Promise<void> {
  const { checkpoint, write } = shown;
  const { sequence } = checkpoint;
  const { first, last } = journal;
  // Only what follows is certain once the record itself has been dropped.
  if (sequence < first && write.state === "cut") return;
  const expected =
    sequence + 1 < first
      ? "COMPACTED"
      : write.state === "cut"
        ? "TRUNCATED"
        : sequence === last
          ? "nothing"
          : sequence + 1;
  let got: string | number | undefined = "nothing";
  try {
    for await (const [record] of batchesOf(run, journal.scan({ after: checkpoint }))) {
      got = (record as JournalRecord).sequence;
      break;
    }
  } catch (error) {
    got = codeOf(error);
    if (got === undefined) throw error;
  }
  run.counts.checkpoints++;
  if (expected === "TRUNCATED") run.counts.cutCheckpoints++;
  if (got !== expected)
    run.ledger.fail(
      `a scan after ${sequence} of epoch ${checkpoint.epoch} (${write.state}) gave ${got}, not ${expected}; the log is ${first} to ${last}`,
    );
}
