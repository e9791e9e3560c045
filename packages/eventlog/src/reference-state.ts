import type { AppendResult, Expectation, StreamInfo } from "@ehdb/contracts";
import type { EncodedEvent } from "./encoding.ts";
import type { PlacedEvent } from "./imported-event.ts";
import type { Entry } from "./reference-entry.ts";

/** An event with its place. */
export interface KeptEvent extends EncodedEvent {
  readonly stream: string;
  readonly version: number;
  readonly position: number;
  readonly time: number;
  readonly epoch: number;
  /** The append that it belongs to. */
  readonly append: KeptAppend;
}

export interface KeptAppend {
  readonly result: AppendResult;
  readonly events: KeptEvent[];
}

interface KeptStream {
  /** Every event ever appended, in order of version. */
  readonly events: KeptEvent[];
  /** Versions below are hidden. */
  firstVersion: number;
  isDeleted: boolean;
}

/** What the entries made: plain lists of all there ever was, and what of it is hidden. Nothing is ever taken out of them. */
export class ReferenceState {
  /** In order of position. */
  readonly events: KeptEvent[] = [];
  readonly consumers: Map<string, number> = new Map();
  readonly #streams = new Map<string, KeptStream>();
  epoch = 0;
  firstPosition = 1;

  get position(): number {
    return this.events.at(-1)?.position ?? 0;
  }

  /** What the log's time must not fall below. */
  get lastTime(): number {
    return this.events.at(-1)?.time ?? 0;
  }

  /** Returns what an append got. */
  apply(entry: Entry): AppendResult | undefined {
    switch (entry.kind) {
      case "opened":
        this.epoch = entry.epoch;
        break;
      case "appended":
        return this.#append(entry.stream, entry.events, entry.time);
      case "imported":
        for (const placed of entry.events) this.#bring(placed);
        break;
      case "truncated":
        this.#stream(entry.stream).firstVersion = entry.beforeVersion;
        break;
      case "deleted": {
        const stream = this.#stream(entry.stream);
        stream.firstVersion = lastVersion(stream.events) + 1;
        stream.isDeleted = true;
        break;
      }
      case "acknowledged":
        this.consumers.set(entry.consumer, entry.position);
        break;
      case "forgotten":
        this.consumers.delete(entry.consumer);
        break;
      case "reclaimed":
        this.firstPosition = entry.firstPosition;
        break;
    }
    return undefined;
  }

  /** All events of a stream that were ever appended, hidden or not. */
  eventsOf(stream: string): readonly KeptEvent[] {
    return this.#streams.get(stream)?.events ?? [];
  }

  isReadable(event: KeptEvent): boolean {
    const { firstVersion } = this.#stream(event.stream);
    return event.version >= firstVersion && event.position >= this.firstPosition;
  }

  info(stream: string): StreamInfo {
    const events = this.eventsOf(stream);
    const firstReadable = events.find((event) => this.isReadable(event));
    return {
      stream,
      version: lastVersion(events),
      firstVersion: firstReadable?.version ?? lastVersion(events) + 1,
      isDeleted: this.#streams.get(stream)?.isDeleted ?? false,
    };
  }

  holds(stream: string, expect: Expectation): boolean {
    const { version, isDeleted } = this.info(stream);
    const exists = version > 0 && !isDeleted;
    if (expect === "any") return true;
    if (expect === "none") return !exists;
    if (expect === "exists") return exists;
    return version === expect;
  }

  /** What a truncation of this stream has hidden before; 1: nothing. */
  truncatedBefore(stream: string): number {
    return this.#streams.get(stream)?.firstVersion ?? 1;
  }

  #append(name: string, events: readonly EncodedEvent[], time: number): AppendResult {
    const stream = this.#stream(name);
    stream.isDeleted = false;
    const firstVersion = lastVersion(stream.events) + 1;
    const firstPosition = this.position + 1;
    const version = firstVersion + events.length - 1;
    const position = firstPosition + events.length - 1;
    const result = { firstVersion, version, firstPosition, position, time, isDuplicate: false };
    const append: KeptAppend = { result, events: [] };
    for (const [index, event] of events.entries()) {
      const place = { stream: name, version: firstVersion + index, position: firstPosition + index };
      append.events.push({ ...event, ...place, time, epoch: this.epoch, append });
    }
    for (const event of append.events) {
      stream.events.push(event);
      this.events.push(event);
    }
    return result;
  }

  /** Each is an append by itself. */
  #bring({ event, stream, version, position, time }: PlacedEvent): void {
    const place = { version, position, time };
    const result = { ...place, firstVersion: version, firstPosition: position, isDuplicate: false };
    const append: KeptAppend = { result, events: [] };
    const kept: KeptEvent = { ...event, ...place, stream, epoch: this.epoch, append };
    append.events.push(kept);
    this.#stream(stream).events.push(kept);
    this.events.push(kept);
  }

  #stream(name: string): KeptStream {
    const known = this.#streams.get(name);
    if (known !== undefined) return known;
    const stream: KeptStream = { events: [], firstVersion: 1, isDeleted: false };
    this.#streams.set(name, stream);
    return stream;
  }
}

function lastVersion(events: readonly KeptEvent[]): number {
  return events.at(-1)?.version ?? 0;
}
