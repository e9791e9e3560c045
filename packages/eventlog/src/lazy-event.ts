import type { RecordedEvent } from "@ehdb/contracts";
import type { Upcasters } from "./upcasters.ts";

/** Where an event is, who it is, and what kind of thing it says. */
export interface EventHead {
  readonly id: string;
  readonly stream: string;
  readonly version: number;
  readonly position: number;
  readonly time: number;
  readonly type: string;
}

/** What many events hold, told apart by where each begins and ends: how to get the rest. Both functions give the same each time. */
export interface EventContents {
  dataAt(start: number, end: number): unknown;
  metadataAt(start: number, end: number): unknown;
}

/** The event that a user gets: decoded, and made what upcasters say, when it is asked for and not before. */
export function recordedEvent(
  head: EventHead,
  contents: EventContents,
  start: number,
  end: number,
  upcasters: Upcasters,
): RecordedEvent {
  const event = new LazyEvent(head, contents, start, end);
  return upcasters.has(head.type) ? new UpcastEvent(event, upcasters) : event;
}

/** What a console prints. */
const inspected: unique symbol = Symbol.for("nodejs.util.inspect.custom") as never;

/** Getters of the class, not of each object: those cost fifty times as much to make. */
abstract class EventBase {
  readonly id: string;
  readonly stream: string;
  readonly version: number;
  readonly position: number;
  readonly time: number;
  declare readonly type: string;

  constructor({ id, stream, version, position, time }: EventHead) {
    this.id = id;
    this.stream = stream;
    this.version = version;
    this.position = position;
    this.time = time;
  }

  abstract get data(): unknown;
  abstract get metadata(): unknown;

  toJSON(): RecordedEvent {
    const { id, stream, version, position, time, type, data, metadata } = this;
    return { id, stream, version, position, time, type, data, metadata };
  }

  [inspected](): RecordedEvent {
    return this.toJSON();
  }
}

/** Stands for what wasn't decoded yet. */
const unread: unique symbol = Symbol("unread");

class LazyEvent extends EventBase {
  override readonly type: string;
  readonly #contents: EventContents;
  readonly #start: number;
  readonly #end: number;
  #data: unknown = unread;
  #metadata: unknown = unread;

  constructor(head: EventHead, contents: EventContents, start: number, end: number) {
    super(head);
    this.type = head.type;
    this.#contents = contents;
    this.#start = start;
    this.#end = end;
  }

  get data(): unknown {
    if (this.#data === unread) this.#data = this.#contents.dataAt(this.#start, this.#end);
    return this.#data;
  }

  get metadata(): unknown {
    if (this.#metadata === unread) this.#metadata = this.#contents.metadataAt(this.#start, this.#end);
    return this.#metadata;
  }
}

class UpcastEvent extends EventBase {
  readonly #event: LazyEvent;
  readonly #upcasters: Upcasters;
  #made: ReturnType<Upcasters["apply"]> | undefined;

  constructor(event: LazyEvent, upcasters: Upcasters) {
    super(event);
    this.#event = event;
    this.#upcasters = upcasters;
    // The event's own, as of any event, though an upcaster says it when it's asked.
    Object.defineProperty(this, "type", { enumerable: true, get: () => this.#now().type });
  }

  get data(): unknown {
    return this.#now().data;
  }

  get metadata(): unknown {
    return this.#now().metadata;
  }

  #now(): ReturnType<Upcasters["apply"]> {
    this.#made ??= this.#upcasters.apply(this.#event.toJSON());
    return this.#made;
  }
}
