import { isEhdbError } from "@ehdb/contracts";
import type { ErrorCode, ErrorData } from "@ehdb/contracts";

/** What the contract says to a call that it doesn't take: an answer as a result is one. */
export interface Refusal {
  readonly code: ErrorCode;
  readonly data: ErrorData;
}

/** A result, or the refusal. Whatever else goes wrong says nothing about the contract, and is thrown. */
export async function answerOf<T>(call: Promise<T>): Promise<T | Refusal> {
  try {
    return await call;
  } catch (error) {
    if (!isEhdbError(error, "CONFLICT", "ID_REUSED", "TOO_LARGE", "INVALID_ARGUMENT", "OUT_OF_RANGE")) throw error;
    return { code: error.code, data: error.data };
  }
}

export const isRefusal = (answer: object): answer is Refusal => "code" in answer;

/** The answer without when it was, in one line: two drivers must say the same. */
export function shownAnswer(answer: object | undefined): string {
  if (answer === undefined) return "nothing";
  if (!isRefusal(answer)) return JSON.stringify({ ...answer, time: undefined });
  const { code, data } = answer;
  const { stream, dataset, key, expected, actual, isDeleted } = data;
  return code === "CONFLICT"
    ? `${code} ${JSON.stringify({ stream, dataset, key, expected, actual, isDeleted })}`
    : code;
}
