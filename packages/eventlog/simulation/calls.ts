import type { AppendResult, Expectation, NewEvent, ReclaimOptions, StreamInfo } from "@ehdb/contracts";
import type { Random } from "./random.ts";
import type { Scale } from "./settings.ts";

/** What the caller was told. `nothing`: the machine stopped before, or the outcome is unknown. */
export type Answer =
  | { readonly says: "nothing" }
  | { readonly says: "appended"; readonly result: AppendResult }
  | { readonly says: "info"; readonly info: StreamInfo }
  | { readonly says: "reclaimed"; readonly firstPosition: number }
  | { readonly says: "no"; readonly code: string; readonly data: Readonly<Record<string, unknown>> }
  /** By the state of the machine, not by what is stored: nothing was written. */
  | { readonly says: "refused"; readonly code: string };

interface Asked {
  /** Its place in the order of calls. */
  readonly number: number;
  answer: Answer;
}

export interface AppendCall extends Asked {
  readonly kind: "append";
  readonly stream: string;
  readonly events: readonly NewEvent[];
  readonly expect: Expectation;
  readonly mayAbort: boolean;
  /** In one commit with something else. */
  readonly isStaged: boolean;
  /** What it is told is durable when it's told. */
  isFirm: boolean;
}

export interface TruncateCall extends Asked {
  readonly kind: "truncate";
  readonly stream: string;
  readonly before: number;
}

export interface DeleteCall extends Asked {
  readonly kind: "delete";
  readonly stream: string;
  readonly expect: Expectation;
}

export interface ReclaimCall extends Asked {
  readonly kind: "reclaim";
  readonly options: ReclaimOptions;
  /** The clock when it was asked, and when it was answered; a clock that was set meanwhile says nothing. */
  clock: { readonly from: number; readonly to: number } | undefined;
  /** The least that a consumer had acknowledged then. */
  acknowledged: number;
}

/** One call that changes the log, as it was made. */
export type Call = AppendCall | TruncateCall | DeleteCall | ReclaimCall;

export const types: readonly string[] = ["placed", "paid", "sent", "späte Lieferung"];
const hotStreams = ["order-1", "order-10", "person-é", "a\u{10000}"];
/** That only staged appends write to. */
const sharedStreams = ["shared-1", "shared-2", "shared-3"];
const coldStreams = 40;
const mostRemembered = 30;
const nothing: Answer = { says: "nothing" };

/** Draws calls: few streams that many want, many that few want, ids that come again. */
export class Calls {
  readonly #random: Random;
  readonly #scale: Scale;
  /** Appends that may be repeated. */
  readonly #repeatable: AppendCall[] = [];
  /** About what is there, as far as a caller may know: mostly right. */
  readonly #heads: Map<string, number> = new Map();
  #lastStaged: AppendCall | undefined;
  #next = 1;

  constructor(random: Random, scale: Scale) {
    this.#random = random;
    this.#scale = scale;
  }

  stream(): string {
    const random = this.#random;
    if (random.chance(0.65)) return random.pick(hotStreams);
    return `cold-${random.integer(coldStreams)}`;
  }

  append(): AppendCall {
    const random = this.#random;
    const number = this.#next++;
    const stream = this.stream();
    const hasIds = random.chance(0.5);
    const count = random.chance(0.6) ? 1 : random.between(2, 5);
    const events = Array.from({ length: count }, (_, place) =>
      this.#event(number, place, hasIds && random.chance(0.97)),
    );
    return this.#remembered(number, stream, events, this.#expectation(stream));
  }

