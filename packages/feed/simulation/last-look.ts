import type { Run, Store } from "./context.ts";
import { alone, close, open } from "./life.ts";

const mostRounds = 400;

/** With nothing wrong any more: everything that isn't done is delivered, and nothing else. */
export async function drainAll(run: Run): Promise<void> {
  const store = await open(run);
  if (store === undefined) return;
  await alone(run, "the last look", async () => {
    await learn(run, store);
    if ((await store.feed.groups()).some(({ group }) => group === "g")) await drain(run, store);
    else if (run.ledger.firm.size > 0) run.ledger.fail("the group is gone");
  });
  await close(run, store);
}

/** What is in the log: events that the group wants, and outcomes. */
async function learn({ ledger, outcomes }: Run, { log }: Store): Promise<void> {
  const made = new Map<string, number>();
  for await (const events of log.scan().batches()) {
    for (const { position, type, stream, data } of events) {
      ledger.appended(position, type, stream);
      if (type !== "o.done") continue;
      const { id } = data as { readonly id: string };
      made.set(id, (made.get(id) ?? 0) + 1);
    }
  }
  for (const [id, times] of made) {
    if (times > 1 + (ledger.replayed.get(id) ?? 0)) ledger.fail(`the outcome of ${id} was made ${times} times`);
    const [generation, sequence] = id.split("/").map(Number) as [number, number];
    if (generation === ledger.generation && !ledger.replayed.has(id)) ledger.firm.add(sequence);
  }
  for (const id of outcomes)
    if (!made.has(id) && log.firstPosition === 1) ledger.fail(`the outcome of ${id} was committed, and is gone`);
}

async function drain(run: Run, { feed, log }: Store): Promise<void> {
  const { ledger, host } = run;
  const group = await feed.group("g");
  await group.resume();
  await group.update({ maxDeliver: Infinity, maxInFlight: 1_000_000, leaseSeconds: 86_400 });
  ledger.replaying((await group.parked()).map(({ sequence }) => sequence));
  await group.replay();
  if ((await group.info()).delivered + 1 < log.firstPosition) {
    ledger.seeking();
    ledger.sought(await group.seek("first"));
  }
  for (const member of ["m0", "m1", "m2"]) await group.leave(member);
  ledger.hasLeft = true;
  const drained = new Set<number>();
  for (let round = 0; round < mostRounds; round++) {
    const jobs = await group.fetch({ member: "last", limit: 1000 });
    ledger.fetched("last", jobs, host.clock.now(), log.firstPosition);
    for (const { sequence } of jobs) {
      if (drained.has(sequence)) ledger.fail(`${sequence} was delivered twice`);
      drained.add(sequence);
      ledger.asked.add(sequence);
    }
    await group.ack(jobs);
    for (const { sequence } of jobs) ledger.acknowledged(sequence, ledger.generation);
    const { lag, parked } = await group.info();
    if (lag + parked === 0) break;
    if (jobs.length === 0) host.jump(200_000);
  }
  const { lag, inFlight, waiting, parked, committed } = await group.info();
  if (lag + inFlight + waiting + parked > 0 || committed !== log.position)
    ledger.fail(
      `after a drain: lag ${lag}, in flight ${inFlight}, waiting ${waiting}, parked ${parked}, committed ${committed} of ${log.position}`,
    );
  for (const sequence of ledger.wanted.keys()) {
    const mustCome = sequence >= Math.max(ledger.from, log.firstPosition) && !ledger.asked.has(sequence);
    if (mustCome) ledger.fail(`${sequence} was never acknowledged, and isn't delivered any more`);
  }
}
