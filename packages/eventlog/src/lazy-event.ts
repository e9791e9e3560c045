import type { RecordedEvent } from "@ehdb/contracts";
import type { Upcasters } from "./upcasters.ts";

/** Where an event is, and who it is. */
export interface EventPlace {
  readonly id: string;
  readonly stream: string;
  readonly version: number;
  readonly position: number;
  readonly time: number;
}

/** What an event holds as a driver finds it: what is cheap to know, and how to get the rest. Both functions give the same each time. */
export interface EventContent {
  readonly type: string;
  readData(): unknown;
  readMetadata(): unknown;
}

/** The event that a user gets: decoded, and made what upcasters say, when it is asked for and not before. */
export function recordedEvent(place: EventPlace, content: EventContent, upcasters: Upcasters): RecordedEvent {
  return upcasters.has(content.type) ? new UpcastEvent(place, content, upcasters) : new LazyEvent(place, content);
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

  constructor({ id, stream, version, position, time }: EventPlace) {
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

class LazyEvent extends EventBase {
  override readonly type: string;
  readonly #content: EventContent;
  #data: unknown;
  #metadata: unknown;
  #hasData = false;
  #hasMetadata = false;

  constructor(place: EventPlace, content: EventContent) {
    super(place);
    this.type = content.type;
    this.#content = content;
  }

  get data(): unknown {
    if (!this.#hasData) {
      this.#data = this.#content.readData();
      this.#hasData = true;
    }
    return this.#data;
  }

  get metadata(): unknown {
    if (!this.#hasMetadata) {
      this.#metadata = this.#content.readMetadata();
      this.#hasMetadata = true;
    }
    return this.#metadata;
  }
}

class UpcastEvent extends EventBase {
  readonly #content: EventContent;
  readonly #upcasters: Upcasters;
  #made: ReturnType<Upcasters["apply"]> | undefined;

  constructor(place: EventPlace, content: EventContent, upcasters: Upcasters) {
    super(place);
    this.#content = content;
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
    this.#made ??= this.#upcasters.apply(new LazyEvent(this, this.#content).toJSON());
    return this.#made;
  }
}
