import type { AppendResult, StreamInfo } from "@ehdb/contracts";
import type { AppendCall, Call, DeleteCall, ReclaimCall, TruncateCall } from "./calls.ts";
import { commitStaged } from "./staged.ts";
import { codeOf, excuse, inspect, mayHappen, takes } from "./context.ts";
import type { Run, Work } from "./context.ts";

/** Appends and hides in all the ways there are, for a while, or until the log takes no more. */
export async function writer(work: Work, operations: number): Promise<void> {
  const { run, stage } = work;
  const { random } = run;
  for (let left = operations; left > 0 && takes(work); left--) {
    inspect(work);
    const choice = random.integer(100);
    if (choice < 22) await perform(work, run.calls.append());
    else if (choice < 28) await perform(work, staged(work));
    else if (choice < 52) await burst(work, random.chance(0.15) ? random.between(15, 40) : random.between(3, 12));
    else if (choice < 64) await perform(work, run.calls.repeat() ?? run.calls.append());
    else if (choice < 74) await perform(work, run.calls.hide());
    else if (choice < 78) await perform(work, reclaiming(work));
    else if (choice < 81) await ready(work);
    else if (choice < 84) await flush(work);
    else if (choice < 86) await giveUp(work);
    else await stage.pause(random.pick([1, 5, 60, 300]));
  }
  inspect(work);
}

/** Several calls in one turn: they take effect in their order. */
export async function burst(work: Work, count: number): Promise<void> {
  const { random, calls } = work.run;
  const hides = random.chance(0.35);
  const done: Promise<void>[] = [];
  for (let i = 0; i < count; i++) {
    const choice = random.integer(20);
    if (choice < 4) done.push(perform(work, calls.repeat() ?? calls.append()));
    else if (choice < 7 && hides) done.push(perform(work, calls.hide()));
    else if (choice < 8 && hides) done.push(perform(work, reclaiming(work)));
    else if (choice < 11) done.push(perform(work, staged(work)));
    else done.push(perform(work, calls.append()));
  }
  await Promise.all(done);
}

/** A commit doesn't wait for what the log looks up for those before it: an append that would overtake them isn't staged. */
function staged({ run: { calls, settings, lined } }: Work): AppendCall {
  return settings.isShared && lined === 0 ? calls.staged() : calls.append();
}

/** The log doesn't wait for what others have staged, and a reclaim goes by what is there. */
function reclaiming({ run: { calls, staging }, log }: Work): Call {
  return staging === 0 ? calls.reclaim(log.position) : calls.append();
}

/** Drawn and called in one turn, so that the ledger's order is the log's. */
async function perform(work: Work, call: Call): Promise<void> {
  const { run, stage } = work;
  run.counts.calls++;
  await stage.step(`call ${call.number}, ${call.kind}`, async () => {
    run.ledger.ask(call);
    const isLined = run.lined > 0 || call.kind !== "append" || call.expect === "none" || call.expect === "exists";
    if (isLined) run.lined++;
    if (call.kind === "append") await append(work, call);
    else {
      // A hide whose last look at the disk fails was done all the same, and nobody could tell.
      await withoutReadErrors(run, async () => {
        if (call.kind === "reclaim") await reclaim(work, call);
        else await hide(work, call);
      });
    }
    if (isLined) run.lined--;
    run.calls.learn(call);
    inspect(work);
  });
}

async function withoutReadErrors(run: Run, work: () => Promise<void>): Promise<void> {
  const { faults } = run.host;
  run.hiding++;
  faults.readError = 0;
  await work();
  if (--run.hiding === 0) faults.readError = run.readError;
}

async function append(work: Work, call: AppendCall): Promise<void> {
  const { run, log } = work;
  const { ledger, counts } = run;
  const { stream, events } = call;
  const { asyncTurns } = run;
  const isAsync = run.durability === "async";
  const isBack = log.position > 0 && ledger.model.info(stream).isDeleted;
  let result: AppendResult;
  try {
    if (call.isStaged) result = await commitStaged(work, call);
    else result = await plain(work, call);
  } catch (error) {
    call.isFirm = !isAsync && run.asyncTurns === asyncTurns;
    return refused(work, call, error);
  }
  if (result.isDuplicate) {
    counts.duplicates++;
    if (call.isStaged) counts.stagedAgain++;
  } else {
    counts.appends++;
    if (call.isStaged) counts.staged++;
    if (events.length > 1) counts.severalAtOnce++;
    if (isBack) counts.revivals++;
  }
  call.isFirm = !isAsync && run.asyncTurns === asyncTurns;
  if (call.isFirm) ledger.acknowledge(result.position);
  if (log.position < result.position && log.engine.state === "open")
    ledger.fail(`position ${result.position} was answered, and the log ends at ${log.position}`);
  ledger.heard(call, { says: "appended", result });
}

