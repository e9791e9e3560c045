import type { Durability } from "@ehdb/journal";
import { codeOf, inspect } from "./context.ts";
import type { Work } from "./context.ts";
import { fill } from "./opening.ts";
import { merge, mergeAll, raiseFloor, scavenge } from "./merging.ts";
import { sealOnFullDisk } from "./full-disk.ts";
import { useSnapshot } from "./snapshots.ts";
import { burst, excuse } from "./writers.ts";

/** What an operator does to a running engine, and what the machine does to it: seals, modes, clocks, full disks. */
export async function upkeep(work: Work, operations: number): Promise<void> {
  const { run, stage, engine } = work;
  const { random } = run;
  for (let left = operations; left > 0 && engine.state !== "poisoned" && engine.state !== "closed"; left--) {
    await stage.pause(random.pick([1, 10, 60]));
    const choice = random.integer(16);
    if (choice < 3) await seal(work);
    else if (choice < 4) changeMode(work);
    else if (choice < 5) jump(work);
    else if (choice < 6) await stage.pause(1100);
    else if (choice < 8) await merge(work);
    else if (choice < 9) await scavenge(work);
    else if (choice < 11) await raiseFloor(work);
    else if (choice < 12) await useSnapshot(work);
    else await trouble(work);
    inspect(work);
  }
}

export async function seal(work: Work): Promise<void> {
  const { run, engine, stage } = work;
  await stage.step("seal", async () => {
    const { durable } = engine.heads;
    try {
      await engine.seal();
      run.counts.sealCalls++;
      const { sealed } = engine.heads;
      if (sealed < durable) run.ledger.fail(`seal() resolved with ${sealed} sealed, and ${durable} were durable`);
    } catch (error) {
      excuse(work, error);
    }
  });
}

function changeMode(work: Work): void {
  const { run, engine } = work;
  const mode = run.random.pick<Durability>(["sync", "batch", "async"]);
  run.showsDurable &&= mode === "sync";
  run.durability = mode;
  if (mode === "async") run.asyncTurns++;
  engine.setDurability(mode);
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
  if ((kind === "failed syncs" || kind === "all") && random.chance(0.3)) return await failSyncOfNames(work);
  if (kind === "failed syncs" && random.chance(0.4))
    host.failNext(
      random.pick(["dataSync", "syncDirectory"] as const),
      "EIO",
      random.pick([undefined, /\.part$|parts$/, /manifest|CURRENT/]),
    );
  if (kind === "failed writes" && random.chance(0.4))
    host.failNext(random.pick(["writeAtSync", "write", "write", "preallocate"] as const));
  if (kind === "all" && random.chance(0.3))
    host.failNext(random.pick(["rename", "remove", "syncDirectory", "create", "list", "job"] as const));
  if (kind !== "no space" && kind !== "all") return;
  if (random.chance(0.8)) await sealOnFullDisk(work);
  const room = random.pick([0, random.between(0, 20_000), random.between(0, 1_500_000)]);
  await stage.step("filling the disk", async () => await fill(run, room));
  if (random.chance(0.3)) return;
  await stage.pause(random.pick([10, 300, 1000]));
  await makeRoom(work);
}

/** The names of a merge's part and of a seal's lie in one directory, and a sync of it that fails was for both. */
async function failSyncOfNames(work: Work): Promise<void> {
  await burst(work, 3);
  work.run.host.failNext("syncDirectory", "EIO", /\/parts$/);
  work.run.counts.namesUnsynced++;
  await Promise.all([mergeAll(work), seal(work)]);
}

/** Room again: commits and seals go on by themselves. */
export async function makeRoom(work: Work): Promise<void> {
  const { run, engine, stage } = work;
  if (run.host.faults.noSpaceAfterBytes === Infinity) return;
  run.host.faults.noSpaceAfterBytes = Infinity;
  await stage.pause(1500);
  if (engine.state === "no-space") run.ledger.fail("the disk has room again, and the engine still says no-space");
  if (engine.state !== "open" || work.closing) return;
  await stage.step("ready() after there is room again", async () => {
    try {
      await engine.ready();
      run.counts.roomAgain++;
    } catch (error) {
      if (run.host.faults.noSpaceAfterBytes === Infinity && codeOf(error) === "NO_SPACE") throw error;
      excuse(work, error);
    }
  });
}
