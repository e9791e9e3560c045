import { EhdbError, isEhdbError } from "@ehdb/contracts";
import type { ImportResult } from "@ehdb/contracts";
import type { Host } from "@ehdb/host";
import type { EngineTime } from "@ehdb/journal";
import { isImporting } from "../commit-step.ts";
import type { ContentHash } from "../content-hash.ts";
import type { Counters } from "../counters.ts";
import type { Dataset } from "../dataset.ts";
import type { Fullness } from "../fullness.ts";
import type { Merger } from "../merger.ts";
import type { Pins } from "../pins.ts";
import type { Sealed } from "../sealed.ts";
import type { Store } from "../store.ts";
import { BatchSource } from "./batch-source.ts";
import type { ImportBatches } from "./batch-source.ts";
import { Ending } from "./ending.ts";
import { makeVisible } from "./make-visible.ts";
import { ImportedParts } from "./imported-parts.ts";

export interface ImportContext {
  readonly options: Fullness & { readonly host: Host; readonly dir: string; readonly dedupeWindow: number };
  readonly store: Store;
  readonly sealed: Sealed;
  readonly counters: Counters;
  readonly pins: Pins;
  readonly time: EngineTime;
  readonly merger: Merger;
  readonly hash: ContentHash;
  /** Throws when the engine takes no commits. */
  readonly assertTakes: () => void;
  /** See `RunHooks`. */
  readonly mark: () => Promise<number>;
  /** Resolves when all up to a revision is sealed. */
  readonly seal: (revision: number) => Promise<void>;
}

export interface ImportWork {
  readonly isCounted: boolean;
  readonly signal: AbortSignal | undefined;
}

/** Records taken in between two turns of the loop. */
const takenInTurn = 256;

/**
 * Imports into logs that never had a record: parts are made of what comes, which nothing names until there are all of them. One edit of the manifest
 * then names them together with the position that comes next: before it a crash leaves nothing but files to be removed.
 */
export class Imports {
  readonly #context: ImportContext;
  readonly #running: Map<Ending, Promise<unknown>> = new Map();
  #end: { readonly reason: unknown } | undefined;

  constructor(context: ImportContext) {
    this.#context = context;
  }

  async run(dataset: Dataset, batches: ImportBatches, work: ImportWork): Promise<ImportResult> {
    const { store, assertTakes } = this.#context;
    if (this.#end !== undefined) throw this.#end.reason;
    assertTakes();
    if (store.importing.has(dataset)) throw isImporting(dataset);
    if (dataset.nextSort > 1) throw notEmpty(dataset);
    const ending = new Ending(work.signal, "the import");
    store.importing.add(dataset);
    const running = this.#import(dataset, batches, work, ending).finally(() => {
      store.importing.delete(dataset);
      this.#running.delete(ending);
      ending.release();
    });
    this.#running.set(ending, running);
    return await running;
  }

  /** Begins nothing more, gives up what runs, and resolves when nothing does. */
  async stop(reason: unknown): Promise<void> {
    this.#end ??= { reason };
    for (const ending of this.#running.keys()) ending.reach(reason);
    await Promise.allSettled(this.#running.values());
  }

  async #import(
    dataset: Dataset,
    batches: ImportBatches,
    { isCounted }: ImportWork,
    ending: Ending,
  ): Promise<ImportResult> {
    const { options, counters, mark, seal, assertTakes } = this.#context;
    const source = new BatchSource(batches, ending);
    const parts = new ImportedParts(dataset, isCounted, this.#context);
    let revision = 0;
    try {
      let taken = 0;
      for (let batch = await source.next(); batch !== undefined; batch = await source.next()) {
        for (const record of batch) {
          if (revision === 0) revision = parts.begin(await ending.orResult(mark()));
          await parts.take(record);
          if (++taken % takenInTurn === 0) await options.host.clock.yield();
          ending.assertGoesOn();
        }
      }
      if (revision === 0) return { records: 0, outOfOrder: 0, first: 0, last: 0 };
      await parts.finish();
      await seal(revision);
      ending.tooLate();
      assertTakes();
    } catch (error) {
      source.release();
      await parts.discard();
      throw isEhdbError(error, "OUTCOME_UNKNOWN") ? notThere(dataset, error) : error;
    }
    await makeVisible(this.#context, dataset, parts, revision, ending);
    const { records, outOfOrder, first, last } = parts;
    counters.appends += records;
    counters.out_of_order_appends += outOfOrder;
    this.#context.store.importing.delete(dataset);
    // It's done, whatever becomes of the revision that tells of it.
    await mark().catch(() => undefined);
    return { records, outOfOrder, first, last };
  }
}

/** Of the import the outcome is known. */
function notThere({ name }: Dataset, cause: EhdbError): EhdbError {
  const message = `the disk failed under an import into ${name}, of which nothing is there. Call reopen(), then import again`;
  return new EhdbError("POISONED", message, { dataset: name }, cause);
}

function notEmpty({ name, nextSort }: Dataset): EhdbError {
  const last = nextSort - 1;
  const message = `${name} has had records up to position ${last}, and an import fills a log that never had one. Import into a new store`;
  return new EhdbError("ALREADY_EXISTS", message, { dataset: name, last });
}
