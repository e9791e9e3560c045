import { EhdbError, invalidOption } from "@ehdb/contracts";
import type { EventShape, RecordedEvent } from "@ehdb/contracts";

/** Makes an event of an old type, or of an old form of its type, what the program knows now. Without `metadata`: as it is. */
export type Upcaster = (event: RecordedEvent) => EventShape;

/** By the type that was stored, or that another upcaster gives. */
export type EventUpcasters = Readonly<Record<string, Upcaster>>;

/** Applies upcasters one after the other, until none is left for the type, or one keeps the type. */
export class Upcasters {
  readonly #upcasters: ReadonlyMap<string, Upcaster>;

  constructor(upcasters: EventUpcasters | undefined) {
    this.#upcasters = new Map(Object.entries(upcasters ?? {}));
    for (const [type, upcaster] of this.#upcasters) {
      if (typeof upcaster !== "function") throw invalidOption(`upcasters["${type}"]`, upcaster, "a function");
    }
  }

  get isEmpty(): boolean {
    return this.#upcasters.size === 0;
  }

  has(type: string): boolean {
    return this.#upcasters.has(type);
  }

  /** What an upcaster throws is thrown on. INVALID_OPTION when they go in a circle, or give what isn't an event. */
  apply(stored: RecordedEvent): EventShape {
    let event = stored;
    const types = [stored.type];
    for (;;) {
      const upcaster = this.#upcasters.get(event.type);
      if (upcaster === undefined) return event;
      const made = upcaster(event);
      if (typeof made !== "object" || made === null || typeof made.type !== "string") {
        throw invalidOption(`upcasters["${event.type}"]`, made, "a function that returns { type, data }");
      }
      const isLast = made.type === event.type;
      event = changed(event, made);
      if (isLast) return event;
      if (types.includes(made.type)) throw circle([...types, made.type]);
      types.push(made.type);
    }
  }
}

function changed(event: RecordedEvent, { type, data, metadata = event.metadata }: EventShape): RecordedEvent {
  return { ...event, type, data, metadata };
}

function circle(types: readonly string[]): EhdbError {
  const way = types.join(" -> ");
  return new EhdbError("INVALID_OPTION", `upcasters go in a circle: ${way}. Leave one of them out`, { types: way });
}
