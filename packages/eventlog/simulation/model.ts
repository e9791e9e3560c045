import type { AppendResult, Expectation, NewEvent, StreamInfo } from "@ehdb/contracts";
import { putOf } from "./beside.ts";
import type { AppendCall, DeleteCall, ReclaimCall, TruncateCall } from "./calls.ts";
import { contentOf } from "./events.ts";

/** An event, as it must be read as long as nothing hides it. */
export interface ModelEvent {
  readonly stream: string;
  readonly version: number;
  readonly position: number;
  readonly time: number;
  /** Undefined until it's first seen, when the log made it. */
  id: string | undefined;
  readonly isIdGiven: boolean;
  readonly type: string;
  readonly content: string;
  readonly result: AppendResult;
}

interface ModelStream {
  /** All that were ever appended: version 1 is at index 0. */
  readonly events: ModelEvent[];
  /** Versions below are hidden. */
  firstVersion: number;
  /** Deleted as long as that is its version. */
  deletedAt: number;
}

type Entry =
  | (Pick<AppendCall, "kind" | "number" | "stream" | "events" | "isStaged"> & { readonly time: number })
  | { readonly kind: "hide"; readonly stream: string; readonly firstVersion: number; readonly deletedAt: number }
  | { readonly kind: "reclaim"; readonly firstPosition: number };

/** What must become of a call. */
export type Verdict =
  | { readonly says: "append" }
  | { readonly says: "duplicate"; readonly result: AppendResult }
  | { readonly says: "hide"; readonly stream: string; readonly firstVersion: number; readonly deletedAt: number }
  | { readonly says: "no"; readonly code: string; readonly data: Readonly<Record<string, unknown>> };

/** What a log holds, said as plainly as can be: every event in order, and what of it is hidden. */
export class Model {
  readonly events: ModelEvent[] = [];
  /** The first version that each stream shows, for those that hide any. Replaced when it changes. */
  firstVersions: ReadonlyMap<string, number> = new Map();
  firstPosition = 1;
  /** What staged appends have put beside the log. */
  readonly beside: Map<string, string> = new Map();
  readonly #streams: Map<string, ModelStream> = new Map();
  readonly #entries: Entry[] = [];
  readonly #window: number;

  constructor(dedupeWindow: number) {
    this.#window = dedupeWindow;
  }

  get position(): number {
    return this.events.length;
  }

  get time(): number {
    return this.events.at(-1)?.time ?? 0;
  }

