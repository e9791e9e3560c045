import { Stage } from "@ehdb/harness";
import type { StageEnd } from "@ehdb/harness";
import type { DurableEngine } from "../src/index.ts";
import { besideAWriter } from "./beside-a-writer.ts";
import { codeOf, describe, inspect, mayHappen } from "./context.ts";
import type { Run, Work } from "./context.ts";
import { importing } from "./importing.ts";
import { alone, open, reopen } from "./opening.ts";
import { reader } from "./readers.ts";
import { makeRoom, upkeep } from "./upkeep.ts";
import { burst, writer } from "./writers.ts";

/** From an open to a crash, a kill or a close, with reopens between. False when there is no point in going on. */
export async function live(run: Run): Promise<boolean> {
  const { random, counts, ledger, plan } = run;
  run.full = run.host.faults.noSpaceAfterBytes !== Infinity;
  const engine = await open(run);
  if (engine === "failed") return false;
  if (engine === "frozen") return afterwards(run);
  if (run.settings.encrypted) counts.encrypted++;
  if (run.settings.options.compression === "deflate") counts.compressed++;
  const stopped = await importing(run, engine);
  if (stopped === "failed" || ledger.violations.length > 0) return false;
  if (stopped === "frozen") return afterwards(run);
  const end = random.integer(10);
  if (end < 3) plan.anywhere(run.host, random.between(1, 500));
  else if (end < 5) plan.inSeal(random, run.host, 12);
  else if (end < 7) plan.inMerge(random, run.host, 3);
  for (let rounds = random.between(1, 2); rounds > 0; rounds--) {
    const end = await work(run, engine);
    if (end === "hung" || ledger.violations.length > 0) return false;
    if (end === "frozen") return afterwards(run);
    if (engine.state !== "poisoned") continue;
    counts.poisonings++;
    if (random.chance(0.2)) break;
    const reopened = await reopen(run, engine);
    if (reopened === "failed") return false;
    if (reopened === "frozen") return afterwards(run);
  }
  if (random.chance(0.4) || run.settings.rots) {
    const closed = await close(run, engine);
    if (closed === "failed") return false;
    if (closed === "frozen") counts.crashInClose++;
    if (closed === undefined && random.chance(0.5)) return true;
  }
  return afterwards(run);
}

/** The machine loses its power, or only the process dies. */
function afterwards(run: Run): boolean {
  if (run.host.frozen) run.plan.count(run.counts);
  const isKill = run.random.chance(0.25);
  run.host = isKill ? run.host.kill() : run.host.crash(run.random.chance(0.2) ? "nothing" : undefined);
  if (isKill) run.counts.kills++;
  return true;
}

function atWork(run: Run, engine: DurableEngine, stage: Stage): Work {
  return { run, stage, engine, closing: false, hasNamelessCommit: false };
}

async function work(run: Run, engine: DurableEngine): Promise<StageEnd> {
  const { random, counts } = run;
  const stage = new Stage(run.host, (who, error) => run.ledger.fail(`${who}: ${describe(error)}`));
  const working = atWork(run, engine, stage);
  const before = engine.stats();
  stage.start("the work", async () => {
    await Promise.all([
      ...Array.from({ length: random.between(1, 3) }, () => writer(working, random.between(4, 18))),
      ...Array.from({ length: random.between(0, 2) }, () => reader(working, random.between(1, 6))),
      upkeep(working, random.between(0, 6)),
      besideAWriter(working),
    ]);
    if (random.chance(0.8)) await makeRoom(working);
    if (engine.state === "poisoned" && random.chance(0.6)) {
      counts.poisonings++;
      await Promise.all([reopen(run, engine, stage), writer(working, 3), reader(working, 3)]);
    }
  });
  const end = await stage.finish();
  if (end === "hung") run.ledger.fail(`it hangs: ${stage.waiting}`);
  const { seals, seal_failed, cold_loads, read_errors, merge_failed, ...after } = engine.stats();
  if (end !== "frozen" && run.settings.trouble === "none" && seal_failed + read_errors + merge_failed > 0)
    run.ledger.fail(`${seal_failed} seals, ${merge_failed} merges, ${read_errors} reads failed, and nothing was wrong`);
  counts.merges += after.merges - before.merges;
  counts.mergeFailures += merge_failed - before.merge_failed;
  counts.superseded += after.records_superseded - before.records_superseded;
  counts.erased += after.records_erased - before.records_erased;
  counts.dropped += after.records_dropped - before.records_dropped;
  counts.orphansReclaimed += after.orphans_reclaimed - before.orphans_reclaimed;
  counts.seals += seals - before.seals;
  counts.sealFailures += seal_failed - before.seal_failed;
  counts.coldLoads += cold_loads - before.cold_loads;
  if (end === "done") inspect(working);
  return end;
}

async function close(run: Run, engine: DurableEngine): Promise<"frozen" | "failed" | undefined> {
  const { random, ledger, counts, host, plan } = run;
  if (random.chance(0.3)) plan.anywhere(host, random.between(1, 12));
  const isHealthy = engine.state === "open";
  return await alone(run, "close", async () => {
    const stage = new Stage(host, (who, error) => ledger.fail(`${who}: ${describe(error)}`));
    const working = atWork(run, engine, stage);
    working.closing = true;
    const commits = isHealthy && random.chance(0.5) ? burst(working, 4) : Promise.resolve();
    const closing = engine.close();
    await commits;
    const { state, cursors } = await closing;
    counts.closes++;
    if (state === "clean") {
      if (cursors.durable !== cursors.appended)
        ledger.fail(`close says clean, with ${cursors.durable} of ${cursors.appended} durable`);
    } else if (state === "timed out") ledger.fail("close timed out, and no timeout was given");
    else if (isHealthy && !mayHappen(run, "POISONED")) ledger.fail(`close says ${state}, and nothing has failed`);
    ledger.acknowledge(cursors.durable);
    if (engine.state !== "closed") ledger.fail(`after close the state is ${engine.state}`);
    await refusesWhenClosed(run, engine);
    return undefined;
  });
}

async function refusesWhenClosed(run: Run, engine: DurableEngine): Promise<void> {
  try {
    await engine.commit((batch) => batch.put("state", "late", new Uint8Array(8)));
    run.ledger.fail("a commit after close was taken in");
  } catch (error) {
    if (codeOf(error) !== "CLOSED") run.ledger.fail(`a commit after close: ${describe(error)}`);
  }
}
