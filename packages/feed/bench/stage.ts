import { payloadSeed, SampledDigest, seededRecords, withDirectory } from "@ehdb/harness";
import type { BenchContext, WorkProof } from "@ehdb/harness";
import { feedDatasets, feedOn, logSource } from "@ehdb/feed";
import type { ConsumerGroup, EngineFeed } from "@ehdb/feed";
import { openEngine } from "@ehdb/l0";
import type { DurableEngine, LogRecord } from "@ehdb/l0";

const LOG = "jobs";
const bytes = 100;
/** So many different ones: the rest repeats them. */
const different = 9973;
const records = seededRecords(payloadSeed, different, bytes);
const recordsACommit = 500;

export interface Stage {
  readonly engine: DurableEngine;
  readonly feed: EngineFeed<LogRecord>;
}

/** Calls with a feed over a backlog of so many records, in one engine of its own. */
export async function withBacklog<T>(
  { directory }: BenchContext,
  count: number,
  use: (stage: Stage) => Promise<T>,
): Promise<T> {
  return await withDirectory(directory, async (parent) => {
    const datasets = [{ name: LOG, order: "by-sort" } as const, ...feedDatasets];
    const engine = await openEngine({ dir: `${parent}/engine`, datasets });
    try {
      await publish(engine, count);
      await engine.seal();
      await engine.runPendingMerges();
      const feed = await feedOn(engine, { source: logSource(engine, LOG) });
      try {
        return await use({ engine, feed });
      } finally {
        await feed.close();
      }
    } finally {
      await engine.close();
    }
  });
}

/** Appends so many records behind what there is. */
export async function publish(engine: DurableEngine, count: number): Promise<void> {
  const first = engine.log(LOG).last;
  const commits: Promise<unknown>[] = [];
  for (let done = 0; done < count; done += recordsACommit) {
    commits.push(
      engine.commit((batch) => {
        for (let index = first + done; index < first + Math.min(count, done + recordsACommit); index++)
          batch.append(LOG, `key-${index % 997}`, records[index % different] as Uint8Array);
      }),
    );
    if (commits.length % 64 === 0) await Promise.all(commits.splice(0));
  }
  await Promise.all(commits);
}

/** What a faultless drain of the last records of a backlog gives. */
export function expectedOf(count: number, backlog: number): WorkProof {
  const proof = new SampledDigest();
  for (let index = backlog - count; index < backlog; index++) proof.add(records[index % different] as Uint8Array);
  return proof;
}

/** Reads a backlog without a group: seconds. */
export async function scan({ engine }: Stage): Promise<{ readonly seconds: number; readonly proof: WorkProof }> {
  const proof = new SampledDigest();
  const start = performance.now();
  for await (const batch of engine.log(LOG).scan()) for (const { payload } of batch) proof.add(payload);
  return { seconds: (performance.now() - start) / 1000, proof };
}

/**
 * Fetches so many at a time until nothing is left, and acknowledges each message without waiting for it, so many fetches later; at the end waits until all that's
 * durable. Counts what it gets.
 */
export async function drain(
  group: ConsumerGroup<LogRecord>,
  limit: number,
  fetchesLater = 0,
): Promise<{ readonly seconds: number; readonly proof: WorkProof }> {
  const proof = new SampledDigest();
  const held: (readonly { ack(): Promise<void> }[])[] = [];
  let last = Promise.resolve();
  const start = performance.now();
  for (;;) {
    const messages = await group.fetch({ member: "m", limit });
    for (const { record } of messages) proof.add(record.payload);
    if (messages.length > 0) held.push(messages);
    const done = messages.length === 0 ? held.splice(0) : held.splice(0, held.length - fetchesLater);
    for (const batch of done) for (const message of batch) last = message.ack();
    if (messages.length === 0) break;
  }
  // Acknowledgements are durable in their order.
  await last;
  return { seconds: (performance.now() - start) / 1000, proof };
}

let groups = 0;

/** A group of its own, over the last records of a backlog. */
export async function groupOver(
  { feed }: Stage,
  count: number,
  backlog: number,
  options: { readonly maxInFlight?: number } = {},
): Promise<ConsumerGroup<LogRecord>> {
  return await feed.createGroup(`group ${groups++}`, { ...options, start: { sequence: backlog - count + 1 } });
}
