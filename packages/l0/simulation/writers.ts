import type { Appended, Commit } from "@ehdb/contracts";
import { stating } from "./calls.ts";
import type { Call } from "./calls.ts";
import { codeOf, inspect, mayHappen } from "./context.ts";
import type { Run, Work } from "./context.ts";
import { remember } from "./readers.ts";

/** Commits in all the ways there are, for a while, or until the engine takes no more. */
export async function writer(work: Work, operations: number): Promise<void> {
  const { run, stage } = work;
  const { random } = run;
  for (let left = operations; left > 0 && takes(work); left--) {
    inspect(work);
    const choice = random.integer(100);
    if (choice < 40) await commit(work, drawn(work));
    else if (choice < 60) await burst(work, random.chance(0.15) ? random.between(15, 40) : random.between(2, 10));
    else if (choice < 72) await repeat(work);
    else if (choice < 80) await ready(work);
    else if (choice < 86) await flush(work);
    else if (choice < 88) await giveUp(work);
    else await stage.pause(random.pick([1, 5, 60, 300]));
  }
  inspect(work);
}

function takes({ engine }: Work): boolean {
  return engine.state !== "poisoned" && engine.state !== "closed" && engine.state !== "corrupt";
}

/** Several commits that are called in one turn: their order is that of the calls. */
export async function burst(work: Work, count: number): Promise<void> {
  const commits: Promise<void>[] = [];
  for (let i = 0; i < count; i++) {
    const again = work.run.random.chance(0.15) ? work.run.calls.repeat() : undefined;
    commits.push(commit(work, again ?? drawn(work)));
  }
  await Promise.all(commits);
}

/** One of before: a duplicate, unless its ids are forgotten; or an id that is used for something else. */
async function repeat(work: Work): Promise<void> {
  const call = work.run.calls.repeat();
  if (call !== undefined) await commit(work, call);
}

function drawn(work: Work): Call {
  const call = work.run.calls.draw(!work.hasNamelessCommit);
  if (call.isNameless) work.hasNamelessCommit = true;
  return call;
}

/** Drawn and called in one turn, so that the ledger's order is the engine's. */
async function commit(work: Work, call: Call): Promise<void> {
  const { run, stage, engine } = work;
  const { ledger, counts, calls } = run;
  const controller = new AbortController();
  const { asyncTurns } = run;
  const isAsync = run.durability === "async";
  await stage.step(`commit ${call.number}`, async () => {
    ledger.ask(call);
    try {
      const committing = engine.commit(stating(call.statements), call.mayAbort ? { signal: controller.signal } : {});
      // One that waits for its turn is given up; one that was taken in can't be.
      if (call.mayAbort) controller.abort();
      const done = await committing;
      if (done.isDuplicate) counts.duplicates++;
      else counts.commits++;
      const isDurable = !isAsync && run.asyncTurns === asyncTurns;
      if (isDurable) ledger.acknowledge(done.revision);
      else rememberAppends(run, call, done);
      ledger.heard(call, { says: "committed", commit: done });
      if (engine.revision < done.revision && engine.state === "open")
        ledger.fail(`commit ${done.revision} was answered, and only ${engine.revision} can be read`);
    } catch (error) {
      refused(work, call, error);
    }
    if (call.isNameless && call.answer.says !== "nothing") work.hasNamelessCommit = false;
    calls.learn(call);
    inspect(work);
  });
}

/** Of what isn't durable yet: a crash may take it back. */
function rememberAppends(run: Run, call: Call, { appended }: Commit): void {
  call.statements
    .filter((one) => one.kind === "append")
    .forEach(({ dataset }, place) => {
      const { sort } = appended[place] as Appended;
      remember(run, { dataset, sort, epoch: run.ledger.epoch, isCut: false });
    });
}

function refused(work: Work, call: Call, error: unknown): void {
  const { ledger, counts } = work.run;
  const code = codeOf(error);
  const { data } = error as { data?: unknown };
  if (code === "CONFLICT" || code === "ID_REUSED") {
    if (code === "CONFLICT") counts.conflicts++;
    else counts.idsReused++;
    ledger.heard(call, { says: "no", code, data });
    return;
  }
  if (code === "OUTCOME_UNKNOWN" && mayHappen(work.run, code)) {
    counts.outcomeUnknown++;
    return;
  }
  const isExpected = (code === "ABORTED" && call.mayAbort) || (code === "CLOSED" && work.closing);
  if (!isExpected && (code === "OUTCOME_UNKNOWN" || !mayHappen(work.run, code))) throw error;
  if (code === "ABORTED") counts.aborted++;
  else counts.refused++;
  ledger.heard(call, { says: "refused", code: String(code) });
}

async function ready(work: Work): Promise<void> {
  const { run, engine, stage } = work;
  await stage.step("ready", async () => {
    try {
      await engine.ready();
      run.counts.readies++;
    } catch (error) {
      excuse(work, error);
    }
  });
}

export async function flush(work: Work): Promise<void> {
  const { run, engine, stage } = work;
  await stage.step("flush", async () => {
    const { accepted } = engine.heads;
    try {
      const reached = await engine.flush();
      run.counts.flushes++;
      if (reached < accepted) run.ledger.fail(`flush resolved with ${reached}, and ${accepted} were taken in before`);
      run.ledger.acknowledge(reached);
    } catch (error) {
      excuse(work, error);
    }
  });
}

/** A commit that nobody wants any more is refused. */
async function giveUp(work: Work): Promise<void> {
  const { run, engine, stage } = work;
  await stage.step("a commit to be refused", async () => {
    try {
      await engine.commit((batch) => batch.put("state", "refused", new Uint8Array(8)), { signal: AbortSignal.abort() });
      run.ledger.fail("a commit that was aborted before it began was taken in");
    } catch (error) {
      if (codeOf(error) !== "ABORTED") excuse(work, error);
    }
  });
}

/** Throws what can't be explained by the trouble that this run asked for. */
export function excuse(work: Work, error: unknown): void {
  const code = codeOf(error);
  if (code === "CLOSED" && work.closing) return;
  if (!mayHappen(work.run, code)) throw error;
}
