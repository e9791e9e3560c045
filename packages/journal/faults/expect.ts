import { EhdbError } from "@ehdb/contracts";
import type { ErrorCode } from "@ehdb/contracts";
import type { Outcome } from "./telling.ts";

/** Throws unless the last append was refused, with one of the codes. Returns what the error said. */
export function refusedLast(outcomes: readonly Outcome[], ...codes: readonly ErrorCode[]): string {
  const last = outcomes.at(-1);
  if (last?.refusal === undefined || !codes.some((code) => code === last.refusal?.code)) {
    throw new Error(`the append was to be refused with ${codes.join(" or ")}, and gave ${described(last)}`);
  }
  return last.refusal.message;
}

/** Throws unless every append was acknowledged. */
export function allDone(outcomes: readonly Outcome[]): void {
  const refused = outcomes.find(({ refusal }) => refusal !== undefined);
  if (refused !== undefined)
    throw new Error(`the append of ${refused.id} was to succeed, and gave ${described(refused)}`);
}

/** Throws unless each refusal has one of the codes. An error that isn't one of ours has none. */
export function refusedOnlyWith(outcomes: readonly Outcome[], ...codes: readonly ErrorCode[]): void {
  for (const outcome of outcomes) {
    const { refusal } = outcome;
    if (refusal !== undefined && !codes.some((code) => code === refusal.code)) {
      throw new Error(
        `the append was to succeed or be refused with ${codes.join(" or ")}, and gave ${described(outcome)}`,
      );
    }
  }
}

/** The error that a call ends with, which must have one of the codes. */
export async function refusal(call: Promise<unknown>, ...codes: readonly ErrorCode[]): Promise<EhdbError> {
  let value: unknown;
  try {
    value = await call;
  } catch (error) {
    if (error instanceof EhdbError && codes.includes(error.code)) return error;
    throw new Error(`${codes.join(" or ")} was expected`, { cause: error });
  }
  throw new Error(`${codes.join(" or ")} was expected, and the call gave ${JSON.stringify(value)}`);
}

export function same(what: string, found: unknown, expected: unknown): void {
  if (found !== expected) throw new Error(`${what} was to be ${String(expected)}, and is ${String(found)}`);
}

function described(outcome: Outcome | undefined): string {
  const { refusal: why, sequence } = outcome ?? {};
  return why === undefined ? `sequence ${sequence}` : `${why.code ?? "an error without a code"}: ${why.message}`;
}
