import { codeOf, excuse, takes } from "./context.ts";
import type { Work } from "./context.ts";
import type { Job } from "./ledger.ts";

/** What one member does for a while: it fetches, and does something with what it got. */
export async function member(work: Work, name: string, rounds: number): Promise<void> {
  const { random } = work.run;
  const mine: Job[] = [];
  for (let left = rounds; left > 0 && takes(work); left--) {
    const choice = random.integer(30);
    if (choice < 12) mine.push(...(await fetch(work, name)));
    else if (choice < 14) await leave(work, name);
    else if (choice < 15) await stale(work);
    else if (choice < 17) await work.stage.pause(random.pick([1, 60, 600, 6000]));
    else await use(work, mine, name);
  }
}

async function fetch(work: Work, name: string): Promise<readonly Job[]> {
  const { run, group, store } = work;
  const { random, ledger, counts } = run;
  const limit = random.pick([1, 2, 5, 50]);
  const waitSeconds = random.pick([0, 0, 0.01, 1]);
  const lease = random.chance(0.2) ? { leaseSeconds: random.pick([0.01, 2]) } : {};
  return (
    (await call(work, `${name} fetches ${limit}`, async () => {
      try {
        const jobs = await group.fetch({ member: name, limit, waitSeconds, ...lease });
        ledger.fetched(name, jobs, run.host.clock.now(), store.log.firstPosition);
        if (jobs.length > limit) ledger.fail(`${jobs.length} were fetched, of ${limit}`);
        counts.fetched += jobs.length;
        counts.fetchedAgain += jobs.filter(({ deliveries }) => deliveries > 1).length;
        return jobs;
      } catch (error) {
        if (codeOf(error) !== "COMPACTED") throw error;
        counts.compacted++;
        return [];
      }
    })) ?? []
  );
}

async function use(work: Work, mine: Job[], name: string): Promise<void> {
  const { random } = work.run;
  if (mine.length === 0) return;
  const choice = random.integer(20);
  const [job] = mine.splice(random.integer(mine.length), 1) as [Job];
  if (choice < 7) await acknowledge(work, [job]);
  else if (choice < 10) await acknowledge(work, [job, ...mine.splice(0, random.integer(4))]);
  else if (choice < 14) await commit(work, [job], name);
  else if (choice < 16) await nack(work, job);
  else if (choice < 17) await park(work, job);
  else if (choice < 19) {
    await extend(work, job);
    mine.push(job);
  }
}

async function acknowledge(work: Work, jobs: readonly Job[]): Promise<void> {
  const { run, group } = work;
  const { ledger, counts } = run;
  const several = [...new Set(jobs)];
  await call(work, `${several.map(({ sequence }) => sequence).join()} acknowledged`, async () => {
    const { generation } = ledger;
    const sure = beginEnd(work, several);
    for (const { sequence } of several) ledger.asked.add(sequence);
    const doing = several.length === 1 ? (several[0] as Job).ack() : group.ack(several);
    await settle(work, several, sure, doing);
    for (const { sequence } of several) ledger.acknowledged(sequence, generation);
    counts.acks++;
    if (several.length > 1) counts.acksOfSeveral++;
  });
}

/** Acknowledges, and states an outcome in the same commit: sometimes one that conflicts, sometimes one that was made before. */
async function commit(work: Work, jobs: readonly Job[], name: string): Promise<void> {
  const { run, group, store } = work;
  const { ledger, counts, random } = run;
  const conflicts = random.chance(0.15);
  await call(work, `${name} commits ${jobs.map(({ sequence }) => sequence).join()}`, async () => {
    const { generation } = ledger;
    const sure = beginEnd(work, jobs);
    if (!conflicts) for (const { sequence } of jobs) ledger.asked.add(sequence);
    const ids = jobs.map(({ sequence }) => `${generation}/${sequence}`);
    const doing = group.commit(jobs, (batch) => {
      const events = ids.map((id) => ({ type: "o.done", data: { id } }));
      store.log.stageAppend(batch, `out-${name}`, events, conflicts ? { expect: 1_000_000 } : {});
    });
    try {
      await settle(work, jobs, sure, doing);
    } catch (error) {
      if (codeOf(error) === "OUTCOME_UNKNOWN") counts.commitsInDoubt++;
      if (codeOf(error) !== "CONFLICT" || !conflicts) throw error;
      counts.commitConflicts++;
      return;
    }
    if (conflicts) ledger.fail("a commit that conflicts was made");
    for (const { sequence } of jobs) ledger.acknowledged(sequence, generation);
    for (const id of ids) run.outcomes.add(id);
    counts.commits++;
  });
}

