import { invalidArgument, isAbortSignal, refuseUnknown } from "@ehdb/contracts";
import type { LogReadOptions, MapScanOptions } from "@ehdb/contracts";
import { compareUtf8 } from "./utf8-order.ts";

export const loneSurrogate: RegExp = /\p{Surrogate}/u;

export interface LogRange {
  readonly isBackwards: boolean;
  /** Of positions or versions, both included; empty when `from > to`. */
  readonly from: number;
  readonly to: number;
  readonly limit: number;
}

/** The range that a read means among `first` to `last`. INVALID_ARGUMENT. */
export function logRange(options: LogReadOptions, first: number, last: number): LogRange {
  const isBackwards = options.direction === "backwards";
  const { from } = options;
  return {
    isBackwards,
    from: isBackwards ? first : Math.max(first, from ?? first),
    to: isBackwards ? Math.min(last, from ?? last) : last,
    limit: options.limit ?? Infinity,
  };
}

export function checkLogOptions(options: LogReadOptions): void {
  refuseUnknown(options, ["direction", "from", "limit", "signal"] satisfies (keyof LogReadOptions)[], "");
  const { direction, from, limit, signal } = options;
  if (direction !== undefined && direction !== "forwards" && direction !== "backwards") {
    throw invalidArgument("direction", direction, '"forwards" or "backwards"');
  }
  if (from !== undefined) checkWhole("from", from, 0);
  if (limit !== undefined) checkWhole("limit", limit, 0);
  checkSignal(signal);
}

export interface KeyRange {
  readonly from: string;
  /** Not included; `undefined`: to the end. */
  readonly before: string | undefined;
  readonly limit: number;
  readonly signal: AbortSignal | undefined;
}

/** INVALID_ARGUMENT. */
export function keyRange(options: MapScanOptions): KeyRange {
  refuseUnknown(options, ["prefix", "from", "before", "limit", "signal"] satisfies (keyof MapScanOptions)[], "");
  const { prefix = "", from = "", before, limit, signal } = options;
  for (const [name, value] of Object.entries({ prefix, from, before })) {
    if (value !== undefined && (typeof value !== "string" || loneSurrogate.test(value))) {
      throw invalidArgument(name, value, "a string of well-formed Unicode");
    }
  }
  if (limit !== undefined) checkWhole("limit", limit, 0);
  checkSignal(signal);
  const end = afterPrefix(prefix);
  return {
    from: compareUtf8(prefix, from) > 0 ? prefix : from,
    before: end === undefined || (before !== undefined && compareUtf8(before, end) < 0) ? before : end,
    limit: limit ?? Infinity,
    signal,
  };
}

/** The least string above all that begin with `prefix`; `undefined` when there is none. */
export function afterPrefix(prefix: string): string | undefined {
  const points = Array.from(prefix, (one) => one.codePointAt(0) as number);
  for (let last = points.pop(); last !== undefined; last = points.pop()) {
    if (last === 0x10ffff) continue;
    return String.fromCodePoint(...points, last === 0xd7ff ? 0xe000 : last + 1);
  }
  return undefined;
}

/** Nothing given is wrong too: where it may be left out, the caller looks first. */
export function checkWhole(name: string, value: unknown, least: number): void {
  if (Number.isSafeInteger(value) && (value as number) >= least) return;
  throw invalidArgument(name, value, `a whole number from ${least}`);
}

export function checkSignal(signal: unknown): void {
  if (signal !== undefined && !isAbortSignal(signal)) throw invalidArgument("signal", signal, "an AbortSignal");
}
