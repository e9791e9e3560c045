import type { EventLog, EventStream, NewEvent, RecordedEvent } from "../event-log.ts";

/** Events numbered in their data. */
export function numbered(count: number, first = 1, type = "counted"): NewEvent[] {
  return Array.from({ length: count }, (_, index) => ({ type, data: { n: first + index } }));
}

/** The same with ids: `prefix` and the number. */
export function identified(prefix: string, count: number, first = 1): NewEvent[] {
  return numbered(count, first).map((event, index) => ({ ...event, id: `${prefix}${first + index}` }));
}

/** Appends one event each to these streams, one after the other: positions are places in the list. */
export async function fill(log: EventLog, ...streams: readonly string[]): Promise<void> {
  for (const stream of streams) await log.append(stream, { type: "counted", data: { n: log.position + 1 } });
}

export async function all(stream: EventStream): Promise<RecordedEvent[]> {
  const events: RecordedEvent[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

export const positions = (events: readonly RecordedEvent[]): number[] => events.map((event) => event.position);

export const versions = (events: readonly RecordedEvent[]): number[] => events.map((event) => event.version);

export async function scanned(log: EventLog, ...options: Parameters<EventLog["scan"]>): Promise<number[]> {
  return positions(await all(log.scan(...options)));
}

export async function read(log: EventLog, ...options: Parameters<EventLog["readStream"]>): Promise<number[]> {
  return versions(await all(log.readStream(...options)));
}

/** The next so many events; the iteration stays open. */
export async function take(iterator: AsyncIterator<RecordedEvent, void>, count: number): Promise<RecordedEvent[]> {
  const events: RecordedEvent[] = [];
  while (events.length < count) {
    const next = await iterator.next();
    if (next.done === true) throw new Error(`the events ended after ${events.length} of ${count}`);
    events.push(next.value);
  }
  return events;
}

export const iteratorOf = (stream: EventStream): AsyncIterator<RecordedEvent, void> => stream[Symbol.asyncIterator]();

/** The whole numbers from `first` to `last`. */
export const range = (first: number, last: number): number[] =>
  Array.from({ length: Math.max(last - first + 1, 0) }, (_, index) => first + index);
