import {
  EhdbError,
  invalidArgument,
  invalidOption,
  isAbortSignal,
  MAX_NAME_BYTES,
  refuseUnknown,
} from "@ehdb/contracts";
import type { Feed, FeedMessage, FeedSource, FeedStart, FetchOptions, GroupOptions } from "@ehdb/contracts";
import { checkPatterns } from "./subjects.ts";

/** What a group is like, each option with its value. */
export type GroupSettings = Required<Omit<GroupOptions, "start" | "subjects">> & Pick<GroupOptions, "subjects">;

export interface FetchRequest {
  readonly member: string;
  readonly limit: number;
  readonly leaseMillis: number | undefined;
  readonly waitMillis: number;
  readonly signal: AbortSignal | undefined;
}

const standard: GroupSettings = {
  leaseSeconds: 30,
  maxDeliver: 5,
  maxInFlight: 100_000,
  order: "none",
};

const leastLeaseSeconds = 0.001;
const mostSeconds = 86_400;
const mostFetched = 65_536;
const mostDeliver = 1_000;
const mostInFlight = 1_000_000;
/** Messages of a fetch, and of a page of the parking lot, unless more are asked for. */
const usualLimit = 2_000;

const groupOptions = ["leaseSeconds", "maxDeliver", "maxInFlight", "order", "subjects"] as const;

/** INVALID_OPTION. */
export function groupSettings(options: GroupOptions = {}): {
  readonly settings: GroupSettings;
  readonly start: FeedStart;
} {
  refuseUnknown(options, [...groupOptions, "start"] satisfies (keyof GroupOptions)[], "");
  const { start = "first", ...given } = options;
  return { settings: changed(standard, given), start: startOf("start", start) };
}

export function updatedSettings(settings: GroupSettings, options: Omit<GroupOptions, "start">): GroupSettings {
  refuseUnknown(options, groupOptions, "");
  return changed(settings, options);
}

/** INVALID_OPTION names `option`. */
export function startOf(option: string, start: FeedStart): FeedStart {
  const wanted = '"first", "end", { sequence, clamp } or { time }';
  if (start === "first" || start === "end") return start;
  if (typeof start !== "object" || start === null) throw invalidOption(option, start, wanted);
  if ("time" in start) {
    refuseUnknown(start, ["time"], `${option}.`);
    if (Number.isFinite(start.time)) return { time: start.time };
    throw invalidOption(`${option}.time`, start.time, "milliseconds since 1970");
  }
  refuseUnknown(start, ["sequence", "clamp"], `${option}.`);
  const { sequence, clamp = false } = start;
  if (!isWhole(sequence, 1)) throw invalidOption(`${option}.sequence`, sequence, "a sequence, from 1");
  if (typeof clamp !== "boolean") throw invalidOption(`${option}.clamp`, clamp, "true or false");
  return { sequence, clamp };
}

export function fetchRequest(options: FetchOptions): FetchRequest {
  const known = ["member", "limit", "leaseSeconds", "waitSeconds", "signal"] satisfies (keyof FetchOptions)[];
  refuseUnknown(options, known, "");
  const { member, limit = usualLimit, leaseSeconds, waitSeconds = 0, signal } = options;
  if (!isName(member)) throw invalidOption("member", member, wantedName);
  if (!isWhole(limit, 1, mostFetched)) throw invalidOption("limit", limit, `a whole number from 1 to ${mostFetched}`);
  if (leaseSeconds !== undefined) checkLease("leaseSeconds", leaseSeconds);
  if (!isSeconds(waitSeconds, 0)) throw invalidOption("waitSeconds", waitSeconds, `a number from 0 to ${mostSeconds}`);
  if (signal !== undefined && !isAbortSignal(signal)) throw invalidOption("signal", signal, "an AbortSignal");
  const leaseMillis = leaseSeconds === undefined ? undefined : leaseSeconds * 1000;
  return { member, limit, leaseMillis, waitMillis: waitSeconds * 1000, signal };
}

export function nackRequest(options: Parameters<FeedMessage<unknown>["nack"]>[0] = {}): {
  readonly delayMillis: number;
  readonly reason: string | undefined;
} {
  refuseUnknown(options, ["delaySeconds", "reason"], "");
  const { delaySeconds = 0, reason } = options;
  if (!isSeconds(delaySeconds, 0))
    throw invalidOption("delaySeconds", delaySeconds, `a number from 0 to ${mostSeconds}`);
  if (reason !== undefined && !isReason(reason)) throw invalidOption("reason", reason, wantedReason);
  return { delayMillis: delaySeconds * 1000, reason };
}

/** Milliseconds. INVALID_ARGUMENT. */
export function extension(settings: GroupSettings, seconds: number = settings.leaseSeconds): number {
  if (isSeconds(seconds, leastLeaseSeconds)) return seconds * 1000;
  throw invalidArgument("leaseSeconds", seconds, `a number from ${leastLeaseSeconds} to ${mostSeconds}`);
}

export function checkReason(reason: unknown): string {
  if (isReason(reason)) return reason;
  throw invalidArgument("reason", reason, wantedReason);
}

