import type { Durability } from "../src/index.ts";
import { codeOf, inspect, mayHappen } from "./context.ts";
import type { Work } from "./context.ts";
import { fill } from "./opening.ts";

/** What an operator does to a running journal, and what the machine does to it: drops, modes, clocks, full disks. */
export async function upkeep(work: Work, operations: number): Promise<void> {
  const { run, stage } = work;
  const { random } = run;
  for (
    let left = operations;
    left > 0 && work.journal.state !== "poisoned" && work.journal.state !== "closed";
    left--
  ) {
    await stage.pause(random.pick([1, 10, 60]));
    const choice = random.between(0, 9);
    if (choice < 2) await drop(work);
    else if (choice < 3) await retain(work);
    else if (choice < 4) changeMode(work);
    else if (choice < 5) jump(work);
    else if (choice < 8) await trouble(work);
    inspect(work);
  }
}

async function drop(work: Work): Promise<void> {
  const { run, journal, stage } = work;
  const { ledger, counts, random } = run;
  const { durable } = journal.cursors;
  const most = random.chance(0.3) ? durable + 1 : Math.max(journal.first, durable - random.between(1, 50));
  const sequence = random.between(Math.max(1, journal.first - 2), Math.max(1, most));
  if (sequence > durable + 1) return;
  ledger.lowMost = Math.max(ledger.lowMost, sequence);
  await stage.step(`dropBefore(${sequence})`, async () => {
    try {
      const report = await journal.dropBefore(sequence);
      counts.drops++;
      ledger.low = Math.max(ledger.low, sequence);
      if (report.first < sequence) ledger.fail(`dropBefore(${sequence}) says that ${report.first} can still be read`);
      inspect(work);
    } catch (error) {
      upkeepError(work, error);
    }
  });
}

async function retain(work: Work): Promise<void> {
  const { run, journal, stage } = work;
  await stage.step("applyRetention", async () => {
    try {
      if (run.settings.options.retention !== undefined) run.ledger.lowMost = Infinity;
      const { first } = await journal.applyRetention();
      run.counts.retentions++;
      run.ledger.low = Math.max(run.ledger.low, first);
    } catch (error) {
      upkeepError(work, error);
    }
  });
}

function changeMode(work: Work): void {
  const { run, journal } = work;
  const mode = run.random.pick<Durability>(["sync", "batch", "async"]);
  work.showsDurable &&= mode === "sync";
  journal.setDurability(mode);
  if (journal.durability !== mode) run.ledger.fail(`setDurability("${mode}") left ${journal.durability}`);
  run.counts.modeChanges++;
}

function jump({ run }: Work): void {
  run.host.jump(run.random.pick([-86_400_000, -1_000, 5_000, 3_600_000]));
  run.counts.clockJumps++;
}

async function trouble(work: Work): Promise<void> {
  const { run, stage } = work;
  const { random, host } = run;
  const { trouble: kind } = run.settings;
  if (kind === "failed syncs" && random.chance(0.3)) host.failNext("dataSync");
  if (kind === "failed writes" && random.chance(0.3))
    host.failNext(random.pick(["writeAtSync", "write", "preallocate"]));
  if (kind === "all" && random.chance(0.2))
    host.failNext(random.pick(["rename", "remove", "syncDirectory", "create", "list"]));
  if (kind !== "no space" && kind !== "all") return;
  await stage.step(
    "filling the disk",
    async () => await fill(run, random.pick([0, random.between(0, 20_000), random.between(0, 1_500_000)])),
  );
  if (random.chance(0.3)) return;
  await stage.pause(random.pick([10, 300, 1000]));
  await makeRoom(work);
}

/** Room again: appends go on by themselves. */
export async function makeRoom(work: Work): Promise<void> {
  const { run, journal, stage } = work;
  if (run.host.faults.noSpaceAfterBytes === Infinity) return;
  run.host.faults.noSpaceAfterBytes = Infinity;
  await stage.pause(1000);
  if (journal.state === "no-space") run.ledger.fail("the disk has room again, and the journal still says no-space");
  if (journal.state !== "open" || work.closing) return;
  await stage.step("ready() after there is room again", async () => {
    try {
      await journal.ready(1000);
      run.counts.roomAgain++;
    } catch (error) {
      if (run.host.faults.noSpaceAfterBytes === Infinity && codeOf(error) === "NO_SPACE") throw error;
      upkeepError(work, error);
    }
  });
}

function upkeepError(work: Work, error: unknown): void {
  const code = codeOf(error);
  if (code === "CLOSED" && work.closing) return;
  if (!mayHappen(work.run, code)) throw error;
}
