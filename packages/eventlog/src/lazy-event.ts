import type { LogRecord, RecordedEvent } from "@ehdb/contracts";
import type { Upcasters } from "./upcasters.ts";

/** Where an event is, and the id that was given to it: what a record of the log says. */
export type EventHead = Pick<LogRecord, "sort" | "key" | "version" | "time" | "id">;

/** What many events hold, told apart by where each begins and ends: how to get the rest. All functions give the same each time. */
export interface EventContents {
  /** Of an event that came without one. */
  idAt(start: number): string;
  typeAt(start: number): string;
  dataAt(start: number, end: number): unknown;
  metadataAt(start: number, end: number): unknown;
}

/** An event that is decoded, and made what upcasters say, when it's asked for and not before. All its properties are getters. */
export function lazyEvent(
  head: EventHead,
  contents: EventContents,
  start: number,
  end: number,
  upcasters: Upcasters,
): RecordedEvent {
  const event = new LazyEvent(head, contents, start, end);
  return !upcasters.isEmpty && upcasters.has(event.type) ? new UpcastEvent(event, upcasters) : event;
}

/** The event that a user gets who didn't ask for a lazy one: data and metadata are as of that, all else is its own. */
export function recordedEvent(event: RecordedEvent): RecordedEvent {
  return new OwnEvent(event);
}

/** What a console prints. */
const inspected: unique symbol = Symbol.for("nodejs.util.inspect.custom") as never;

/** Getters of the class, not of each object: those cost fifty times as much to make. */
abstract class EventBase {
  abstract readonly id: string;
  abstract readonly stream: string;
  abstract readonly version: number;
  abstract readonly position: number;
  abstract readonly time: number;
  abstract readonly type: string;
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
  readonly #head: EventHead;
  readonly #contents: EventContents;
  readonly #start: number;
  readonly #end: number;
  #data: unknown = unread;
  #metadata: unknown = unread;

  constructor(head: EventHead, contents: EventContents, start: number, end: number) {
    super();
    this.#head = head;
    this.#contents = contents;
    this.#start = start;
    this.#end = end;
  }

  get id(): string {
    return this.#head.id ?? this.#contents.idAt(this.#start);
  }

  get stream(): string {
    return this.#head.key;
  }

  get version(): number {
    return this.#head.version;
  }

  get position(): number {
    return this.#head.sort;
  }

  get time(): number {
    return this.#head.time;
  }

  get type(): string {
    return this.#contents.typeAt(this.#start);
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
    super();
    this.#event = event;
    this.#upcasters = upcasters;
  }

  get id(): string {
    return this.#event.id;
  }

  get stream(): string {
    return this.#event.stream;
  }

  get version(): number {
    return this.#event.version;
  }

  get position(): number {
    return this.#event.position;
  }

  get time(): number {
    return this.#event.time;
  }

  get type(): string {
    return this.#now().type;
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

class OwnEvent extends EventBase {
  readonly id: string;
  readonly stream: string;
  readonly version: number;
  readonly position: number;
  readonly time: number;
  declare readonly type: string;
  readonly #event: RecordedEvent;

  constructor(event: RecordedEvent) {
    super();
    this.id = event.id;
    this.stream = event.stream;
    this.version = event.version;
    this.position = event.position;
    this.time = event.time;
    this.#event = event;
    if (!(event instanceof UpcastEvent)) this.type = event.type;
    // An upcaster says it when it's asked.
    else Object.defineProperty(this, "type", { enumerable: true, get: () => event.type });
  }

  get data(): unknown {
    return this.#event.data;
  }

  get metadata(): unknown {
    return this.#event.metadata;
  }
}