/** INVALID_ARGUMENT names what it's the name of. */
export function checkName(argument: string, name: unknown): string {
  if (isName(name)) return name;
  throw invalidArgument(argument, name, wantedName);
}

export function parkedRequest(options: { readonly after?: number; readonly limit?: number } = {}): {
  readonly after: number;
  readonly limit: number;
} {
  refuseUnknown(options, ["after", "limit"], "");
  const { after = 0, limit = usualLimit } = options;
  if (!isWhole(after, 0)) throw invalidOption("after", after, "a sequence, from 0");
  if (!isWhole(limit, 1)) throw invalidOption("limit", limit, "a whole number, from 1");
  return { after, limit };
}

/** `undefined`: all. */
export function checkSequences(sequences: readonly number[] | undefined): readonly number[] | undefined {
  if (sequences === undefined) return undefined;
  if (!Array.isArray(sequences)) throw invalidArgument("sequences", sequences, "an array of sequences");
  const wanted = new Set<number>();
  for (const sequence of sequences as readonly unknown[]) {
    if (!isWhole(sequence, 1)) throw invalidArgument("sequences", sequence, "an array of sequences, from 1");
    wanted.add(sequence);
  }
  return [...wanted];
}

export function isDropping(options: Parameters<Feed<unknown>["deleteGroup"]>[1] = {}): boolean {
  refuseUnknown(options, ["pending"], "");
  const { pending = "refuse" } = options;
  if (pending === "refuse" || pending === "drop") return pending === "drop";
  throw invalidOption("pending", pending, '"refuse" or "drop"');
}

export interface ReadRequest {
  readonly after: number | undefined;
  readonly subjects: readonly string[] | undefined;
  readonly limit: number;
  readonly signal: AbortSignal | undefined;
}

export function readRequest(options: Parameters<Feed<unknown>["read"]>[0] = {}): ReadRequest {
  refuseUnknown(options, ["after", "subjects", "limit", "signal"], "");
  const { after, subjects, limit, signal } = options;
  if (after !== undefined && !isWhole(after, 0)) throw invalidOption("after", after, "a sequence, from 0");
  if (limit !== undefined && !isWhole(limit, 0)) throw invalidOption("limit", limit, "a whole number, from 0");
  if (signal !== undefined && !isAbortSignal(signal)) throw invalidOption("signal", signal, "an AbortSignal");
  return { after, subjects: checkPatterns(subjects), limit: limit ?? Infinity, signal };
}

function changed(settings: GroupSettings, given: Omit<GroupOptions, "start">): GroupSettings {
  const { leaseSeconds, maxDeliver, maxInFlight, order } = { ...settings, ...defined(given) };
  checkLease("leaseSeconds", leaseSeconds);
  if (maxDeliver !== Infinity && !isWhole(maxDeliver, 1, mostDeliver))
    throw invalidOption("maxDeliver", maxDeliver, `a whole number from 1 to ${mostDeliver}, or Infinity`);
  if (!isWhole(maxInFlight, 1, mostInFlight))
    throw invalidOption("maxInFlight", maxInFlight, `a whole number from 1 to ${mostInFlight}`);
  if (order !== "none" && order !== "key") throw invalidOption("order", order, '"none" or "key"');
  const subjects = given.subjects === undefined ? settings.subjects : checkPatterns(given.subjects);
  return { leaseSeconds, maxDeliver, maxInFlight, order, ...(subjects === undefined ? {} : { subjects }) };
}

function defined<T extends object>(given: T): Partial<T> {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Partial<T>;
}

const wantedName = `1 to ${MAX_NAME_BYTES} bytes of well-formed Unicode`;
const wantedReason = `a text of at most ${MAX_NAME_BYTES} bytes`;

function checkLease(option: string, seconds: number): void {
  if (!isSeconds(seconds, leastLeaseSeconds))
    throw invalidOption(option, seconds, `a number from ${leastLeaseSeconds} to ${mostSeconds}`);
}

const isSeconds = (value: unknown, least: number): value is number =>
  typeof value === "number" && value >= least && value <= mostSeconds;

const isWhole = (value: unknown, least: number, most = Number.MAX_SAFE_INTEGER): value is number =>
  Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most;

const isText = (value: unknown): value is string =>
  typeof value === "string" && Buffer.byteLength(value) <= MAX_NAME_BYTES && !/\p{Surrogate}/u.test(value);

const isName = (value: unknown): value is string => isText(value) && value !== "";

const isReason = isText;

/** INVALID_OPTION. */
export function checkSource<R>(source: FeedSource<R>): void {
  if (typeof (Object(source) as Partial<FeedSource<R>>).assertContinues !== "function")
    throw invalidOption("source", source, "a FeedSource, as from eventLogSource() or logSource()");
}

/** A group, or a group of before, that there isn't any more. */
export function noGroup(name: string): EhdbError {
  const message = `there is no group ${JSON.stringify(name)}: make it with createGroup()`;
  return new EhdbError("NOT_FOUND", message, { group: name });
}
