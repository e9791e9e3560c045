import { codeOf, excuse, takes } from "./context.ts";
import type { Work } from "./context.ts";

/** What who looks after the group does, for a while. */
export async function operator(work: Work, rounds: number): Promise<void> {
  const { random, host, counts, ledger } = work.run;
  for (let left = rounds; left > 0 && takes(work); left--) {
    const choice = random.integer(20);
    if (choice < 4) await info(work);
    else if (choice < 7) await seek(work);
    else if (choice < 10) await replay(work);
    else if (choice < 11) await discard(work);
    else if (choice < 12) await pause(work);
    else if (choice < 13) await reclaim(work);
    else if (choice < 15) await others(work);
    else if (choice < 16) {
      const millis = random.pick([-5000, 400, 100_000]);
      if (millis < 0) ledger.allMayHaveEnded();
      host.jump(millis);
      counts.clockJumps++;
    } else await work.stage.pause(random.pick([1, 50, 700]));
  }
}

/** Figures agree with each other, and the committed place never moves back. */
export async function info(work: Work): Promise<void> {
  const { run, store, group } = work;
  const { ledger } = run;
  const { generation } = ledger;
  await step(work, "info", async () => {
    const { committed, delivered, inFlight, waiting, lag } = await group.info();
    if (generation !== ledger.generation || work.isMoving) return;
    const { position } = store.log;
    if (committed > delivered) ledger.fail(`${committed} is committed, and ${delivered} delivered`);
    if (committed < ledger.committed) ledger.fail(`the committed place went from ${ledger.committed} to ${committed}`);
    if (lag !== Math.max(0, position - delivered) + inFlight + waiting)
      ledger.fail(
        `the lag is ${lag}, with ${inFlight} in flight, ${waiting} waiting, ${delivered} of ${position} delivered`,
      );
    ledger.committed = committed;
  });
}

async function seek(work: Work): Promise<void> {
  const { run, group, store, stage } = work;
  const { ledger, counts, random } = run;
  work.isMoving = true;
  try {
    while (work.calls > 0) await stage.pause(3);
    const { firstPosition: first, position: last } = store.log;
    const to = random.chance(0.2) ? ("end" as const) : { sequence: random.between(1, last + 1), clamp: true };
    const { from } = ledger;
    const place = to === "end" ? last + 1 : Math.max(to.sequence, first);
    ledger.seeking();
    // As long as there is no answer, and a crash keeps it for ever.
    ledger.mayHaveSought(last + 1);
    let isDone = false;
    try {
      await step(work, `seek ${place}`, async () => {
        const at = await group.seek(to);
        isDone = true;
        if (at < place || (to !== "end" && at !== place)) ledger.fail(`moved to ${at} instead of ${place}`);
        if (at < from) counts.seeksBack++;
        else counts.seeksForward++;
        ledger.sought(at);
      });
    } finally {
      if (!isDone) counts.seeksInDoubt++;
    }
  } finally {
    work.isMoving = false;
  }
}

async function replay(work: Work): Promise<void> {
  const { ledger, counts, random } = work.run;
  await step(work, "replay", async () => {
    const lot = await work.group.parked();
    const some = lot.map(({ sequence }) => sequence).filter(() => random.chance(0.6));
    if (some.length === 0) return;
    ledger.replaying(some);
    counts.replays += await work.group.replay(some);
  });
}

async function discard(work: Work): Promise<void> {
  const { ledger, counts, random } = work.run;
  await step(work, "discard", async () => {
    const [parked] = await work.group.parked({ after: random.integer(20), limit: 1 });
    if (parked === undefined) return;
    ledger.asked.add(parked.sequence);
    counts.discards += await work.group.discard([parked.sequence]);
  });
}

async function pause(work: Work): Promise<void> {
  await step(work, "pause", () => work.group.pause());
  await work.stage.pause(20);
  await step(work, "resume", () => work.group.resume());
  work.run.counts.pauses++;
}

async function reclaim(work: Work): Promise<void> {
  const { log } = work.store;
  const { random } = work.run;
  if (random.chance(0.6)) return;
  await step(work, "reclaim", async () => void (await log.reclaim({ maxEvents: Math.max(5, log.position - 3) })));
}

/** Other groups come and go. */
async function others(work: Work): Promise<void> {
  const { run, store } = work;
  const { random, counts } = run;
  const name = `other ${random.integer(3)}`;
  const isThere = run.others.get(name);
  await step(work, name, async () => {
    run.others.set(name, "perhaps");
    try {
      if (isThere === undefined) {
        const group = await store.feed.createGroup(name, { start: { sequence: 1, clamp: true } });
        counts.groupsMade++;
        run.others.set(name, "there");
        await group.fetch({ member: "m", limit: 3 });
      } else {
        await store.feed.deleteGroup(name, { pending: "drop" });
        counts.groupsDeleted++;
        run.others.delete(name);
      }
    } catch (error) {
      if (codeOf(error) === "ALREADY_EXISTS" && isThere === undefined) return;
      // It may be in the state all the same.
      if (codeOf(error) === "NOT_FOUND" && isThere !== "there") return;
      if (codeOf(error) !== "COMPACTED") throw error;
    }
  });
}

async function step(work: Work, what: string, does: () => Promise<unknown>): Promise<void> {
  if (!takes(work)) return;
  try {
    await work.stage.step(what, does);
  } catch (error) {
    excuse(work.run, error);
  }
}
