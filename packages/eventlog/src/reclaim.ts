import type { LogDataset } from "@ehdb/contracts";
import type { ReclaimRequest } from "./call-options.ts";
import type { ConsumerPlaces } from "./consumer-places.ts";
import type { WritingContext } from "./log-context.ts";

/** Raises the first position to the first that is kept. */
export async function reclaim(
  context: WritingContext,
  consumers: ConsumerPlaces,
  request: ReclaimRequest,
): Promise<number> {
  const { floor, inFlight } = context;
  await inFlight.drained();
  await consumers.settled();
  await floor.settle();
  const first = await firstKept(context, consumers, request);
  if (first > floor.firstPosition) await floor.raise(first);
  return floor.firstPosition;
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

/** The first position that isn't older. Times never fall, so that it's found by halving. */
async function firstSince(events: LogDataset, last: number, clockNow: number, maxAgeMillis: number): Promise<number> {
  const now = Math.max(clockNow, last === 0 ? 0 : await timeAt(events, last));
  let low = 1;
  let high = last + 1;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if ((await timeAt(events, middle)) >= now - maxAgeMillis) high = middle;
    else low = middle + 1;
  }
  return low;
}

async function timeAt(events: LogDataset, position: number): Promise<number> {
  for await (const [record] of events.scan({ from: position, limit: 1 })) if (record !== undefined) return record.time;
  return 0;
}
