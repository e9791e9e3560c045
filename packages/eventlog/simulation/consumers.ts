import { codeOf, excuse, inspect, mayHappen, showsLess, takes } from "./context.ts";
import type { Work } from "./context.ts";
import { Delivery } from "./following.ts";
import { drawWanted } from "./readers.ts";

export const consumerNames: readonly string[] = ["mailer", "é", "archive"];

/** What one consumer does, for a while; nobody else acknowledges for it. */
export async function consumer(work: Work, name: string, operations: number): Promise<void> {
  const { run, stage, log } = work;
  const { random } = run;
  for (let left = operations; left > 0 && takes(work); left--) {
    const choice = random.integer(20);
    if (choice < 7) await ack(work, name, random.integer(log.position + 1));
    else if (choice < 11) await acksAtOnce(work, name);
    else if (choice < 12) await ackBeyond(work, name);
    else if (choice < 14) await askCommitted(work, name);
    else if (choice < 17) await tail(work, name);
    else if (choice < 18) await forget(work, name);
    else await stage.pause(random.pick([1, 20, 100]));
    inspect(work);
  }
}

async function acksAtOnce(work: Work, name: string): Promise<void> {
  const { run, log } = work;
  const positions = Array.from({ length: run.random.between(2, 4) }, () => run.random.integer(log.position + 1));
  await notWhileReclaiming(work);
  await Promise.all(positions.map((position) => ack(work, name, position)));
}

async function ack(work: Work, name: string, position: number): Promise<void> {
  const { run, stage, log } = work;
  const { consumers } = run.ledger;
  await notWhileReclaiming(work);
  const { asyncTurns } = run;
  const isAsync = run.durability === "async";
  await stage.step(`${name} acknowledges ${position}`, async () => {
    if (position > log.position) return;
    consumers.askAck(name, position);
    try {
      const committed = await log.consumer(name).ack(position);
      run.counts.acks++;
      if (showsLess(work)) return;
      consumers.acked(name, position, committed, !isAsync && run.asyncTurns === asyncTurns);
    } catch (error) {
      excuse(work, error);
    }
  });
}

async function ackBeyond(work: Work, name: string): Promise<void> {
  const { run, stage, log } = work;
  await stage.step(`${name} acknowledges what isn't there`, async () => {
    try {
      await log.consumer(name).ack(log.position + 1);
      run.ledger.fail(`${name} acknowledged ${log.position + 1}, beyond the end`);
    } catch (error) {
      if (codeOf(error) !== "OUT_OF_RANGE") excuse(work, error);
    }
  });
}

async function askCommitted(work: Work, name: string): Promise<void> {
  const { run, stage, log } = work;
  const { ledger, recoveries } = run;
  const { least } = ledger.consumers.range(name);
  await stage.step(`what ${name} has acknowledged`, async () => {
    try {
      const list = await log.consumers();
      const committed = await log.consumer(name).committed();
      const { most } = ledger.consumers.range(name);
      if (recoveries !== run.recoveries || recoveries % 2 === 1 || showsLess(work)) return;
      if (committed < least || committed > most)
        ledger.fail(`${name} has acknowledged ${committed}, and must have ${least} to ${most}`);
      const names = list.map((info) => info.name);
      if (names.join(" ") !== names.toSorted().join(" ")) ledger.fail(`consumers aren't in order: ${names.join(" ")}`);
    } catch (error) {
      excuse(work, error);
    }
  });
}

async function forget(work: Work, name: string): Promise<void> {
  const { run, stage, log } = work;
  const { consumers } = run.ledger;
  await notWhileReclaiming(work);
  const { asyncTurns } = run;
  const isAsync = run.durability === "async";
  await stage.step(`${name} is deleted`, async () => {
    consumers.askDelete(name);
    try {
      await log.consumer(name).delete();
      run.counts.consumersDeleted++;
      consumers.deleted(name, !isAsync && run.asyncTurns === asyncTurns);
    } catch (error) {
      excuse(work, error);
    }
  });
}

/** Follows from what is acknowledged, and acknowledges what it gets. */
async function tail(work: Work, name: string): Promise<void> {
  const { run, log } = work;
  const { ledger, counts, random } = run;
  const { least, most } = ledger.consumers.range(name);
  if (least !== most || run.recoveries % 2 === 1) return;
  const { epoch } = log;
  const filter = drawWanted(run);
  const stop = new AbortController();
  const place = least === 0 ? undefined : { position: least, epoch };
  const delivery = new Delivery(work, filter, `the tail of ${name}`, place, () => stop.abort(), true);
  const onCaughtUp = delivery.caughtUp.bind(delivery);
  const subscription = log.consumer(name).tail({
    ...filter,
    signal: stop.signal,
    onCaughtUp: (checkpoint) => {
      onCaughtUp(checkpoint);
      stop.abort();
    },
  });
  const manner = { takesBatches: random.chance(0.3), slowness: random.pick([0, 0, 5]) };
  const error = await delivery.take(subscription, manner, random.between(1, 12));
  const code = codeOf(error);
  counts.tails++;
  const { position } = subscription.checkpoint;
  if (code === "COMPACTED") {
    if (Math.max(least, position) + 1 >= log.firstPosition)
      ledger.fail(`the tail of ${name} after ${least} is compacted, and ${log.firstPosition} is the first`);
    await ack(work, name, log.firstPosition - 1);
  } else if (code === "TRUNCATED") {
    ledger.afterOpening(log.epoch, () => {
      if (!ledger.isCut(subscription.checkpoint))
        ledger.fail(`the tail of ${name} was said to be truncated, and nothing was taken back`);
    });
  } else if (error !== undefined && code !== "ABORTED") {
    if (code !== "IO_ERROR" || !mayHappen(run, code)) excuse(work, error);
  } else if (delivery.hasBegun && random.chance(0.8)) await ack(work, name, position);
}

/** What a reclaim that looks at consumers does is known only when none of them moves. */
async function notWhileReclaiming(work: Work): Promise<void> {
  while (work.reclaiming > 0) await work.stage.pause(5);
}
