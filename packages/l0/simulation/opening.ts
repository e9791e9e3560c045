import { Stage } from "@ehdb/harness";
import { openEngine } from "../src/index.ts";
import type { DurableEngine, EngineOptions } from "../src/index.ts";
import { besideRecovery } from "./beside.ts";
import { codeOf, datasets, describe, DIRECTORY, logs, maps, mayHappen } from "./context.ts";
import type { Run } from "./context.ts";
import { Evidence } from "./evidence.ts";
import type { Model } from "./model.ts";
import { differs, keptRecord, keptValue, valueOf } from "./readers.ts";
import type { Kept } from "./readers.ts";
import { drawKeys } from "./settings.ts";

const wholeDisk = 2 ** 40;
const mostAttempts = 8;
/** From this attempt on nothing goes wrong any more. */
const calmAttempt = 4;

/** Why no engine came of it. */
export type NotOpened = "frozen" | "failed";

export function optionsOf(run: Run): EngineOptions {
  const { settings, host, random } = run;
  const encryption = settings.encrypted ? { encryption: drawKeys(random) } : {};
  return { ...settings.options, ...encryption, dir: DIRECTORY, host, datasets };
}

/** Opens the engine, several times when the disk fails, and holds what it finds to the ledger. */
export async function open(run: Run): Promise<DurableEngine | NotOpened> {
  const { counts, random, host, plan } = run;
  for (let attempt = 0; attempt < mostAttempts; attempt++) {
    if (attempt === calmAttempt) calm(run);
    if (attempt < calmAttempt && random.chance(0.3)) {
      const room = random.pick([0, 8_000, 30_000, random.between(0, 1_500_000)]);
      const filled = await alone(run, "filling the disk", async () => await fill(run, room));
      if (filled !== undefined) return filled;
    }
    if (random.chance(0.2)) plan.anywhere(host, random.between(1, 90));
    else if (random.chance(0.1)) plan.inSwitch(random, host);
    const opened = await alone(run, "openEngine", async () => {
      try {
        const beside = besideRecovery(run);
        try {
          return await openEngine(optionsOf(run));
        } finally {
          await beside;
        }
      } catch (error) {
        const code = codeOf(error);
        if (!(code === "IO_ERROR" || code === "NO_SPACE") || !mayHappen(run, code)) throw error;
        return undefined;
      }
    });
    if (opened === "frozen") {
      counts.crashInRecovery++;
      plan.count(counts);
    }
    if (opened === "frozen" || opened === "failed") return opened;
    if (opened === undefined) continue;
    counts.opens++;
    run.durability = run.settings.options.durability ?? "sync";
    run.showsDurable = run.durability === "sync";
    const checked = await alone(run, "the look at what was recovered", async () => await checkOpened(run, opened));
    if (checked !== undefined) return checked;
    if (opened.state !== "read-only") return opened;
    // The disk was full. What is there has been read; with room again, commits must be taken in again.
    counts.readOnlyOpens++;
    host.faults.noSpaceAfterBytes = Infinity;
    const reopened = await reopen(run, opened);
    return reopened ?? opened;
  }
  run.ledger.fail("the engine can't be opened, and nothing is wrong any more");
  return "failed";
}