async function plain({ log }: Work, { stream, events, expect, number, mayAbort }: AppendCall): Promise<AppendResult> {
  const controller = new AbortController();
  const given = events.length === 1 && number % 2 === 0 ? (events[0] as (typeof events)[number]) : events;
  const appending = log.append(stream, given, { expect, ...(mayAbort ? { signal: controller.signal } : {}) });
  // One that waits for its turn is given up; one that was taken in can't be.
  if (mayAbort) controller.abort();
  return await appending;
}

async function hide(work: Work, call: TruncateCall | DeleteCall): Promise<void> {
  const { run, log } = work;
  const { stream } = call;
  let info: StreamInfo;
  try {
    if (call.kind === "truncate") info = await log.truncateStream(stream, call.before);
    else info = await log.deleteStream(stream, { expect: call.expect });
  } catch (error) {
    return refused(work, call, error);
  }
  if (call.kind === "truncate") run.counts.truncations++;
  else run.counts.deletions++;
  // What it rests on isn't known, when something before it isn't.
  run.ledger.heard(call, log.engine.state === "poisoned" ? { says: "nothing" } : { says: "info", info });
}

async function reclaim(work: Work, call: ReclaimCall): Promise<void> {
  const { run, log } = work;
  const { host, counts, ledger } = run;
  const { clockJumps } = counts;
  const from = host.clock.now();
  let firstPosition: number;
  work.reclaiming++;
  try {
    firstPosition = await log.reclaim(call.options);
  } catch (error) {
    return refused(work, call, error);
  } finally {
    work.reclaiming--;
  }
  counts.reclaims++;
  call.clock = clockJumps === counts.clockJumps ? { from, to: host.clock.now() } : undefined;
  call.acknowledged = ledger.consumers.least;
  ledger.heard(call, log.engine.state === "poisoned" ? { says: "nothing" } : { says: "reclaimed", firstPosition });
}

function refused(work: Work, call: Call, error: unknown): void {
  const { ledger, counts } = work.run;
  const code = codeOf(error);
  const { data } = error as { data: Readonly<Record<string, unknown>> };
  if (code === "CONFLICT" || code === "ID_REUSED" || code === "OUT_OF_RANGE") {
    if (code === "ID_REUSED") counts.idsReused++;
    else if (code === "OUT_OF_RANGE") counts.outOfRange++;
    else if (data["isDeleted"] === true) counts.conflictsOfDeleted++;
    else if (call.kind === "append" && call.isStaged) counts.stagedConflicts++;
    else counts.conflicts++;
    const isJudged = call.kind === "append" || work.log.engine.state !== "poisoned";
    return ledger.heard(call, isJudged ? { says: "no", code, data } : { says: "refused", code });
  }
  if (code === "OUTCOME_UNKNOWN" && mayHappen(work.run, code)) {
    counts.outcomeUnknown++;
    return;
  }
  const mayAbort = call.kind === "append" && call.mayAbort;
  const isExpected = code === "ABORTED" && mayAbort;
  if (!isExpected && (code === "OUTCOME_UNKNOWN" || !mayHappen(work.run, code))) throw error;
  if (code === "ABORTED") counts.aborted++;
  else counts.refused++;
  // Of a hide the commit may be done and the sync behind it have failed.
  if (call.kind !== "append" && code === "POISONED") return;
  ledger.heard(call, { says: "refused", code: String(code) });
}

async function ready(work: Work): Promise<void> {
  const { run, log, stage } = work;
  await stage.step("ready", async () => {
    try {
      await log.ready();
      run.counts.readies++;
    } catch (error) {
      excuse(work, error);
    }
  });
}

export async function flush(work: Work): Promise<void> {
  const { run, log, stage } = work;
  await stage.step("flush", async () => {
    const { position } = log;
    try {
      await log.engine.flush();
      run.counts.flushes++;
      run.ledger.acknowledge(position);
    } catch (error) {
      excuse(work, error);
    }
  });
}

/** An append that nobody wants any more is refused. */
async function giveUp(work: Work): Promise<void> {
  const { run, log, stage } = work;
  await stage.step("an append to be refused", async () => {
    try {
      await log.append("refused", { type: "refused" }, { signal: AbortSignal.abort() });
      run.ledger.fail("an append that was aborted before it began was taken in");
    } catch (error) {
      if (codeOf(error) !== "ABORTED") excuse(work, error);
    }
  });
}
