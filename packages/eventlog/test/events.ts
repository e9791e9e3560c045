import { isEhdbError } from "@ehdb/contracts";
import type { EventStream, NewEvent, RecordedEvent } from "@ehdb/contracts";

/** Events numbered in their data. */
export function numbered(count: number, first = 1): NewEvent[] {
  return Array.from({ length: count }, (_, index) => ({ type: "counted", data: { n: first + index } }));
}

/** The same with ids. */
export function identified(prefix: string, count: number, first = 1): NewEvent[] {
  return numbered(count, first).map((event, index) => ({ ...event, id: `${prefix}${first + index}` }));
}

export async function eventsOf(stream: EventStream): Promise<RecordedEvent[]> {
  const events: RecordedEvent[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

export async function versionsOf(stream: EventStream): Promise<number[]> {
  return (await eventsOf(stream)).map(({ version }) => version);
}

export async function positionsOf(stream: EventStream): Promise<number[]> {
  return (await eventsOf(stream)).map(({ position }) => position);
}

export const iteratorOf = (stream: EventStream): AsyncIterator<RecordedEvent, void> => stream[Symbol.asyncIterator]();

/** The whole numbers from `first` to `last`. */
export const range = (first: number, last: number): number[] =>
  Array.from({ length: Math.max(last - first + 1, 0) }, (_, index) => first + index);

/** What a call is refused with; it may be awaited later than the call ends. */
export async function refusalOf(call: Promise<unknown>): Promise<string> {
  try {
    await call;
  } catch (error) {
    if (isEhdbError(error)) return error.code;
    throw error;
  }
  return "not refused";
}
