import { EhdbError, invalidArgument } from "@ehdb/contracts";
import type { ImportedRecord } from "@ehdb/contracts";
import { callersOwnLater } from "../error-counts.ts";
import type { Ending } from "./ending.ts";

export type ImportBatches = AsyncIterable<readonly ImportedRecord[]> | Iterable<readonly ImportedRecord[]>;

interface AnyIterator {
  next(): unknown;
  return?: () => unknown;
}

/** What an import reads: a batch is asked for when the one before it has been taken in. */
export class BatchSource {
  readonly #ending: Ending;
  readonly #iterator: AnyIterator;
  #isOver = false;

  /** INVALID_ARGUMENT for what can't be iterated. */
  constructor(batches: ImportBatches, ending: Ending) {
    const given = Object(batches) as Partial<AsyncIterable<unknown> & Iterable<unknown>>;
    const begin = given[Symbol.asyncIterator] ?? given[Symbol.iterator];
    if (typeof begin !== "function" || typeof batches === "string")
      throw invalidArgument("batches", batches, "an iterable, async or not, of arrays of records");
    this.#ending = ending;
    this.#iterator = Reflect.apply(begin, batches, []) as AnyIterator;
  }

  /** `undefined` at the end. */
  async next(): Promise<readonly unknown[] | undefined> {
    let step: { readonly done?: boolean; readonly value: unknown };
    try {
      step = (await this.#ending.orResult(callersOwnLater(async () => await this.#iterator.next()))) as typeof step;
    } catch (error) {
      // A source that has thrown is over; one that is still at it isn't.
      this.#isOver = !this.#ending.isReached;
      throw error;
    }
    if (step.done === true) {
      this.#isOver = true;
      return undefined;
    }
    if (Array.isArray(step.value)) return step.value as readonly unknown[];
    throw new EhdbError(
      "INVALID_ARGUMENT",
      `a batch of an import is an array of records, not ${typeof step.value}`,
      {},
    );
  }

  /** Nothing more is read. Who doesn't answer isn't waited for. */
  release(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    try {
      void Promise.resolve(this.#iterator.return?.()).catch(() => undefined);
    } catch {
      // Whoever imports is told why it ends, not how its source took that.
    }
  }
}
