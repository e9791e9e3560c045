import type { EventLog, EventStream, RecordedEvent } from "@ehdb/contracts";

type Read = "scan" | "readStream" | "subscribe";
type Tamper = (events: RecordedEvent[]) => RecordedEvent[];

/** The same object, with some of its methods replaced by what `replace` makes of them. */
export function replacing<T extends object>(
  target: T,
  replacements: Readonly<Record<string, (original: (...args: never[]) => unknown) => unknown>>,
): T {
  return new Proxy(target, {
    get(_, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      const bound = value.bind(target) as (...args: never[]) => unknown;
      const replace = typeof name === "string" ? replacements[name] : undefined;
      return replace === undefined ? bound : replace(bound);
    },
  });
}

/** A log whose reads of one kind go through `tamper`, batch by batch. */
export function tamperedLog<L extends EventLog>(log: L, read: Read, tamper: Tamper): L {
  return replacing(log, {
    [read]:
      (original) =>
      (...args: never[]) =>
        tampered(original(...args) as EventStream, tamper),
  });
}

function tampered(stream: EventStream, tamper: Tamper): EventStream {
  return {
    async *batches() {
      for await (const events of stream.batches()) yield tamper([...events]);
    },
    async *lazyBatches() {
      for await (const events of stream.lazyBatches()) yield tamper([...events]);
    },
    async *[Symbol.asyncIterator]() {
      for await (const events of stream.batches()) yield* tamper([...events]);
    },
  };
}

/** What an event looks like when one of its properties is another. */
export const altered = (event: RecordedEvent, change: Partial<RecordedEvent>): RecordedEvent => {
  const { id, stream, type, version, position, time, data, metadata } = event;
  return { id, stream, type, version, position, time, data, metadata, ...change };
};

const at = (position: number) => (event: RecordedEvent) => event.position === position;

/** What a driver may do wrong to what it reads; positions as of the whole log. */
export const tampers: Readonly<Record<string, (position: number) => Tamper>> = {
  "drops an event": (position) => (events) => events.filter((event) => !at(position)(event)),
  "gives an event twice": (position) => (events) =>
    events.flatMap((event) => (at(position)(event) ? [event, event] : [event])),
  "swaps two events": (position) => (events) => {
    const index = events.findIndex(at(position));
    const [first, second] = [events[index], events[index + 1]];
    if (first === undefined || second === undefined) return events;
    return events.toSpliced(index, 2, second, first);
  },
  "swaps what two events carry": (position) => (events) => {
    const index = events.findIndex(at(position));
    const [first, second] = [events[index], events[index + 1]];
    if (first === undefined || second === undefined) return events;
    return events.toSpliced(index, 2, altered(first, { data: second.data }), altered(second, { data: first.data }));
  },
  "shows another version": (position) => (events) =>
    events.map((event) => (at(position)(event) ? altered(event, { version: event.version + 1 }) : event)),
  "shows another type": (position) => (events) =>
    events.map((event) => (at(position)(event) ? altered(event, { type: "type-9" }) : event)),
  "shows another stream": (position) => (events) =>
    events.map((event) => (at(position)(event) ? altered(event, { stream: "stream-9" }) : event)),
  "changes a byte of the data": (position) => (events) =>
    events.map((event) => {
      if (!at(position)(event)) return event;
      return altered(event, { data: { ...(event.data as object), text: "changed" } });
    }),
  "loses the metadata": (position) => (events) =>
    events.map((event) => (at(position)(event) ? altered(event, { metadata: undefined }) : event)),
};
