import { EhdbError, throwIfAborted } from "@ehdb/contracts";
import type {
  Batches,
  Commit,
  DatasetSpec,
  Engine,
  ImportOptions,
  ImportResult,
  LogDataset,
  LogReadOptions,
  MapDataset,
  MapScanOptions,
  WriteBatch,
} from "@ehdb/contracts";
import {
  checkDataset,
  checkDatasets,
  checkLogOptions,
  checkMapOptions,
  checkName,
  checkOptions,
  checkSignal,
  checkWhole,
} from "./reference/checks.ts";
import { batchesOf, Bringing, checkedRecord, checkImportOptions } from "./reference/importing.ts";
import type { ImportBatches } from "./reference/importing.ts";
import { wantedRecords, wantedValues } from "./reference/reading.ts";
import { statementsOf } from "./reference/statements.ts";
import type { Import, Write } from "./reference/statements.ts";
import { Store } from "./reference/store.ts";

export interface ReferenceEngineOptions {
  readonly datasets: readonly DatasetSpec[];
  /** Newest records of each log whose ids are known. Default 65 536. */
  readonly dedupeWindow?: number;
  /** Milliseconds since 1970. Default: it is 1970 for ever. */
  readonly now?: () => number;
}

export interface ReferenceEngine extends Engine {
  /**
   * What a crash leaves that took back every commit after `revision`: another engine, in the next epoch, that goes on from
   * there. This one stays as it is.
   */
  asOf(revision: number): ReferenceEngine;
  /** The number that an expectation would hold with: a key's version in a log, the revision of its value in a map; 0 for none. */
  actual(dataset: string, key: string): number;
}

/**
 * The plain engine: in memory, everything readable at once, and every answer found by looking through all there is. It says
 * what the engine means; tests hold the durable one against it, so they have no code in common.
 */
export function referenceEngine(options: ReferenceEngineOptions): ReferenceEngine {
  checkOptions(options, ["datasets", "dedupeWindow", "now"] satisfies (keyof ReferenceEngineOptions)[]);
  checkDatasets(options.datasets);
  if (options.dedupeWindow !== undefined) checkWhole("dedupeWindow", options.dedupeWindow, 0);
  return new Reference(options, [], []);
}

/** A commit as it took effect. */
interface Accepted {
  readonly writes: readonly (Write | Import)[];
  readonly time: number;
}

/** Where an epoch began: what had a place from there on in an earlier epoch was taken back. */
interface Cut {
  readonly epoch: number;
  readonly firstSorts: ReadonlyMap<string, number>;
}

/** So few that whoever reads anything at all reads several batches. */
const batchRecords = 3;

class Reference implements ReferenceEngine {
  readonly epoch: number;
  readonly #options: ReferenceEngineOptions;
  readonly #accepted: Accepted[];
  readonly #cuts: readonly Cut[];
  readonly #store: Store;
  #waiting: { readonly revision: number; readonly resolve: () => void }[] = [];
  #isClosed = false;
  #tellClosed: () => void = () => undefined;
  readonly #closed: Promise<void> = new Promise((resolve) => (this.#tellClosed = resolve));
  readonly #importing: Set<string> = new Set();

