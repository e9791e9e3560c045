import { Stage } from "@ehdb/harness";
import type { DurableEventLog, EventLogOptions } from "../src/index.ts";
import { beside, openLog } from "./beside.ts";
import { codeOf, describe, mayHappen } from "./context.ts";
import type { Run } from "./context.ts";
import { differs } from "./differences.ts";
import { Found } from "./found.ts";
import { besideRecovery } from "./reader-beside.ts";
import { drawKeys } from "./settings.ts";

const wholeDisk = 2 ** 40;
const mostAttempts = 8;
/** From this attempt on nothing goes wrong any more. */
const calmAttempt = 4;

/** Why no log came of it. */
export type NotOpened = "frozen" | "failed";

function optionsOf({ settings, host, random }: Run): EventLogOptions {
  const encryption = settings.encrypted ? { encryption: drawKeys(random) } : {};
  return { ...settings.options, ...encryption, dir: "/log", host };
}

/** Opens the log, several times when the disk fails, and holds what it finds to the ledger. */
export async function open(run: Run): Promise<DurableEventLog | NotOpened> {
  const { counts, random, host, plan } = run;
  for (let attempt = 0; attempt < mostAttempts; attempt++) {
    if (attempt === calmAttempt) calm(run);
    if (attempt < calmAttempt && random.chance(0.25)) {
      const room = random.pick([0, 8_000, 30_000, random.between(0, 1_500_000)]);
      const filled = await alone(run, "filling the disk", async () => await fill(run, room));
      if (filled !== undefined) return filled;
    }
    if (random.chance(0.2)) plan.anywhere(host, random.between(1, 90));
    const opened = await alone(run, "openEventLog", async () => {
      const beside = besideRecovery(run);
      try {
        return await unlessDiskFails(run, () => openLog(optionsOf(run), run.settings.isShared));
      } finally {
        await beside;
      }
    });
    if (opened === "frozen") counts.crashInRecovery++;
    if (opened === "frozen" || opened === "failed") return opened;
    if (opened === undefined) continue;
    counts.opens++;
    run.recoveries += 2;
    run.durability = run.settings.options.durability ?? "sync";
    run.showsDurable = run.durability === "sync";
    const looked = await alone(run, "the look at what was recovered", async () => await look(run, opened));
    if (looked !== undefined) return looked;
    if (opened.engine.state !== "read-only") return opened;
    // The disk was full. What is there has been read; with room again, appends must be taken in again.
    counts.readOnlyOpens++;
    host.faults.noSpaceAfterBytes = Infinity;
    return (await reopen(run, opened)) ?? opened;
  }
  run.ledger.fail("the log can't be opened, and nothing is wrong any more");
  return "failed";
}

/** The same in place; `beside` others, who read and follow meanwhile, when they have a stage. */
export async function reopen(run: Run, log: DurableEventLog, beside?: Stage): Promise<NotOpened | undefined> {
  const does = async <T>(what: string, work: () => Promise<T>): Promise<T | NotOpened> =>
    beside === undefined ? await alone(run, what, work) : await beside.step(what, work);
  const { counts, random, host, plan } = run;
  run.recoveries++;
  for (let attempt = 0; attempt < mostAttempts; attempt++) {
    if (attempt === calmAttempt) calm(run);
    if (random.chance(0.3)) plan.anywhere(host, random.between(1, 90));
    const done = await does("reopen", async () => await unlessDiskFails(run, () => log.engine.reopen()));
    if (done === "frozen") counts.crashInReopen++;
    if (done === "frozen" || done === "failed") return done;
    if (done === undefined) continue;
    if (log.engine.state === "read-only") {
      host.faults.noSpaceAfterBytes = Infinity;
      continue;
    }
    counts.reopens++;
    run.showsDurable = run.durability === "sync";
    const looked = await does("the look at what was recovered", async () => await look(run, log));
    run.recoveries++;
    return looked;
  }
  run.ledger.fail(`the log can't be reopened, and nothing is wrong any more: ${log.engine.state}`);
  return "failed";
}

/** `undefined` when the disk fails in a way that this run asked for. */
async function unlessDiskFails<T>(run: Run, work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    const code = codeOf(error);
    if (!(code === "IO_ERROR" || code === "NO_SPACE") || !mayHappen(run, code)) throw error;
    return undefined;
  }
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
  run.readError = 0;
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

/** Reads everything; then the ledger knows what survived. */
async function look(run: Run, log: DurableEventLog): Promise<undefined> {
  const { ledger, host, random, calls } = run;
  host.faults.readError = 0;
  const { model } = ledger;
  if (log.engine.state === "read-only") await lookReadOnly(run, log);
  else {
    const other = run.settings.isShared ? log.engine.map(beside.name) : undefined;
    const read = Array.from({ length: 4 }, () => calls.stream());
    const found = await Found.in(log, [...new Set([...model.streams, ...read])], read, other);
    ledger.opened(found);
    await lookBackwards(run, log, random.pick(read));
  }
  host.faults.readError = run.readError;
}

/** Of what a full disk lets be read, every event must be what it was. */
async function lookReadOnly({ ledger }: Run, log: DurableEventLog): Promise<void> {
  const { events } = await Found.in(log, [], []);
  for (const one of events) {
    const must = ledger.model.events[one.position - 1];
    const wrong = must === undefined ? undefined : differs(one, must);
    if (wrong !== undefined) ledger.fail(`on a full disk ${wrong}`);
  }
}

async function lookBackwards({ ledger }: Run, log: DurableEventLog, stream: string): Promise<void> {
  const found: number[] = [];
  for await (const { version } of log.readStream(stream, { direction: "backwards" })) found.push(version);
  const must = ledger.model.eventsOf(stream).filter((event) => !ledger.model.isHidden(event));
  const ought = must.map(({ version }) => version).toReversed();
  if (found.join() !== ought.join())
    ledger.fail(`backwards ${stream} has versions ${found.join()}, and must have ${ought.join()}`);
}
