import type { LogDataset, LogRecord } from "@ehdb/contracts";
import type { ReclaimRequest } from "./call-options.ts";
import type { ConsumerPlaces } from "./consumer-places.ts";
import { dataset } from "./datasets.ts";
import type { WritingContext } from "./log-context.ts";

/** Raises the first position to the first that is kept. */
export async function reclaim(
  context: WritingContext,
  consumers: ConsumerPlaces,
  request: ReclaimRequest,
): Promise<number> {
  const { engine, events, inFlight } = context;
  await inFlight.drained();
  await consumers.settled();
  const first = await firstKept(context, consumers, request);
  if (first > events.first) await engine.raiseFloor(dataset.events, first);
  return events.first;
}

/** The first position that anything given keeps; behind the last when nothing does. */
async function firstKept(
  { events, host }: WritingContext,
  consumers: ConsumerPlaces,
  { acknowledged, maxAgeSeconds, maxEvents }: ReclaimRequest,
): Promise<number> {
  const { last } = events;
  const kept: number[] = [last + 1];
  if (acknowledged) {
    const places = await consumers.list();
    kept.push(Math.min(...(places.length === 0 ? [{ committed: 0 }] : places).map(({ committed }) => committed)) + 1);
  }
  if (maxEvents !== undefined) kept.push(last - maxEvents + 1);
  if (maxAgeSeconds !== undefined) {
    kept.push(await firstSince(events, last, host.clock.now(), maxAgeSeconds * 1000));
  }
  return Math.max(Math.min(...kept), 1);
}

/** The first position with an event that isn't older. Times never fall, so that it's found by halving. */
async function firstSince(events: LogDataset, last: number, clockNow: number, maxAgeMillis: number): Promise<number> {
  const now = Math.max(clockNow, (await lastRecord(events))?.time ?? 0);
  let low = events.first;
  let high = last + 1;
  let found = high;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const record = await recordFrom(events, middle);
    if (record !== undefined && record.time < now - maxAgeMillis) low = record.sort + 1;
    else {
      high = middle;
      // What was erased is passed over.
      found = record?.sort ?? found;
    }
  }
  return found;
}

async function recordFrom(events: LogDataset, position: number): Promise<LogRecord | undefined> {
  const from = Math.max(position, events.first);
  for await (const [record] of events.scan({ from, limit: 1 })) return record;
  return undefined;
}

async function lastRecord(events: LogDataset): Promise<LogRecord | undefined> {
  for await (const [record] of events.scan({ direction: "backwards", limit: 1 })) return record;
  return undefined;
}
