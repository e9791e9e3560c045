import type { RecordedEvent } from "@ehdb/contracts";
import type { Upcasters } from "./upcasters.ts";

/** An event as a driver finds it: what is cheap to know, and how to get the rest. Both functions give the same each time. */
export interface StoredEvent {
  readonly id: string;
  readonly stream: string;
  readonly version: number;
  readonly position: number;
  readonly time: number;
  readonly type: string;
  readData(): unknown;
  readMetadata(): unknown;
}

/** The event that a user gets: decoded, and made what upcasters say, when it is asked for and not before. */
export function recordedEvent(stored: StoredEvent, upcasters: Upcasters): RecordedEvent {
  return upcasters.has(stored.type) ? new UpcastEvent(stored, upcasters) : new LazyEvent(stored);
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

  constructor({ id, stream, version, position, time }: StoredEvent) {
    this.id = id;
    this.stream = stream;
    this.version = version;
    this.position = position;
    this.time = time;
  }

  abstract get type(): string;
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
  readonly #stored: StoredEvent;
  #data: unknown;
  #metadata: unknown;
  #hasData = false;
  #hasMetadata = false;

  constructor(stored: StoredEvent) {
    super(stored);
    this.#stored = stored;
  }

  get type(): string {
    return this.#stored.type;
  }

  get data(): unknown {
    if (!this.#hasData) {
      this.#data = this.#stored.readData();
      this.#hasData = true;
    }
    return this.#data;
  }

  get metadata(): unknown {
    if (!this.#hasMetadata) {
      this.#metadata = this.#stored.readMetadata();
      this.#hasMetadata = true;
    }
    return this.#metadata;
  }
}

class UpcastEvent extends EventBase {
  readonly #stored: StoredEvent;
  readonly #upcasters: Upcasters;
  #made: ReturnType<Upcasters["apply"]> | undefined;

  constructor(stored: StoredEvent, upcasters: Upcasters) {
    super(stored);
    this.#stored = stored;
    this.#upcasters = upcasters;
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
    this.#made ??= this.#upcasters.apply(new LazyEvent(this.#stored).toJSON());
    return this.#made;
  }
}