  /** Now and then the one before, when that was of one event: ids of several are known together only. */
  staged(): AppendCall {
    const random = this.#random;
    const number = this.#next++;
    const before = this.#lastStaged;
    const isRepeat = before?.events.length === 1 && random.chance(0.2);
    const stream = isRepeat ? before.stream : random.pick(sharedStreams);
    const head = this.#heads.get(stream) ?? 0;
    const count = random.chance(0.6) ? 1 : random.between(2, 5);
    const hasIds = random.chance(0.5);
    const call: AppendCall = {
      kind: "append",
      number,
      stream,
      events: isRepeat
        ? before.events
        : Array.from({ length: count }, (_, place) => this.#event(number, place, hasIds)),
      expect: isRepeat ? "any" : random.pick<Expectation>(["any", "any", head, head, head + 1]),
      mayAbort: false,
      isStaged: true,
      isFirm: false,
      answer: nothing,
    };
    if (!isRepeat) this.#lastStaged = call;
    return call;
  }

  /** One of before, word for word or changed; undefined when there is none yet. */
  repeat(): AppendCall | undefined {
    const random = this.#random;
    if (this.#repeatable.length === 0) return undefined;
    const { stream, events, expect } = random.chance(0.4)
      ? (this.#repeatable.at(-1) as AppendCall)
      : random.pick(this.#repeatable);
    const number = this.#next++;
    const way = random.integer(12);
    const again = random.chance(0.7) ? expect : this.#expectation(stream);
    if (way < 7) return this.#remembered(number, stream, events, again);
    if (way < 8) return this.#remembered(number, this.stream(), events, again);
    if (way < 9) return this.#remembered(number, stream, [...events, this.#event(number, 9, true)], again);
    if (way < 10 && events.length > 1) return this.#remembered(number, stream, events.slice(1), again);
    if (way < 11 && events.length > 1) return this.#remembered(number, stream, events.slice(0, -1), again);
    const changed = events.map((event, place) => ({ ...this.#event(number, place, false), ...idOf(event) }));
    return this.#remembered(number, stream, changed, again);
  }

  hide(): TruncateCall | DeleteCall {
    const random = this.#random;
    const number = this.#next++;
    const stream = this.stream();
    if (random.chance(0.5)) {
      const expect = random.chance(0.5) ? "any" : this.#expectation(stream);
      return { kind: "delete", number, stream, expect, answer: nothing };
    }
    const head = this.#heads.get(stream) ?? 0;
    const before = random.pick([1, 1 + random.integer(head + 1), head, head + 1, head + 1 + random.integer(3)]);
    return { kind: "truncate", number, stream, before: Math.max(before, 1), answer: nothing };
  }

  reclaim(last: number): ReclaimCall {
    const random = this.#random;
    const options: ReclaimOptions = {
      ...(random.chance(0.5) ? { maxEvents: random.between(0, last + 2) } : {}),
      ...(random.chance(0.4) ? { acknowledged: true } : {}),
      ...(random.chance(0.2) ? { maxAgeSeconds: random.pick([0, 0.05, 1, 30]) } : {}),
    };
    const asked = Object.keys(options).length > 0 ? options : { maxEvents: random.between(5, 40) };
    const clock = { from: -Infinity, to: Infinity };
    return { kind: "reclaim", number: this.#next++, options: asked, clock, acknowledged: 0, answer: nothing };
  }

  /** What the callers learned by an answer. */
  learn({ kind, answer, ...call }: Call): void {
    if (kind === "reclaim" || !("stream" in call)) return;
    if (answer.says === "no" && answer.code === "CONFLICT") this.#heads.set(call.stream, Number(answer.data["actual"]));
    if (answer.says === "appended" && !answer.result.isDuplicate) this.#heads.set(call.stream, answer.result.version);
    if (answer.says === "info") this.#heads.set(call.stream, answer.info.version);
  }

  #remembered(number: number, stream: string, events: readonly NewEvent[], expect: Expectation): AppendCall {
    const mayAbort = this.#random.chance(0.04);
    const call: AppendCall = {
      kind: "append",
      number,
      stream,
      events,
      expect,
      mayAbort,
      isStaged: false,
      isFirm: false,
      answer: nothing,
    };
    if (events.some(({ id }) => id !== undefined)) {
      if (this.#repeatable.length < mostRemembered) this.#repeatable.push(call);
      else this.#repeatable[this.#random.integer(mostRemembered)] = call;
    }
    return call;
  }

  /** One that no other call appends: its number stands in it. */
  #event(number: number, place: number, hasId: boolean): NewEvent {
    const random = this.#random;
    const stamp = { call: number, place };
    const filler = "x".repeat(this.#bytes());
    const content = random.pick([
      { data: { ...stamp, filler } },
      { data: { ...stamp, filler }, metadata: { cause: number } },
      { data: Buffer.from(`${number} ${place} ${filler}`), metadata: stamp },
      { metadata: stamp },
    ]);
    return { type: random.pick(types), ...content, ...(hasId ? { id: `${number}.${place}` } : {}) };
  }

  #expectation(stream: string): Expectation {
    const random = this.#random;
    const head = this.#heads.get(stream) ?? 0;
    const choices: Expectation[] = ["any", "any", "any", "none", "exists", head, head, head, head + 1];
    return random.pick(choices);
  }

  #bytes(): number {
    const random = this.#random;
    if (this.#scale === "large" && random.chance(0.06)) return random.between(10_000, 50_000);
    const most = this.#scale === "small" ? 60 : 4_000;
    return random.chance(0.8) ? random.integer(most >> 3) : random.integer(most);
  }
}

function idOf({ id }: NewEvent): { id?: string } {
  return id === undefined ? {} : { id };
}

/** A call in a few words. */
export function told(call: Call): string {
  if (call.kind === "reclaim") return `reclaim ${JSON.stringify(call.options)}`;
  if (call.kind === "truncate") return `truncate ${call.stream} before ${call.before}`;
  return `${call.kind} ${call.stream}, ${call.expect}`;
}
