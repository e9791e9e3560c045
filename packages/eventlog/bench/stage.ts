import { payloadSeed, seededEvents, withDirectory } from "@ehdb/harness";
import type { BenchContext } from "@ehdb/harness";
import type { EventLog, NewEvent } from "@ehdb/contracts";
import { openEventLog } from "@ehdb/eventlog";
import type { DurableEventLog, EventLogOptions } from "@ehdb/eventlog";
import { MIB } from "@ehdb/contracts";

export type Options = Omit<EventLogOptions, "dir">;

/** No generation gets full: what is measured is the append, not the seal. */
export const unsealed: Options = { sealMaxBytes: 256 * MIB, sealMaxCommits: 2 ** 24 };

/** An event for an append, and the bytes that any store of JSON would have to write for it. */
export interface BenchEvent {
  readonly stream: string;
  readonly event: NewEvent;
  readonly json: Uint8Array;
}

/** Events of about 400 bytes that depend on nothing but their number. */
export function benchEvents(count: number): BenchEvent[] {
  return seededEvents(payloadSeed, count).map(({ stream, type, id: _id, version: _version, ...data }) => {
    const event: NewEvent = { type, data };
    return { stream, event, json: Buffer.from(JSON.stringify({ stream, ...event })) };
  });
}

/** Calls with a new log; closes and removes it afterwards. */
export async function withLog<T>(
  { directory }: BenchContext,
  options: Options,
  use: (log: DurableEventLog, dir: string) => Promise<T>,
): Promise<T> {
  return await withDirectory(directory, async (parent) => {
    const dir = `${parent}/log`;
    const log = await openEventLog({ ...options, dir });
    try {
      return await use(log, dir);
    } finally {
      await log.close();
    }
  });
}

/** Appends `count` events, taken round and round from the `first`-th on, many at once. */
export async function fill(log: EventLog, events: readonly BenchEvent[], count: number, first = 0): Promise<void> {
  let next = first;
  const caller = async (): Promise<void> => {
    while (next < first + count) {
      const { stream, event } = events[next++ % events.length] as BenchEvent;
      await log.append(stream, event);
    }
  };
  await Promise.all(Array.from({ length: 1024 }, caller));
}

/** After the clock has stopped: the log holds exactly these events, in order of position. */
export async function assertHolds(log: EventLog, events: readonly BenchEvent[], count: number): Promise<void> {
  let seen = 0;
  for await (const batch of log.scan().batches()) {
    for (const { position, stream, type } of batch) {
      const wanted = events[seen++ % events.length] as BenchEvent;
      if (position !== seen || stream !== wanted.stream || type !== wanted.event.type)
        throw new Error(`event ${seen} is ${stream} ${type} at ${position}, not ${wanted.stream} ${wanted.event.type}`);
    }
  }
  if (seen !== count) throw new Error(`the log holds ${seen} events instead of ${count}`);
}
