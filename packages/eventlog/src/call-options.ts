import type {
  AppendOptions,
  Consumer,
  EventFilter,
  Expectation,
  LogCheckpoint,
  ReadStreamOptions,
  ReclaimOptions,
  ScanEventsOptions,
  SubscribeOptions,
} from "@ehdb/contracts";
import { EhdbError, invalidOption, isAbortSignal, refuseUnknown } from "@ehdb/contracts";
import { predicateOf } from "./filter.ts";
import type { EventPredicate } from "./filter.ts";
import { isName, isText, isWhole } from "./names.ts";

export type TailOptions = NonNullable<Parameters<Consumer["tail"]>[0]>;

/** The options of a call, each checked, with its standard value where it wasn't given. */
export interface AppendRequest {
  readonly expect: Expectation;
  readonly signal: AbortSignal | undefined;
}

export interface ReadStreamRequest {
  readonly isForwards: boolean;
  readonly from: number | undefined;
  /** Infinity: all. */
  readonly limit: number;
  readonly signal: AbortSignal | undefined;
}

export interface ScanRequest {
  readonly isForwards: boolean;
  readonly after: LogCheckpoint | number | undefined;
  readonly before: number | undefined;
  readonly limit: number;
  readonly filter: EventFilter;
  readonly wants: EventPredicate | undefined;
  readonly signal: AbortSignal | undefined;
}

export interface TailRequest {
  readonly filter: EventFilter;
  readonly wants: EventPredicate | undefined;
  readonly signal: AbortSignal | undefined;
  readonly onCaughtUp: (checkpoint: LogCheckpoint) => void;
}

export interface SubscribeRequest extends TailRequest {
  readonly after: LogCheckpoint | number | "end" | undefined;
}

/** An append in somebody else's batch waits for nothing. */
export type StageOptions = Pick<AppendOptions, "expect">;

export function appendRequest(options: AppendOptions = {}): AppendRequest {
  refuseUnknown(options, ["expect", "signal"] satisfies (keyof AppendOptions)[], "");
  return { expect: expectOf(options), signal: signalOf(options) };
}

export function stageRequest(options: StageOptions = {}): Pick<AppendRequest, "expect"> {
  refuseUnknown(options, ["expect"] satisfies (keyof StageOptions)[], "");
  return { expect: expectOf(options) };
}

export function readStreamRequest(options: ReadStreamOptions = {}): ReadStreamRequest {
  refuseUnknown(options, ["direction", "from", "limit", "signal"] satisfies (keyof ReadStreamOptions)[], "");
  const { from } = options;
  if (from !== undefined && !isWhole(from, 1)) throw invalidOption("from", from, "a version, from 1");
  return { isForwards: isForwards(options), from, limit: limitOf(options), signal: signalOf(options) };
}

const filterOptions = ["types", "stream", "streamPrefix"] as const satisfies (keyof EventFilter)[];

export function scanRequest(options: ScanEventsOptions = {}): ScanRequest {
  const known = [...filterOptions, "direction", "after", "before", "limit", "signal"] as const;
  refuseUnknown(options, known satisfies readonly (keyof ScanEventsOptions)[], "");
  const { after, before } = options;
  const forwards = isForwards(options);
  if (forwards && before !== undefined) throw invalidOption("before", before, "left out forwards: give after");
  if (!forwards && after !== undefined) throw invalidOption("after", after, "left out backwards: give before");
  if (after !== undefined && !isPlace(after)) throw invalidOption("after", after, wantedPlace);
  if (before !== undefined && !isWhole(before, 1)) throw invalidOption("before", before, "a position, from 1");
  return {
    isForwards: forwards,
    after: keptPlace(after),
    before,
    limit: limitOf(options),
    signal: signalOf(options),
    ...filtering(options),
  };
}

export function subscribeRequest(options: SubscribeOptions = {}): SubscribeRequest {
  const known = [...filterOptions, "after", "signal", "onCaughtUp"] as const;
  refuseUnknown(options, known satisfies readonly (keyof SubscribeOptions)[], "");
  const { after } = options;
  if (after !== undefined && after !== "end" && !isPlace(after)) {
    throw invalidOption("after", after, `"end", or ${wantedPlace}`);
  }
  return { after: after === "end" ? after : keptPlace(after), ...tailing(options) };
}

