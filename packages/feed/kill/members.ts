import { sightType } from "./records.ts";
import type { GroupName, Job, Sight } from "./records.ts";
import { isTaken, pause } from "./work.ts";
import type { Work } from "./work.ts";

/** Longer than a lease. */
const tooLongMillis = 200;

/** Names that come again with each incarnation. */
export const memberNames: readonly string[] = ["p0", "p1", "p2", "p3", "o0", "o1", "o2"];

/** Members in the owner's own process, until the work is over. */
export function runMembers(work: Work): Promise<void>[] {
  return [
    member(work, "plain", "p0", (jobs) => work.acknowledgeEach(jobs)),
    member(work, "plain", "p1", (jobs) => work.acknowledge("plain", jobs)),
    member(work, "plain", "p2", (jobs) => withTrouble(work, jobs)),
    member(work, "plain", "p3", (jobs) => tooLate(work, jobs)),
    ...["o0", "o1", "o2"].map((name) => member(work, "ordered", name, (jobs) => inOrder(work, jobs, name))),
    parkingLot(work),
  ];
}

async function member(
  work: Work,
  group: GroupName,
  name: string,
  process: (jobs: readonly Job[]) => Promise<void>,
): Promise<void> {
  while (!work.isOver) {
    await process(await work.fetch(group, name, 1 + work.random.integer(60)));
    await pause(work.random.integer(3));
  }
}

/** Gives some back, parks some, forgets some, acknowledges the rest. */
async function withTrouble(work: Work, jobs: readonly Job[]): Promise<void> {
  const { random } = work;
  const good: Job[] = [];
  for (const job of jobs) {
    const fate = random.integer(6);
    if (fate === 0) await isTaken(job.nack({ delaySeconds: random.integer(3) / 100 }));
    else if (fate === 1) await isTaken(job.park("it's a bad one"));
    else if (fate === 2) await isTaken(job.extend(0.05));
    else if (fate > 3) good.push(job);
  }
  await work.acknowledgeEach(good);
}

/** Mostly somebody else has them by then. */
async function tooLate(work: Work, jobs: readonly Job[]): Promise<void> {
  if (jobs.length === 0) return;
  await pause(tooLongMillis);
  await work.acknowledgeEach(jobs);
}

/** One outcome for each job, with its acknowledgement: in commits of one and of several. Some are given back. */
async function inOrder(work: Work, jobs: readonly Job[], name: string): Promise<void> {
  await seeAgain(work, jobs, name);
  const { random, defect } = work;
  const again = jobs.filter(() => random.integer(12) === 0);
  for (const job of again) await isTaken(job.nack({ delaySeconds: random.integer(2) / 100 }));
  const rest = jobs.filter((job) => !again.includes(job));
  if (rest.length === 0) return;
  if (defect === "states the outcome beside the acknowledgement") await work.finishInTwoSteps(rest, name);
  else if (random.integer(2) === 0) await work.finish("ordered", rest, name);
  else for (const job of rest) await work.finish("ordered", [job], name);
}

/** That a job was delivered again is durable before it's delivered: whoever gets it later is told of one more. */
async function seeAgain(work: Work, jobs: readonly Job[], name: string): Promise<void> {
  const again = jobs.filter(({ deliveries }) => deliveries > 1);
  if (again.length === 0) return;
  const sights = again.map(({ sequence, deliveries }): Sight => ({ job: sequence, deliveries }));
  await work.store.log.append(
    `sights-${name}`,
    sights.map((data) => ({ type: sightType, data })),
  );
}

/** Takes some out of the lot, for another try or for good. */
async function parkingLot(work: Work): Promise<void> {
  const { plain } = work.groups;
  while (!work.isOver) {
    await pause(work.random.integer(40));
    const parked = await plain.parked({ limit: 20 });
    const [again, given] = [0, 1].map((kind) => parked.filter(() => work.random.integer(3) === kind));
    const sequences = (again ?? []).map(({ sequence }) => sequence);
    await work.replay(sequences);
    const gone = (given ?? []).filter(({ sequence }) => !sequences.includes(sequence));
    await work.settle(gone, () => plain.discard(gone.map(({ sequence }) => sequence)));
  }
}