  get streams(): string[] {
    return [...this.#streams.keys()];
  }

  /** The same up to a position; undefined when something was hidden later, which can't be taken back. */
  upTo(position: number): Model | undefined {
    const model = new Model(this.#window);
    let isCut = false;
    for (const entry of this.#entries) {
      isCut ||= entry.kind === "append" && model.position + entry.events.length > position;
      if (!isCut) model.apply(entry);
      else if (entry.kind !== "append") return undefined;
    }
    for (const event of model.events) event.id = this.events[event.position - 1]?.id;
    return model;
  }

  judge(call: AppendCall | TruncateCall | DeleteCall): Verdict {
    if (call.kind === "append") return this.#judgeAppend(call);
    const { events, firstVersion, deletedAt } = this.#stream(call.stream);
    const { stream } = call;
    const version = events.length;
    if (call.kind === "truncate") {
      const { before: beforeVersion } = call;
      if (beforeVersion > version + 1)
        return { says: "no", code: "OUT_OF_RANGE", data: { stream, beforeVersion, version } };
      return { says: "hide", stream, firstVersion: Math.max(beforeVersion, firstVersion), deletedAt };
    }
    if (!this.#holds(stream, call.expect)) return this.#conflict(stream, call.expect);
    return { says: "hide", stream, firstVersion: version + 1, deletedAt: version };
  }

  /** The least that a reclaim may give, and the most: what is hidden may be erased, and then it's passed over, and its time isn't known. */
  keptAtLeast(call: ReclaimCall, now: number, leastAcknowledged: number): number {
    const last = this.events.findLast((event) => !this.isHidden(event));
    return this.#kept(call, Math.max(now, last?.time ?? 0), leastAcknowledged);
  }

  keptAtMost(call: ReclaimCall, now: number, leastAcknowledged: number): number {
    const kept = this.#kept(call, Math.max(now, this.time), leastAcknowledged);
    const shown = this.events.find((event) => event.position >= kept && !this.isHidden(event));
    return shown?.position ?? this.position + 1;
  }

  #kept(
    { options: { maxEvents, maxAgeSeconds, acknowledged } }: ReclaimCall,
    now: number,
    leastAcknowledged: number,
  ): number {
    const kept = [this.position + 1];
    if (acknowledged === true) kept.push(leastAcknowledged + 1);
    if (maxEvents !== undefined) kept.push(this.position - maxEvents + 1);
    if (maxAgeSeconds !== undefined) {
      const oldest = now - maxAgeSeconds * 1000;
      kept.push(this.events.find(({ time }) => time >= oldest)?.position ?? this.position + 1);
    }
    return Math.max(this.firstPosition, Math.min(...kept));
  }

  apply(entry: Entry): AppendResult | undefined {
    this.#entries.push(entry);
    if (entry.kind === "append") {
      const { key, text } = putOf(entry);
      if (entry.isStaged) this.beside.set(key, text);
      return this.#append(entry);
    }
    if (entry.kind === "reclaim") this.firstPosition = entry.firstPosition;
    else {
      const stream = this.#stream(entry.stream);
      stream.firstVersion = entry.firstVersion;
      stream.deletedAt = entry.deletedAt;
      this.firstVersions = new Map(this.firstVersions).set(entry.stream, entry.firstVersion);
    }
    return undefined;
  }

  /** All events of a stream that were ever appended. */
  eventsOf(stream: string): readonly ModelEvent[] {
    return this.#streams.get(stream)?.events ?? [];
  }

  isHidden({ stream, version, position }: ModelEvent): boolean {
    return position < this.firstPosition || version < this.#stream(stream).firstVersion;
  }

  info(stream: string): StreamInfo {
    const { events, deletedAt } = this.#stream(stream);
    const first = events.find((event) => !this.isHidden(event));
    const version = events.length;
    return {
      stream,
      version,
      firstVersion: first?.version ?? version + 1,
      isDeleted: version > 0 && deletedAt === version,
    };
  }

  /** Whether applying this hides anything that isn't hidden, or deletes what isn't deleted. */
  changes({ stream, firstVersion, deletedAt }: Extract<Verdict, { says: "hide" }>): boolean {
    const now = this.#stream(stream);
    return firstVersion > now.firstVersion || deletedAt > now.deletedAt;
  }

  #judgeAppend({ stream, events, expect }: AppendCall): Verdict {
    const known = this.#knownInWindow(stream, events);
    if (known !== undefined) {
      if (this.#isRepeat(known, stream, events) && this.#canBeLookedUp(known, stream)) return duplicate(known.result);
      return { says: "no", code: "ID_REUSED", data: { stream } };
    }
    if (this.#holds(stream, expect)) return { says: "append" };
    const first = this.#firstInPlace(stream, expect);
    if (first !== undefined && !this.isHidden(first) && this.#isRepeat(first, stream, events)) {
      if (first.version === first.result.firstVersion) return duplicate(first.result);
    }
    return this.#conflict(stream, expect);
  }

  /** The newest event of the stream with one of these ids, when it's one of the newest of the log. */
  #knownInWindow(stream: string, events: readonly NewEvent[]): ModelEvent | undefined {
    const since = this.position - this.#window;
    const ids = events.flatMap(({ id }) => id ?? []);
    const isKnown = ({ position, isIdGiven, id }: ModelEvent): boolean =>
      position > since && isIdGiven && id !== undefined && ids.includes(id);
    return ids.length === 0 ? undefined : this.eventsOf(stream).findLast(isKnown);
  }

  /** Of an append that reaches out of the window there is only what can be read. */
  #canBeLookedUp({ result: { firstVersion } }: ModelEvent, stream: string): boolean {
    const first = this.eventsOf(stream)[firstVersion - 1] as ModelEvent;
    return first.position > this.position - this.#window || !this.isHidden(first);
  }

  #firstInPlace(stream: string, expect: Expectation): ModelEvent | undefined {
    if (expect === "any" || expect === "exists") return undefined;
    return this.eventsOf(stream)[expect === "none" ? this.info(stream).firstVersion - 1 : expect];
  }

  /** Whether these are all the events of the append that wrote `one`, and no others. */
  #isRepeat({ result: { firstVersion, version } }: ModelEvent, stream: string, events: readonly NewEvent[]): boolean {
    if (events.length !== version - firstVersion + 1) return false;
    return events.every((event, place) => {
      const kept = this.eventsOf(stream)[firstVersion - 1 + place];
      return (
        event.id !== undefined && kept?.isIdGiven === true && kept.id === event.id && kept.content === contentOf(event)
      );
    });
  }

  #holds(stream: string, expect: Expectation): boolean {
    const { version, isDeleted } = this.info(stream);
    if (expect === "any") return true;
    if (expect === "none") return version === 0 || isDeleted;
    return expect === "exists" ? version > 0 && !isDeleted : version === expect;
  }

  #conflict(stream: string, expected: Expectation): Verdict {
    const { version: actual, isDeleted } = this.info(stream);
    return { says: "no", code: "CONFLICT", data: { stream, expected, actual, isDeleted } };
  }

  #append({ stream: name, events, time }: Extract<Entry, { kind: "append" }>): AppendResult {
    const stream = this.#stream(name);
    const firstVersion = stream.events.length + 1;
    const firstPosition = this.position + 1;
    const [version, position] = [firstVersion + events.length - 1, firstPosition + events.length - 1];
    const result: AppendResult = { firstVersion, version, firstPosition, position, time, isDuplicate: false };
    events.forEach((event, place) => {
      const at = { stream: name, version: firstVersion + place, position: firstPosition + place, time };
      const { id, type } = event;
      const kept = { ...at, id, isIdGiven: id !== undefined, type, content: contentOf(event), result };
      stream.events.push(kept);
      this.events.push(kept);
    });
    return result;
  }

  #stream(name: string): ModelStream {
    const known = this.#streams.get(name) ?? { events: [], firstVersion: 1, deletedAt: 0 };
    this.#streams.set(name, known);
    return known;
  }
}

function duplicate(result: AppendResult): Verdict {
  return { says: "duplicate", result: { ...result, isDuplicate: true } };
}
