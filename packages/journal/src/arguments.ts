import { invalidArgument, refuseUnknown } from "@ehdb/contracts";

/** Options of a method: an object that holds nothing unknown, and a signal and callbacks that are what they are taken for. */
export function checkOptions(options: object | undefined, known: readonly string[]): void {
  if (options === undefined) return;
  refuseUnknown(options, known, "");
  const given = options as Readonly<Record<string, unknown>>;
  if (known.includes("signal")) checkSignal(given["signal"]);
  for (const name of callbacks) if (known.includes(name)) checkCallback(name, given[name]);
}

const callbacks = ["onCaughtUp", "onProgress"] as const;

function checkSignal(signal: unknown): void {
  if (signal === undefined) return;
  // By its form: one from another realm does, too.
  const { aborted, addEventListener, removeEventListener } = Object(signal) as Partial<AbortSignal>;
  const isSignal = [addEventListener, removeEventListener].every((one) => typeof one === "function");
  if (typeof aborted === "boolean" && isSignal) return;
  const hint = signal instanceof AbortController ? "Give its signal: controller.signal" : "";
  throw invalidArgument("signal", signal, "an AbortSignal", hint);
}

function checkCallback(name: string, call: unknown): void {
  if (call !== undefined && typeof call !== "function") throw invalidArgument(name, call, "a function");
}

export function checkSequence(name: string, value: unknown, least: number): asserts value is number {
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= least) return;
  const hint = typeof value === "string" || typeof value === "bigint" ? "Give a number: Number(…)" : "";
  throw invalidArgument(name, value, `a whole number from ${least} to 2^53 - 1`, hint);
}

/** A count of bytes. */
export function checkBytes(name: string, value: unknown): asserts value is number {
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return;
  throw invalidArgument(name, value, "a whole number of bytes");
}

const longestMillis = 2 ** 31 - 1;

export function checkTimeout(value: unknown): void {
  if (value === undefined) return;
  if (typeof value === "number" && value >= 0 && value <= longestMillis) return;
  throw invalidArgument("timeoutMillis", value, `a number from 0 to ${longestMillis}`);
}
