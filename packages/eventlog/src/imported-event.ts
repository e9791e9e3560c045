import { chosen, invalidArgument, isAbortSignal, MAX_SEQUENCE, refuseUnknown } from "@ehdb/contracts";
import type { ImportedEvent, ImportOptions } from "@ehdb/contracts";
import { encodeEvents } from "./encoding.ts";
import type { EncodedEvent } from "./encoding.ts";
import type { DataSchemas } from "./schemas.ts";

/** What a Date can hold. */
const mostMillis = 8.64e15;

/** An event with the place that it brings. */
export interface PlacedEvent {
  readonly event: EncodedEvent;
  readonly stream: string;
  readonly version: number;
  readonly position: number;
  readonly time: number;
}

export type ImportBatches = AsyncIterable<readonly ImportedEvent[]> | Iterable<readonly ImportedEvent[]>;

/** INVALID_OPTION, INVALID_ARGUMENT. */
export function importRequest(options: ImportOptions = {}): Required<Pick<ImportOptions, "disorder">> & ImportOptions {
  refuseUnknown(options, ["disorder", "signal"] satisfies (keyof ImportOptions)[], "");
  const { disorder, signal } = options;
  if (signal !== undefined && !isAbortSignal(signal)) throw invalidArgument("signal", signal, "an AbortSignal");
  const chosenDisorder = disorder === undefined ? "refuse" : chosen("disorder", disorder, ["refuse", "count"]);
  return { disorder: chosenDisorder, ...(signal && { signal }) };
}

/** INVALID_ARGUMENT for what can't be iterated. */
export function assertBatches(batches: unknown): asserts batches is ImportBatches {
  const given = Object(batches) as Partial<AsyncIterable<unknown> & Iterable<unknown>>;
  const isIterable = typeof (given[Symbol.asyncIterator] ?? given[Symbol.iterator]) === "function";
  if (!isIterable || typeof batches === "string")
    throw invalidArgument("batches", batches, "an iterable, async or not, of arrays of events");
}

/** Checks and encodes the events of a batch, each for itself. `makeId`: for those that come without. */
export function placedEvents(batch: unknown, schemas: DataSchemas, makeId: () => string): PlacedEvent[] {
  if (!Array.isArray(batch)) throw invalidArgument("a batch", batch, "an array of events");
  return batch.map((given: unknown) => placedEvent(given, schemas, makeId));
}

function placedEvent(given: unknown, schemas: DataSchemas, makeId: () => string): PlacedEvent {
  if (typeof given !== "object" || given === null || Array.isArray(given))
    throw invalidArgument("an event", given, "an object, as a log gives it");
  const { stream, version, position, time } = given as Partial<ImportedEvent>;
  const place = {
    position: wholeOf("position", position, 1, MAX_SEQUENCE - 1),
    version: wholeOf("version", version, 1, MAX_SEQUENCE - 1),
    time: wholeOf("time", time, 0, mostMillis),
  };
  const [event] = encodeEvents(stream as string, given, schemas, makeId);
  return { event: event as EncodedEvent, stream: stream as string, ...place };
}

function wholeOf(name: string, value: unknown, least: number, most: number): number {
  if (Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most) return value as number;
  throw invalidArgument(`${name} of an event`, value, `a whole number from ${least} to ${most}`);
}
