import { eventLogDatasets, eventLogOn } from "@ehdb/eventlog";
import { Stage } from "@ehdb/harness";
import { openEngine } from "@ehdb/l0";
import { eventLogSource, feedDatasets, feedOn } from "../src/index.ts";
import { codeOf, describe, excuse } from "./context.ts";
import type { Run, Store, Work } from "./context.ts";
import { member } from "./members.ts";
import { info, operator } from "./operator.ts";
import { writer } from "./writers.ts";

const wholeDisk = 2 ** 40;
const mostAttempts = 8;
const calmAttempt = 4;

/** Nothing goes wrong from now on. */
export function calm(run: Run): void {
  run.isFull = false;
  Object.assign(run.host.faults, { syncError: 0, writeError: 0, readError: 0, noSpaceAfterBytes: Infinity });
}

/** Does one thing with nobody beside it; `undefined` when it ended otherwise than it should. */
export async function alone<T>(run: Run, what: string, work: (stage: Stage) => Promise<T>): Promise<T | undefined> {
  let result: T | undefined;
  const stage = new Stage(run.host, (who, error) => run.ledger.fail(`${who}: ${describe(error)}`));
  stage.start(what, async () => {
    result = await work(stage);
  });
  const end = await stage.finish();
  if (end === "hung") run.ledger.fail(`it hangs: ${stage.waiting}`);
  return end === "done" ? result : undefined;
}

/** Makes the store while nothing is wrong: what a failed sync of the name of its very directory means is the engine's matter. */
export async function make(run: Run): Promise<void> {
  await alone(run, "make", async () => {
    const { feed, log, engine } = await openStore(run);
    for (const one of [feed, log, engine]) await one.close();
  });
}

/** Opens all of it, several times when the disk fails. */
export async function open(run: Run): Promise<Store | undefined> {
  for (let attempt = 0; attempt < mostAttempts; attempt++) {
    if (attempt === calmAttempt) calm(run);
    const store = await alone(run, "open", async (stage) => {
      try {
        return await stage.step("open", async () => await openStore(run));
      } catch (error) {
        excuse(run, error);
        return undefined;
      }
    });
    if (run.host.frozen) {
      run.counts.crashInOpen++;
      return undefined;
    }
    if (run.ledger.violations.length > 0) return undefined;
    if (store === undefined) continue;
    run.counts.opens++;
    return store;
  }
  run.ledger.fail("it can't be opened, and nothing is wrong any more");
  return undefined;
}

async function openStore({ host, settings }: Run): Promise<Store> {
  const datasets = [...eventLogDatasets, ...feedDatasets];
  const engine = await openEngine({ dir: "/store", datasets, host, sealMaxCommits: settings.sealMaxCommits });
  try {
    const log = await eventLogOn(engine, { host });
    const feed = await feedOn(engine, { source: eventLogSource(log), host });
    return { engine, log, feed };
  } catch (error) {
    await engine.close();
    throw error;
  }
}

/** From an open to a crash, a kill or a close. */
export async function live(run: Run): Promise<void> {
  const { random, host, counts, settings, ledger } = run;
  if (random.chance(0.15)) host.crashAfter(random.between(1, 60));
  const store = await open(run);
  if (store !== undefined) {
    if (random.chance(0.7)) host.crashAfter(random.between(1, 900));
    await fillDisk(run);
    for (let rounds = random.between(1, 2); rounds > 0 && !host.frozen && ledger.violations.length === 0; rounds--) {
      await alone(run, "the work", async (stage) => await workOn(run, store, stage));
      if (store.engine.state !== "poisoned" || host.frozen) continue;
      counts.poisonings++;
      if (random.chance(0.3) || !(await reopen(run, store))) break;
    }
    counts.seals += store.engine.stats().seals;
    if (!host.frozen && ledger.violations.length === 0 && random.chance(0.4)) await close(run, store);
  }
  if (settings.trouble === "none" && !host.frozen) run.isFull = false;
  const isKill = random.chance(0.3);
  run.host = isKill ? run.host.kill() : run.host.crash(random.chance(0.3) ? "nothing" : undefined);
  counts[isKill ? "kills" : "powerLosses"]++;
  ledger.crashed();
}

async function fillDisk(run: Run): Promise<void> {
  const { random, host, settings } = run;
  if (!(settings.trouble === "no space" || settings.trouble === "all") || random.chance(0.5)) return;
  host.faults.noSpaceAfterBytes = wholeDisk;
  const free = await host.files.freeBytes("/");
  run.isFull = true;
  host.faults.noSpaceAfterBytes = wholeDisk - free + random.pick([0, 30_000, 400_000]);
}

async function workOn(run: Run, store: Store, stage: Stage): Promise<void> {
  const { random } = run;
  const group = await lookAround(run, store, stage);
  if (group === undefined) return;
  const work: Work = { run, stage, store, group, isMoving: false, calls: 0, isOver: false };
  await Promise.all([
    ...Array.from({ length: random.between(1, 2) }, () => writer(work, random.between(5, 15))),
    ...Array.from({ length: random.between(1, 3) }, (_, place) => member(work, `m${place}`, random.between(10, 40))),
    operator(work, random.between(0, 14)),
  ]);
  if (store.engine.state === "open") await info(work);
}

/** The groups that must be there are; nothing that was acknowledged for sure is open. */
async function lookAround(run: Run, store: Store, stage: Stage): Promise<Work["group"] | undefined> {
  const { ledger, others, settings } = run;
  try {
    return await stage.step("a look at the groups", async () => {
      const names = new Set((await store.feed.groups()).map(({ group }) => group));
      for (const [name, state] of others) {
        if (state === "there" && !names.has(name)) ledger.fail(`the group ${name} is gone`);
        if (names.has(name)) others.set(name, "there");
      }
      for (const name of names)
        if (name !== "g" && !others.has(name)) ledger.fail(`the group ${name} came out of nowhere`);
      if (!names.has("g")) {
        if (ledger.firm.size > 0) ledger.fail("the group is gone");
        return await store.feed.createGroup("g", settings.group);
      }
      const group = await store.feed.group("g");
      const { committed } = await group.info();
      if (committed < ledger.firmlyCommitted)
        ledger.fail(`${committed} is committed, and everything up to ${ledger.firmlyCommitted} was acknowledged`);
      return group;
    });
  } catch (error) {
    excuse(run, error);
    return undefined;
  }
}

async function reopen(run: Run, store: Store): Promise<boolean> {
  for (let attempt = 0; attempt < mostAttempts; attempt++) {
    if (attempt === calmAttempt) calm(run);
    const isDone = await alone(run, "reopen", async (stage) => {
      try {
        await stage.step("reopen", async () => await store.engine.reopen());
        return true;
      } catch (error) {
        excuse(run, error);
        return false;
      }
    });
    if (run.host.frozen) return false;
    run.host.faults.noSpaceAfterBytes = Infinity;
    if (isDone !== true || store.engine.state !== "open") continue;
    run.counts.reopens++;
    return true;
  }
  run.ledger.fail("it can't be reopened, and nothing is wrong any more");
  return false;
}

export async function close(run: Run, { feed, log, engine }: Store): Promise<void> {
  await alone(run, "close", async (stage) => {
    await stage.step("close", async () => {
      for (const one of [feed, log, engine]) {
        try {
          await one.close();
        } catch (error) {
          if (codeOf(error) !== "CLOSED") excuse(run, error);
        }
      }
    });
    run.counts.closes++;
  });
}
