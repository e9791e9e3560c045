import { isEhdbError } from "@ehdb/contracts";
import { Stage } from "@ehdb/harness";
import type { StageEnd } from "@ehdb/harness";
import type { DurableEventLog } from "../src/index.ts";
import { closeLog } from "./beside.ts";
import { consumer, consumerNames } from "./consumers.ts";
import { atWork, codeOf, describe, inspect } from "./context.ts";
import type { Run, Work } from "./context.ts";
import type { Follower } from "./follower.ts";
import { follow } from "./following.ts";
import { alone, open, reopen } from "./opening.ts";
import { besideAWriter } from "./reader-beside.ts";
import { reader } from "./readers.ts";
import { makeRoom, upkeep } from "./upkeep.ts";
import { burst, writer } from "./writers.ts";

/** From an open to a crash, a kill or a close, with reopens between. False when there is no point in going on. */
export async function live(run: Run): Promise<boolean> {
  const { random, counts, ledger, plan } = run;
  run.full = run.host.faults.noSpaceAfterBytes !== Infinity;
  const log = await open(run);
  if (log === "failed") return false;
  if (log === "frozen") return afterwards(run);
  if (run.settings.encrypted) counts.encrypted++;
  if (random.chance(0.3)) plan.anywhere(run.host, random.between(1, 700));
  else if (random.chance(0.35)) plan.inSeal(random, run.host, 12);
  for (let rounds = random.between(1, 2); rounds > 0; rounds--) {
    const end = await work(run, log);
    if (end === "hung" || ledger.violations.length > 0) return false;
    if (end === "frozen") return afterwards(run);
    if (log.engine.state !== "poisoned") continue;
    counts.poisonings++;
    if (random.chance(0.2)) break;
    const reopened = await reopen(run, log);
    if (reopened === "failed") return false;
    if (reopened === "frozen") return afterwards(run);
  }
  if (random.chance(0.5)) {
    const closed = await close(run, log);
    if (closed === "failed") return false;
    if (closed === "frozen") counts.crashInClose++;
    if (closed === undefined && random.chance(0.5)) return true;
  }
  return afterwards(run);
}

/** The machine loses its power, or only the process dies. */
function afterwards(run: Run): boolean {
  if (run.host.frozen) {
    run.plan.count(run.counts);
    if (run.hiding > 0) run.counts.crashInHiding++;
    if (run.staging > 0) run.counts.crashInStaged++;
  }
  const isKill = run.random.chance(0.25);
  run.host = isKill ? run.host.kill() : run.host.crash(run.random.chance(0.2) ? "nothing" : undefined);
  if (isKill) run.counts.kills++;
  run.hiding = run.staging = run.lined = 0;
  run.host.faults.readError = run.readError;
  return true;
}

async function work(run: Run, log: DurableEventLog): Promise<StageEnd> {
  const { random, counts, followers } = run;
  const stage = new Stage(run.host, (who, error) => run.ledger.fail(`${who}: ${describe(error)}`));
  const working = atWork(run, log, stage);
  const before = log.engine.stats();
  stage.start("the work", async () => {
    const following = Promise.all(followers.map((follower) => followed(working, follower)));
    await Promise.all([
      ...Array.from({ length: random.between(1, 3) }, () => writer(working, random.between(5, 20))),
      ...Array.from({ length: random.between(0, 2) }, () => reader(working, random.between(1, 6))),
      ...consumerNames.filter(() => random.chance(0.5)).map((name) => consumer(working, name, random.between(1, 8))),
      upkeep(working, random.between(0, 6)),
      besideAWriter(working),
    ]);
    if (random.chance(0.8)) await makeRoom(working);
    if (log.engine.state === "poisoned" && random.chance(0.6)) {
      counts.poisonings++;
      await Promise.all([reopen(run, log, stage), reader(working, 3)]);
      await writer(working, 4);
    }
    becomeQuiet(working);
    await following;
  });
  const end = await stage.finish();
  if (end === "hung") run.ledger.fail(`it hangs: ${stage.waiting}`);
  const { seals, seal_failed, cold_loads } = log.engine.stats();
  counts.seals += seals - before.seals;
  counts.sealFailures += seal_failed - before.seal_failed;
  counts.coldLoads += cold_loads - before.cold_loads;
  if (end === "done") inspect(working);
  return end;
}

/** What is wrong is said when it happens, although nobody waits for it yet. */
async function followed(work: Work, follower: Follower): Promise<void> {
  await follow(work, follower).catch((error: unknown) => work.run.ledger.fail(`${follower.name}: ${describe(error)}`));
}

function becomeQuiet(work: Work): void {
  work.isQuiet = true;
  for (const stop of work.whenQuiet) stop();
}

/** With calls and subscriptions under way: those are finished, and these end. */
async function close(run: Run, log: DurableEventLog): Promise<"frozen" | "failed" | undefined> {
  const { random, ledger, counts, host, plan } = run;
  if (random.chance(0.3)) plan.anywhere(host, random.between(1, 12));
  const stage = new Stage(host, (who, error) => ledger.fail(`${who}: ${describe(error)}`));
  const working = atWork(run, log, stage);
  return await alone(run, "close", async () => {
    const following = run.followers.map((follower) => followed(working, follower));
    if (random.chance(0.5)) await new Promise<void>((resolve) => void host.clock.timer(5, resolve));
    const calls = random.chance(0.6) ? burst(working, 5) : Promise.resolve();
    working.closing = true;
    const closing = closeLog(log).catch((error: unknown) => {
      // What was acknowledged before it was durable may be lost, and the close says so.
      if (run.showsDurable || !isEhdbError(error, "OUTCOME_UNKNOWN")) throw error;
      const { appended, durable } = error.data;
      if (!(Number(durable) < Number(appended))) throw error;
      counts.doubtfulCloses++;
    });
    await Promise.all([calls, closing, ...following]);
    counts.closes++;
    if (log.engine.state !== "closed") ledger.fail(`after close the state is ${log.engine.state}`);
    await refusesWhenClosed(run, log);
    return undefined;
  });
}

async function refusesWhenClosed(run: Run, log: DurableEventLog): Promise<void> {
  try {
    await log.append("late", { type: "late" });
    run.ledger.fail("an append after close was taken in");
  } catch (error) {
    if (codeOf(error) !== "CLOSED") run.ledger.fail(`an append after close: ${describe(error)}`);
  }
}