async function nack(work: Work, job: Job): Promise<void> {
  const { ledger, counts, random, settings } = work.run;
  const delaySeconds = random.pick([0, 0, 0.2, 3]);
  await call(work, `${job.sequence} is given back`, async () => {
    const sure = beginEnd(work, [job]);
    if (job.deliveries >= settings.group.maxDeliver) {
      ledger.parked.add(job.sequence);
      counts.parkedByCount++;
    }
    await settle(work, [job], sure, job.nack({ delaySeconds, reason: "no" }));
    ledger.ended.push(job);
    counts.nacks++;
  });
}

async function park(work: Work, job: Job): Promise<void> {
  const { ledger, counts } = work.run;
  await call(work, `${job.sequence} is parked`, async () => {
    const sure = beginEnd(work, [job]);
    ledger.parked.add(job.sequence);
    await settle(work, [job], sure, job.park("no"));
    ledger.ended.push(job);
    counts.parks++;
  });
}

async function extend(work: Work, job: Job): Promise<void> {
  const { ledger, counts, random } = work.run;
  await call(work, `${job.sequence} is kept longer`, async () => {
    const sure = beginEnd(work, [job]);
    let until = 0;
    await settle(
      work,
      [job],
      sure,
      job.extend(random.pick([0.1, 1, 20])).then((time) => (until = time)),
    );
    ledger.extended(job, until);
    counts.extensions++;
  });
}

/** What was called of a delivery that was over is refused, whatever came since. */
async function stale(work: Work): Promise<void> {
  const { ledger, counts, random } = work.run;
  const job = ledger.ended[random.integer(Math.max(1, ledger.ended.length))];
  if (job === undefined || ledger.isNewest(job)) return;
  await call(work, `a stale ack of ${job.sequence}`, async () => {
    try {
      await job.ack();
      ledger.fail(`a delivery of ${job.sequence} was over, and its ack was taken`);
    } catch (error) {
      if (codeOf(error) !== "LEASE_LOST") throw error;
      counts.staleRefused++;
    }
  });
}

async function leave(work: Work, name: string): Promise<void> {
  const { ledger, counts } = work.run;
  await call(work, `${name} leaves`, async () => {
    ledger.left(name);
    await work.group.leave(name);
    counts.left++;
  });
}

/** Of each, whether nothing can have ended it. */
function beginEnd({ run }: Work, jobs: readonly Job[]): boolean {
  const now = run.host.clock.now();
  return jobs.map((job) => run.ledger.isNewest(job) && run.ledger.mayEnd(job, now)).every(Boolean);
}

class Lost extends Error {}

/** A lease that is lost is nobody's fault, unless nothing can have ended it. */
async function settle({ run }: Work, jobs: readonly Job[], sure: boolean, doing: Promise<unknown>): Promise<void> {
  try {
    await doing;
  } catch (error) {
    if (codeOf(error) !== "LEASE_LOST") throw error;
    if (sure)
      run.ledger.fail(`the lease of ${jobs.map(({ sequence }) => sequence).join()} was lost, and it wasn't over`);
    run.counts.lateRefused++;
    throw new Lost();
  }
}

/** One call, never while the group is moved. */
async function call<T>(work: Work, what: string, does: () => Promise<T>): Promise<T | undefined> {
  while (work.isMoving) await work.stage.pause(2);
  if (!takes(work)) return undefined;
  work.calls++;
  try {
    return await work.stage.step(what, does);
  } catch (error) {
    if (!(error instanceof Lost)) excuse(work.run, error);
    return undefined;
  } finally {
    work.calls--;
  }
}