export function tailRequest(options: TailOptions = {}): TailRequest {
  const known = [...filterOptions, "signal", "onCaughtUp"] as const;
  refuseUnknown(options, known satisfies readonly (keyof TailOptions)[], "");
  return tailing(options);
}

/** What keeps an event, by any of them; `undefined`: nothing is said. */
export interface ReclaimRequest {
  readonly acknowledged: boolean;
  readonly maxAgeSeconds: number | undefined;
  readonly maxEvents: number | undefined;
}

export function reclaimRequest(options: ReclaimOptions): ReclaimRequest {
  refuseUnknown(options, ["acknowledged", "maxAgeSeconds", "maxEvents"] satisfies (keyof ReclaimOptions)[], "");
  const { acknowledged = false, maxAgeSeconds, maxEvents } = options;
  if (typeof acknowledged !== "boolean") throw invalidOption("acknowledged", acknowledged, "true or false");
  if (maxAgeSeconds !== undefined && !(Number.isFinite(maxAgeSeconds) && maxAgeSeconds >= 0)) {
    throw invalidOption("maxAgeSeconds", maxAgeSeconds, "a number from 0");
  }
  if (maxEvents !== undefined && !isWhole(maxEvents, 0)) throw invalidOption("maxEvents", maxEvents, "a whole number");
  if (!acknowledged && maxAgeSeconds === undefined && maxEvents === undefined) {
    const message = "reclaim needs to know what is kept: give acknowledged: true, maxAgeSeconds or maxEvents";
    throw new EhdbError("INVALID_ARGUMENT", message);
  }
  return { acknowledged, maxAgeSeconds, maxEvents };
}

const wantedPlace = "a position from 0, or a checkpoint { position, epoch }";

function isPlace(after: unknown): after is LogCheckpoint | number {
  if (typeof after !== "object" || after === null) return isWhole(after, 0);
  const { position, epoch } = after as Partial<LogCheckpoint>;
  return isWhole(position, 0) && isWhole(epoch, 0);
}

/** A copy: the caller may go on using the object. */
function keptPlace(after: LogCheckpoint | number | undefined): LogCheckpoint | number | undefined {
  return typeof after === "object" ? { position: after.position, epoch: after.epoch } : after;
}

function tailing(options: TailOptions): TailRequest {
  const { onCaughtUp = nothing } = options;
  if (typeof onCaughtUp !== "function") throw invalidOption("onCaughtUp", onCaughtUp, "a function");
  return { signal: signalOf(options), onCaughtUp, ...filtering(options) };
}

function filtering({ types, stream, streamPrefix }: EventFilter): {
  filter: EventFilter;
  wants: EventPredicate | undefined;
} {
  // A copy: the caller may go on using the array.
  const wanted: readonly string[] = Array.isArray(types) ? Array.from(types as readonly string[]) : [];
  if (types !== undefined && !(wanted.length > 0 && wanted.every(isName))) {
    throw invalidOption("types", types, "an array of one or more types");
  }
  if (stream !== undefined && !isName(stream)) throw invalidOption("stream", stream, "the name of a stream");
  if (streamPrefix !== undefined && !isText(streamPrefix)) {
    throw invalidOption("streamPrefix", streamPrefix, "the beginning of streams' names");
  }
  const filter: EventFilter = {
    ...(types === undefined ? {} : { types: wanted }),
    ...(stream === undefined ? {} : { stream }),
    ...(streamPrefix === undefined ? {} : { streamPrefix }),
  };
  return { filter, wants: predicateOf(filter) };
}

function expectOf({ expect = "any" }: StageOptions): Expectation {
  if (expect === "any" || expect === "none" || expect === "exists" || isWhole(expect, 0)) return expect;
  throw invalidOption("expect", expect, `"any", "none", "exists" or a version`);
}

function isForwards({ direction = "forwards" }: { readonly direction?: unknown }): boolean {
  if (direction === "forwards" || direction === "backwards") return direction === "forwards";
  throw invalidOption("direction", direction, `"forwards" or "backwards"`);
}

function limitOf({ limit }: { readonly limit?: number }): number {
  if (limit === undefined) return Infinity;
  if (!isWhole(limit, 0)) throw invalidOption("limit", limit, "a whole number, from 0");
  return limit;
}

function signalOf({ signal }: { readonly signal?: AbortSignal }): AbortSignal | undefined {
  if (signal === undefined) return undefined;
  if (isAbortSignal(signal)) return signal;
  throw invalidOption("signal", signal, "an AbortSignal");
}

function nothing(): void {}