  constructor(options: ReferenceEngineOptions, accepted: readonly Accepted[], cuts: readonly Cut[]) {
    this.#options = options;
    this.#accepted = [...accepted];
    this.#store = new Store(options.datasets);
    for (const { writes, time } of accepted) this.#store.apply(writes, time);
    this.epoch = cuts.length + 1;
    const firstSorts = new Map([...this.#store.logs].map(([name, records]) => [name, (records.at(-1)?.sort ?? 0) + 1]));
    this.#cuts = [...cuts, { epoch: this.epoch, firstSorts }];
  }

  asOf(revision: number): ReferenceEngine {
    return new Reference(this.#options, this.#accepted.slice(0, revision), this.#cuts);
  }

  actual(dataset: string, key: string): number {
    return this.#store.actual(dataset, checkDataset(this.#options.datasets, dataset), key);
  }

  get revision(): number {
    return this.#store.revision;
  }

  /** Takes effect within the call: what is async is only the answer. */
  async commit(stage: (batch: WriteBatch) => void, options: { readonly signal?: AbortSignal } = {}): Promise<Commit> {
    this.#checkOpen();
    checkOptions(options, ["signal"]);
    checkSignal(options.signal);
    throwIfAborted(options.signal, "the commit");
    const { datasets, dedupeWindow = 65_536, now = () => 0 } = this.#options;
    const { writes, expectations } = statementsOf(datasets, stage);
    for (const { dataset } of writes) this.#checkNotImporting(dataset);
    if (writes.length === 0) throw new EhdbError("INVALID_ARGUMENT", "the batch writes nothing: append, put or delete");

    const appends = writes.filter((write) => write.kind === "append");
    const duplicate = this.#store.duplicateOf(appends, dedupeWindow);
    if (duplicate !== undefined) return duplicate;
    this.#store.checkExpectations(expectations);
    this.#store.checkNumbers(writes);
    return this.#accept(writes, Math.max(now(), this.#store.time));
  }

  async import(dataset: string, batches: ImportBatches, options: ImportOptions = {}): Promise<ImportResult> {
    this.#checkOpen();
    const { datasets, dedupeWindow = 65_536, now = () => 0 } = this.#options;
    checkDataset(datasets, dataset, "by-sort");
    checkImportOptions(options);
    const { signal, disorder } = options;
    throwIfAborted(signal, "the import");
    this.#checkNotImporting(dataset);
    const last = this.#store.last(dataset);
    if (last > 0) {
      const message = `"${dataset}" has had records, up to ${last}: import into a log that never had one`;
      throw new EhdbError("ALREADY_EXISTS", message, { dataset, last });
    }
    this.#importing.add(dataset);
    try {
      const bringing = new Bringing(dataset, dedupeWindow, disorder === "count");
      let revision = 0;
      for await (const batch of batchesOf(batches, this.#unlessEnded(signal))) {
        for (const record of batch) {
          if (revision === 0) ({ revision } = this.#accept([], Math.max(now(), this.#store.time)));
          bringing.add(checkedRecord(record));
        }
      }
      const { records, outOfOrder } = bringing.brought();
      if (records.length === 0) return { records: 0, outOfOrder: 0, first: 0, last: 0 };
      const time = Math.max(now(), this.#store.time, records.at(-1)?.time ?? 0);
      this.#accept([{ kind: "import", dataset, records, revision }], time);
      return { records: records.length, outOfOrder, first: records[0]?.sort ?? 0, last: records.at(-1)?.sort ?? 0 };
    } finally {
      this.#importing.delete(dataset);
    }
  }

  log(name: string): LogDataset {
    this.#checkOpen();
    checkDataset(this.#options.datasets, name, "by-sort");
    const records = this.#store.log(name);
    return {
      name,
      first: 1,
      get last() {
        return records.at(-1)?.sort ?? 0;
      },
      assertContinues: (sort, epoch) => this.#assertContinues(name, sort, epoch),
      version: async (key) => {
        this.#checkOpen();
        checkName("a key", key);
        return this.#store.version(name, key);
      },
      scan: (options: LogReadOptions = {}) => {
        checkLogOptions(options);
        return this.#batches(() => wantedRecords(records, ({ sort }) => sort, options), options.signal);
      },
      read: (key, options: LogReadOptions = {}) => {
        checkName("a key", key);
        checkLogOptions(options);
        const ofKey = () => records.filter((record) => record.key === key);
        return this.#batches(() => wantedRecords(ofKey(), ({ version }) => version, options), options.signal);
      },
    };
  }

  map(name: string): MapDataset {
    this.#checkOpen();
    checkDataset(this.#options.datasets, name, "by-key");
    const values = this.#store.map(name);
    return {
      name,
      get: async (key) => {
        this.#checkOpen();
        checkName("a key", key);
        return values.get(key);
      },
      scan: (options: MapScanOptions = {}) => {
        checkMapOptions(options);
        return this.#batches(() => wantedValues(values.values(), options), options.signal);
      },
    };
  }

  async news(revision: number): Promise<void> {
    this.#checkOpen();
    checkWhole("revision", revision, 0);
    if (this.revision > revision) return;
    await new Promise<void>((resolve) => this.#waiting.push({ revision, resolve }));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#tellClosed();
    this.#announce(() => true);
  }

  #accept(writes: readonly (Write | Import)[], time: number): Commit {
    this.#accepted.push({ writes, time });
    const commit = this.#store.apply(writes, time);
    this.#announce(({ revision }) => revision < commit.revision);
    return commit;
  }

  #checkNotImporting(dataset: string): void {
    if (!this.#importing.has(dataset)) return;
    throw new EhdbError("LOCKED", `"${dataset}" is being imported: wait until that is done`, { dataset });
  }

  /** For a wait that ends no later than when the import is given up, or the engine closed. */
  #unlessEnded(signal: AbortSignal | undefined): <T>(waited: Promise<T>) => Promise<T> {
    const check = (): void => {
      this.#checkOpen();
      throwIfAborted(signal, "the import");
    };
    const ended = new Promise<void>((resolve) => {
      signal?.addEventListener("abort", () => resolve(), { once: true });
      void this.#closed.then(resolve);
    });
    return async (waited) => {
      check();
      await Promise.race([waited, ended]);
      check();
      return await waited;
    };
  }

  #assertContinues(name: string, sort: number, epoch: number): void {
    this.#checkOpen();
    checkWhole("sort", sort, 0);
    checkWhole("epoch", epoch, 1);
    if (sort === 0) return;
    const isCut = this.#cuts.some((cut) => epoch < cut.epoch && sort >= (cut.firstSorts.get(name) ?? 1));
    const last = this.#store.last(name);
    const place = `position ${sort} of "${name}", read in epoch ${epoch},`;
    if (isCut || epoch > this.epoch) {
      const message = `${place} isn't in this log: a crash took it back, or the log was replaced; go on from an earlier place`;
      throw new EhdbError("TRUNCATED", message, { sort, epoch, last });
    }
    if (sort > last) throw new EhdbError("OUT_OF_RANGE", `${place} is beyond the end, ${last}`, { sort, last });
  }

  /** `read` is called at the first step: that is the moment that is read. */
  async *#batches<T>(read: () => readonly T[], signal: AbortSignal | undefined): Batches<T> {
    this.#checkRead(signal);
    const records = read();
    for (let start = 0; start < records.length; start += batchRecords) {
      this.#checkRead(signal);
      yield records.slice(start, start + batchRecords);
    }
    this.#checkRead(signal);
  }

  #checkRead(signal: AbortSignal | undefined): void {
    this.#checkOpen();
    throwIfAborted(signal, "the read");
  }

  #checkOpen(): void {
    if (this.#isClosed) throw new EhdbError("CLOSED", "the engine is closed: open it again");
  }

  #announce(concerns: (waiting: { readonly revision: number }) => boolean): void {
    for (const waiting of this.#waiting) if (concerns(waiting)) waiting.resolve();
    this.#waiting = this.#waiting.filter((waiting) => !concerns(waiting));
  }
}