/** The same in place; `beside` others, who read and commit meanwhile, when they have a stage. */
export async function reopen(run: Run, engine: DurableEngine, beside?: Stage): Promise<NotOpened | undefined> {
  const does = async <T>(what: string, work: () => Promise<T>): Promise<T | NotOpened> =>
    beside === undefined ? await alone(run, what, work) : await beside.step(what, work);
  const { counts, random, host, plan } = run;
  for (let attempt = 0; attempt < mostAttempts; attempt++) {
    if (attempt === calmAttempt) calm(run);
    if (random.chance(0.15)) plan.anywhere(host, random.between(1, 90));
    const done = await does("reopen", async () => {
      try {
        await engine.reopen();
        return true;
      } catch (error) {
        const code = codeOf(error);
        if (!(code === "IO_ERROR" || code === "NO_SPACE") || !mayHappen(run, code)) throw error;
        return false;
      }
    });
    if (done === "frozen") {
      counts.crashInReopen++;
      plan.count(counts);
    }
    if (done === "frozen" || done === "failed") return done;
    if (!done) continue;
    if (engine.state === "read-only") {
      host.faults.noSpaceAfterBytes = Infinity;
      continue;
    }
    counts.reopens++;
    run.showsDurable = run.durability === "sync";
    return await does("the look at what was recovered", async () => await checkOpened(run, engine));
  }
  run.ledger.fail(`the engine can't be reopened, and nothing is wrong any more: ${engine.state}`);
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
export async function checkOpened(run: Run, engine: DurableEngine): Promise<undefined> {
  const { ledger, host } = run;
  const { readError } = host.faults;
  host.faults.readError = 0;
  const { revision, epoch } = engine;
  const { evidence, compare } = await readAll(run, engine);
  for (const dataset of logs) run.floors.check(run, dataset, engine.log(dataset).first);
  if (engine.state === "read-only") {
    if (revision <= ledger.model.revision) report(run, compare(ledger.model, revision));
  } else {
    if (engine.heads.durable < revision)
      ledger.fail(`after recovery ${revision} is the last commit, and only ${engine.heads.durable} durable`);
    ledger.opened(revision, epoch, evidence);
    report(run, compare(ledger.model, revision));
    await askAtRandom(run, engine);
    for (const shown of run.shown) {
      shown.isCut ||= shown.sort > (ledger.model.log(shown.dataset, revision).at(-1)?.sort ?? 0);
      tryCheckpoint(run, engine, shown);
    }
  }
  host.faults.readError = readError;
}

function report(run: Run, wrong: string | undefined): void {
  if (wrong !== undefined) run.ledger.fail(`after recovery, ${wrong}`);
}

/** All that is there, and how to compare it with what must be. */
export async function readAll(
  run: Run,
  engine: DurableEngine,
): Promise<{
  readonly evidence: Evidence;
  readonly compare: (model: Model, revision: number) => string | undefined;
}> {
  const evidence = new Evidence();
  const found = new Map<string, Kept[]>();
  const firsts = new Map(logs.map((name) => [name, engine.log(name).first]));
  const gone = new Map(logs.map((name) => [name, run.forgotten.mark(name)]));
  for (const dataset of logs) {
    const all: Kept[] = [];
    for await (const records of engine.log(dataset).scan()) {
      for (const record of records) {
        evidence.addRecord(dataset, record);
        all.push(keptRecord(record));
      }
    }
    found.set(dataset, all);
  }
  for (const dataset of maps) {
    const all: Kept[] = [];
    for await (const values of engine.map(dataset).scan()) {
      for (const value of values) {
        evidence.addValue(dataset, value.key, value.revision, value.time);
        all.push(keptValue(value));
      }
    }
    found.set(dataset, all);
  }
  const compare = (model: Model, revision: number): string | undefined => {
    for (const dataset of logs) {
      const first = firsts.get(dataset) ?? 1;
      const must = model.log(dataset, revision).filter(({ sort }) => sort >= first);
      const wrong = gone.get(dataset)?.differs(found.get(dataset) ?? [], {}, must);
      if (wrong !== undefined) return `in ${dataset} ${wrong}`;
    }
    for (const dataset of maps) {
      const values = model.mapKeys(dataset, revision).map((key) => valueOf(model, dataset, key, revision));
      const wrong = differs(found.get(dataset) ?? [], values);
      if (wrong !== undefined) return `in ${dataset} ${wrong}`;
    }
    return undefined;
  };
  return { evidence, compare };
}

/** Some keys are looked up by themselves: they take other ways than a scan does. */
async function askAtRandom(run: Run, engine: DurableEngine): Promise<void> {
  const { ledger, calls, random } = run;
  const { model } = ledger;
  const { revision } = engine;
  for (let i = 0; i < 4; i++) {
    const key = calls.key();
    const log = random.pick(logs);
    const found: Kept[] = [];
    const { first } = engine.log(log);
    const gone = run.forgotten.mark(log);
    for await (const records of engine.log(log).read(key)) found.push(...records.map(keptRecord));
    const must = model.key(log, key, revision).filter(({ sort }) => sort >= first);
    const wrong = gone.differs(found, {}, must);
    if (wrong !== undefined) ledger.fail(`after recovery, under ${key} in ${log} ${wrong}`);
    const map = random.pick(maps);
    const value = await engine.map(map).get(key);
    const other = differs([value === undefined ? undefined : keptValue(value)], [valueOf(model, map, key, revision)]);
    if (other !== undefined) ledger.fail(`after recovery, ${key} in ${map}: ${other}`);
  }
}

/** Goes on where a reader stopped once, or is told why not. */
function tryCheckpoint(run: Run, engine: DurableEngine, shown: Run["shown"][number]): void {
  const { dataset, sort, epoch, isCut } = shown;
  let got: string | undefined;
  try {
    engine.log(dataset).assertContinues(sort, epoch);
  } catch (error) {
    got = codeOf(error);
    if (got === undefined) throw error;
  }
  run.counts.checkpoints++;
  if (isCut) run.counts.cutCheckpoints++;
  const expected = isCut ? "TRUNCATED" : undefined;
  if (got !== expected)
    run.ledger.fail(`going on from ${sort} of ${dataset} in epoch ${epoch} gave ${got}, and must give ${expected}`);
}
