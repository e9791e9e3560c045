import type { Batches } from "@ehdb/contracts";
import type { Dataset } from "./dataset.ts";
import type { Pin } from "./pins.ts";
import type { Turns } from "./turns.ts";
import type { View } from "./view.ts";

/** What reads need of the engine around them. */
export interface ReadContext {
  view(): View;
  readonly turns: Turns;
  /** What there is now, kept from going until it's released. */
  pin(): Pin;
  /** Of a log, the position behind all that the view has. */
  nextSort(dataset: Dataset): number;
  /** The last revision that may be shown. */
  readable(): number;
  epoch(): number;
  dataset(name: string): Dataset;
  /** Throws CLOSED. */
  assertOpen(): void;
  /** Counts a read. CLOSED. */
  beginRead(): void;
  /** Counts an error that the caller is about to be told, and gives it back. */
  failed(error: unknown): unknown;
  /** Counts parts that a read leaves out by their range. */
  pruned(parts: number): void;
  /** A read that is iterated: begins when its iteration does, ends with the signal or the engine, and counts its errors. */
  reading<T>(begin: (pin: Pin) => AsyncGenerator<readonly T[]>, signal: AbortSignal | undefined): Batches<T>;
}
