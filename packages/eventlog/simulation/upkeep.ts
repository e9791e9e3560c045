import { excuse, inspect, takes } from "./context.ts";
import type { Work } from "./context.ts";
import { fill } from "./opening.ts";
import type { Durability } from "./settings.ts";

/** What an operator does to a running log, and what the machine does to it: seals, modes, clocks, full disks. */
export async function upkeep(work: Work, operations: number): Promise<void> {
  const { run, stage } = work;
  const { random } = run;
  for (let left = operations; left > 0 && takes(work); left--) {
    await stage.pause(random.pick([1, 10, 60]));
    const choice = random.integer(10);
    if (choice < 3) await seal(work);
    else if (choice < 4) changeMode(work);
    else if (choice < 5) jump(work);
    else if (choice < 6) await stage.pause(1100);
    else await trouble(work);
    inspect(work);
  }
}

async function seal(work: Work): Promise<void> {
  await work.stage.step("seal", async () => {
    try {
      await work.log.engine.seal();
    } catch (error) {
      excuse(work, error);
    }
  });
}

function changeMode({ run, log }: Work): void {
  const mode = run.random.pick<Durability>(["sync", "batch", "async"]);
  run.showsDurable &&= mode === "sync";
  run.durability = mode;
  if (mode === "async") run.asyncTurns++;
  log.engine.setDurability(mode);
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
  if (kind === "failed syncs" && random.chance(0.4)) {
    const path = random.pick([undefined, /\.part$|parts$/, /manifest|CURRENT/]);
    host.failNext(random.pick(["dataSync", "syncDirectory"] as const), "EIO", path);
  }
  if (kind === "failed writes" && random.chance(0.4))
    host.failNext(random.pick(["writeAtSync", "write", "write", "preallocate"] as const));
  if (kind === "all" && random.chance(0.3))
    host.failNext(random.pick(["rename", "remove", "syncDirectory", "create", "list", "job"] as const));
  if (kind !== "no space" && kind !== "all") return;
  const room = random.pick([0, random.between(0, 20_000), random.between(0, 1_500_000)]);
  await stage.step("filling the disk", async () => await fill(run, room));
  if (random.chance(0.3)) return;
  await stage.pause(random.pick([10, 300, 1000]));
  await makeRoom(work);
}

/** Room again: appends go on by themselves. */
export async function makeRoom(work: Work): Promise<void> {
  const { run, log, stage } = work;
  if (run.host.faults.noSpaceAfterBytes === Infinity) return;
  run.host.faults.noSpaceAfterBytes = Infinity;
  await stage.pause(1500);
  if (log.engine.state === "no-space") run.ledger.fail("the disk has room again, and the log still says no-space");
  if (log.engine.state !== "open" || work.closing) return;
  await stage.step("ready() after there is room again", async () => {
    try {
      await log.ready();
      run.counts.roomAgain++;
    } catch (error) {
      excuse(work, error);
    }
  });
}
