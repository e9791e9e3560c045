import { EhdbError, invalidArgument, isEhdbError, refuseUnknown, throwIfAborted } from "@ehdb/contracts";
import type {
  Commit,
  DatasetOrder,
  ImportOptions,
  ImportResult,
  LogDataset,
  MapDataset,
  WriteBatch,
} from "@ehdb/contracts";
import type { CloseReport, Durability, Journal } from "@ehdb/journal";
import type {
  DurableEngine,
  EngineHeads,
  EngineRecovery,
  EngineState,
  EngineStats,
  RetentionLimits,
  Snapshot,
} from "./api.ts";
import { backUp } from "./care/backup.ts";
import type { BackupOptions, BackupReport } from "./care/backup.ts";
import { pathOf, resolveWork } from "./care/care-options.ts";
import { holdMoment } from "./care/held-moment.ts";
import { scrubEngine, verifyEngine } from "./care/verify-engine.ts";
import type { EngineToVerify, ScrubOptions, VerifyEngineOptions } from "./care/verify-engine.ts";
import type { StoreReport } from "./care/verify-store.ts";
import { CommitLine } from "./commit-line.ts";
import { CommitStep } from "./commit-step.ts";
import type { ContentHash } from "./content-hash.ts";
import { noCounts } from "./counters.ts";
import type { Counters } from "./counters.ts";
import { countingDoor } from "./counting-door.ts";
import type { Dataset } from "./dataset.ts";
import { engineStats } from "./engine-stats.ts";
import { ErrorCounts } from "./error-counts.ts";
import { LogReads } from "./log-reads.ts";
import { MapReads } from "./map-reads.ts";
import type { ImportBatches } from "./import/batch-source.ts";
import { importOptions } from "./import/import-options.ts";
import { News } from "./news.ts";
import type { ResolvedOptions } from "./options.ts";
import { checkSignal, checkWhole } from "./read-options.ts";
import { PayloadMemory } from "./payload-memory.ts";
import { Pins } from "./pins.ts";
import type { ReadContext } from "./read-context.ts";
import { countedBatches } from "./reading.ts";
import type { Recovered } from "./recovery.ts";
import type { Reserve } from "./reserve.ts";
import { Run } from "./run.ts";
import { checkLimits, floorFor } from "./retention.ts";
import type { Sealed } from "./sealed.ts";
import { snapshotOf } from "./snapshot.ts";
import { StateGauges } from "./state-gauges.ts";
import { noDataset, StagedBatch, wrongOrder } from "./staged-batch.ts";
import { Turns } from "./turns.ts";

const untold = (): void => undefined;

/** What an open has found and opened. */
export interface Opened {
  readonly options: ResolvedOptions;
  readonly journal: Journal;
  readonly sealed: Sealed;
  readonly reserve: Reserve;
  readonly recovered: Recovered;
  readonly hash: ContentHash;
  /** Recovers again, after the journal has. */
  readonly recoverAgain: (partsVersion: number) => Promise<Recovered>;
}

/** An open engine: commits, reads and seals meet over one store, which a reopen replaces. */
export class OpenEngine implements DurableEngine {
  recovery: EngineRecovery;
  readonly errors: ErrorCounts = new ErrorCounts();
  readonly #opened: Opened;
  readonly #counters: Counters = noCounts();
  readonly #line: CommitLine;
  readonly #news: News;
  readonly #reads: ReadContext;
  readonly #memory = new PayloadMemory();
  readonly #pins: Pins;
  readonly #gauges: StateGauges;
  #run: Run;
  /** Why commits are refused for good, when what is on disk is damaged. */
  #damage: EhdbError | undefined;
  /** A reopen is under way, or failed: the journal may be open again before what rests on it is. */
  #isBehind = false;
  #isReadOnly = false;
  #reopening: Promise<EngineRecovery> | undefined;
  #closing: Promise<CloseReport> | undefined;

  constructor(opened: Opened) {
    this.#opened = opened;
    this.#pins = new Pins(opened.options.host.clock, opened.options.pinIdleSeconds);
    this.#gauges = new StateGauges(opened.sealed, opened.journal);
    this.#run = this.#begin(opened.recovered);
    this.recovery = opened.recovered.report;
    this.#line = new CommitLine(new CommitStep(() => this.#run), this.errors.add);
    this.#news = new News(opened.journal, () => this.#run.store.accepted, opened.options.host.clock);
    this.#reads = this.#readContext();
  }

  get dir(): string {
    return this.#opened.options.dir;
  }

  get storeId(): string {
    return this.#opened.sealed.state.store;
  }

  get epoch(): number {
    return this.#opened.journal.epoch;
  }

  get state(): EngineState {
    if (this.#closing !== undefined) return "closed";
    if (this.#damage !== undefined) return "corrupt";
    if (this.#isReadOnly) return "read-only";
    const { state } = this.#opened.journal;
    if (this.#isBehind && (state === "open" || state === "no-space")) return "poisoned";
    const { stall } = this.#run.sealer;
    if (state !== "open" || stall === undefined) return state;
    return isEhdbError(stall, "NO_SPACE") ? "no-space" : "stalled";
  }

  get revision(): number {
    const { journal, sealed } = this.#opened;
    return Math.max(journal.last, sealed.state.sealedThrough);
  }

  get heads(): EngineHeads {
    const { journal, sealed } = this.#opened;
    const { sealedThrough } = sealed.state;
    return {
      accepted: this.#run.store.accepted,
      durable: Math.max(journal.cursors.durable, sealedThrough),
      sealed: sealedThrough,
    };
  }

  log(name: string): LogDataset {
    this.#assertOpen();
    this.#assertOrder(name, "by-sort");
    return new LogReads(this.#reads, name);
  }

  map(name: string): MapDataset {
    this.#assertOpen();
    this.#assertOrder(name, "by-key");
    return new MapReads(this.#reads, name);
  }

  /** Not an async function: a promise a commit is enough. */
  commit(stage: (batch: WriteBatch) => void, options?: { readonly signal?: AbortSignal }): Promise<Commit> {
    try {
      this.#assertOpen();
      if (options !== undefined) {
        refuseUnknown(options, ["signal"], "");
        checkSignal(options.signal);
      }
      if (typeof stage !== "function")
        throw invalidArgument("stage", stage, "a function that states what is to be written");
      const batch = new StagedBatch(this.#run.store.datasets, this.#opened.hash, this.#memory);
      const { mark } = this.#memory;
      try {
        batch.fill(stage);
        return this.#line.submit(batch, options?.signal);
      } finally {
        this.#memory.release(mark);
      }
    } catch (error) {
      if (isEhdbError(error, "INVALID_ARGUMENT", "TOO_LARGE")) this.#counters.ingest_decode_failed++;
      // What `stage` throws of its own is its caller's.
      if (isEhdbError(error)) this.errors.add(error);
      return Promise.reject(error);
    }
  }

  async import(name: string, batches: ImportBatches, options: ImportOptions = {}): Promise<ImportResult> {
    this.#assertOpen();
    const dataset = this.#assertOrder(name, "by-sort");
    const { disorder, signal } = importOptions(options);
    throwIfAborted(signal, "the import");
    const result = await this.#run.imports.run(dataset, batches, { isCounted: disorder === "count", signal });
    this.#news.announce();
    return result;
  }

  async news(revision: number): Promise<void> {
    this.#assertOpen();
    checkWhole("revision", revision, 0);
    return this.#news.wait(revision);
  }

  setDurability(durability: Durability): void {
    this.#assertOpen();
    this.#opened.journal.setDurability(durability);
  }

  async flush(): Promise<number> {
    this.#assertOpen();
    await this.#line.passed();
    return await this.#opened.journal.flush();
  }

  async ready(options: { readonly signal?: AbortSignal } = {}): Promise<void> {
    this.#assertOpen();
    refuseUnknown(options, ["signal"], "");
    checkSignal(options.signal);
    throwIfAborted(options.signal, "ready()");
    this.#run.assertTakes();
    for (let room = this.#run.room(); room !== undefined; room = this.#run.room()) await room;
    await this.#opened.journal.ready(undefined, options);
  }

  async seal(): Promise<void> {
    this.#assertOpen();
    this.#run.assertTakes();
    await this.#line.passed();
    const run = this.#run;
    run.assertTakes();
    run.freeze();
    const through = run.store.frozen.at(-1)?.lastRevision ?? 0;
    while (this.heads.sealed < through) {
      if (this.#run !== run)
        throw new EhdbError("POISONED", "the engine was reopened while it sealed. Call seal() again", {});
      await run.sealer.progress();
    }
  }

  async reopen(): Promise<EngineRecovery> {
    this.#assertOpen();
    const { state } = this;
    if (state === "stalled") await this.#run.sealer.progress();
    if (state !== "poisoned" && state !== "read-only") return this.recovery;
    this.#reopening ??= this.#reopen().finally(() => {
      this.#reopening = undefined;
    });
    return await this.#reopening;
  }

  snapshot(): Snapshot {
    this.#assertOpen();
    const { store } = this.#run;
    const moment = {
      pin: this.#pins.pin(store.view),
      revision: this.revision,
      nextSorts: new Map([...store.byId.values()].map(({ id, nextSort }) => [id, nextSort])),
    };
    const snapshot = snapshotOf(this.#reads, moment, {
      log: (name) => this.#assertOrder(name, "by-sort"),
      map: (name) => this.#assertOrder(name, "by-key"),
    });
    return countingDoor(snapshot, this.errors.add);
  }

  async merge(options: { readonly dataset?: string } = {}): Promise<void> {
    this.#assertOpen();
    refuseUnknown(options, ["dataset"], "");
    const run = this.#run;
    run.assertTakes();
    const wanted = options.dataset === undefined ? [...run.store.byId.values()] : [this.#dataset(options.dataset)];
    for (const dataset of wanted) await run.merger.full(dataset);
  }

  async runPendingMerges(): Promise<number> {
    this.#assertOpen();
    this.#run.assertTakes();
    return await this.#run.merger.runPending();
  }

  async sealAged(): Promise<boolean> {
    this.#assertOpen();
    this.#run.assertTakes();
    if (!this.#run.freezeAged()) return false;
    await this.seal();
    return true;
  }

  async raiseFloor(name: string, position: number): Promise<void> {
    this.#assertOpen();
    const dataset = this.#assertOrder(name, "by-sort");
    checkWhole("position", position, 0);
    const last = this.log(name).last;
    if (position > last + 1) {
      const message = `position ${position} of ${name} is beyond the end: at most all up to ${last} can be dropped`;
      throw new EhdbError("OUT_OF_RANGE", message, { position, last });
    }
    const run = this.#run;
    run.assertTakes();
    // A crash mustn't take back what lies below, and give its positions to others.
    await this.#opened.journal.flush();
    await run.merger.raiseFloor(dataset, position);
  }

  async retain(name: string, limits: RetentionLimits): Promise<number> {
    this.#assertOpen();
    const dataset = this.#assertOrder(name, "by-sort");
    const floor = floorFor(dataset, this.#run.store.view, checkLimits(limits), this.#opened.options.host.clock.now());
    dataset.keptBytes = limits.maxBytes ?? Infinity;
    if (floor > dataset.floor) await this.raiseFloor(name, floor);
    return this.log(name).first;
  }

  async scavenge(): Promise<void> {
    this.#assertOpen();
    const run = this.#run;
    run.assertTakes();
    await this.seal();
    for (const dataset of run.store.byId.values()) await run.merger.full(dataset, { keepHistory: false });
    const { journal, sealed } = this.#opened;
    // What is sealed goes from the journal with the segment that it's in.
    await journal.roll();
    await journal.dropBefore(sealed.state.sealedThrough + 1);
    this.#gauges.refresh();
    await this.reclaimOrphans();
  }

  async reclaimOrphans(): Promise<{ readonly files: number; readonly bytes: number }> {
    this.#assertOpen();
    this.#run.assertTakes();
    return await this.#opened.sealed.reclaimOrphans();
  }

  async backup(to: string, options: BackupOptions = {}): Promise<BackupReport> {
    this.#assertOpen();
    refuseUnknown(options, ["signal", "onProgress"] satisfies (keyof BackupOptions)[], "");
    const target = pathOf("to", to);
    const work = resolveWork(options);
    const {
      journal,
      sealed,
      options: { host, dir, encryption },
    } = this.#opened;
    const moment = holdMoment({ journal, sealed, pins: this.#pins, view: this.#run.store.view });
    try {
      return await backUp({ host, dir, encryption, journal, epoch: this.epoch, moment }, target, work);
    } finally {
      moment.release();
    }
  }

  verify(options: VerifyEngineOptions = {}): Promise<StoreReport> {
    return this.#look(() => verifyEngine(this.#toVerify, options));
  }

  scrub(options: ScrubOptions = {}): Promise<StoreReport> {
    return this.#look(() => scrubEngine(this.#toVerify, options));
  }

  stats(): EngineStats {
    return engineStats({
      opened: this.#opened,
      state: this.state,
      run: this.#run,
      counters: this.#counters,
      errors: this.errors.byCode,
      pins: this.#pins,
      gauges: this.#gauges,
    });
  }

  refreshStateGauges(): void {
    this.#assertOpen();
    this.#gauges.refresh();
  }

  async close(): Promise<CloseReport> {
    this.#closing ??= this.#close();
    return await this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const wasPoisoned = this.state === "poisoned";
    const { reason } = await this.close();
    if (reason !== undefined && !wasPoisoned) throw reason;
  }

  #begin(recovered: Recovered): Run {
    const { options, journal, sealed, reserve, hash } = this.#opened;
    this.#isReadOnly = recovered.isReadOnly;
    this.#counters.recovered_active_records += recovered.report.replayedRecords;
    return new Run(options, journal, sealed, recovered, this.#counters, this.#pins, hash, reserve, {
      // Not whether it's closed: what was called before a close is still taken in.
      assertOpen: () => {
        if (this.#damage !== undefined) throw this.#damage;
      },
      state: () => this.state,
      accepted: () => this.#news.arrived(),
      // Whoever imports is told what goes wrong with it.
      mark: async () =>
        (await this.#line.submit(new StagedBatch(this.#run.store.datasets, hash, this.#memory), undefined, untold))
          .revision,
      damaged: (damage) => {
        this.#damage = damage;
      },
    });
  }

  async #reopen(): Promise<EngineRecovery> {
    const { journal, reserve, recoverAgain } = this.#opened;
    const before = this.#run;
    this.#isBehind = true;
    const message =
      "the disk failed and the engine is being reopened: what waited to commit wasn't taken in. Commit it again";
    const reason = new EhdbError("POISONED", message, { dir: this.dir });
    this.#line.rejectAll(reason);
    await before.end(reason);
    await reserve.stop();
    await journal.reopen();
    const recovered = await recoverAgain(before.store.view.partsVersion + 1);
    this.#run = this.#begin(recovered);
    this.recovery = recovered.report;
    this.#isBehind = false;
    this.#news.announce();
    return this.recovery;
  }

  async #close(): Promise<CloseReport> {
    const closed = this.#closed();
    await this.#reopening?.catch(() => undefined);
    this.#news.announce();
    this.#run.sealer.hurry();
    await this.#line.drained();
    // Whoever waits for a sync isn't made to wait for a timer.
    await this.#opened.journal.flush().catch(() => undefined);
    await this.#run.acknowledgements.quiet();
    await this.#run.sealBeforeClose();
    await this.#run.end(closed);
    await this.#opened.reserve.stop();
    this.#pins.close();
    const report = await this.#opened.journal.close();
    await this.#opened.sealed.close();
    this.#news.announce();
    return report;
  }

  get #toVerify(): EngineToVerify {
    const { options, journal } = this.#opened;
    return { options, journal, assertOpen: () => this.#assertOpen() };
  }

  async #look(verify: () => Promise<StoreReport>): Promise<StoreReport> {
    this.#assertOpen();
    const report = await verify();
    this.#counters.scrub_damage += report.damage.length;
    return report;
  }

  #readContext(): ReadContext {
    const turns = new Turns(this.#opened.options.host.clock);
    return {
      turns,
      view: () => this.#run.store.view,
      pin: () => this.#pins.hold(this.#run.store.view),
      nextSort: ({ nextSort }) => nextSort,
      readable: () => this.revision,
      epoch: () => this.epoch,
      dataset: (name) => this.#dataset(name),
      assertOpen: () => this.#assertOpen(),
      beginRead: () => {
        this.#assertOpen();
        this.#counters.reads++;
      },
      failed: this.#readFailed,
      pruned: (parts) => {
        const { counts } = this.#opened.sealed.context;
        if (counts !== undefined) counts.pruned += parts;
      },
      reading: (begin, signal) =>
        countedBatches(begin, {
          turns,
          begun: () => {
            this.#counters.reads++;
            return this.#pins.pin(this.#run.store.view);
          },
          step: () => {
            this.#assertOpen();
            throwIfAborted(signal, "the read");
          },
          failed: this.#readFailed,
        }),
    };
  }

  readonly #readFailed = (error: unknown): unknown => {
    this.errors.add(error);
    // The disk failed, or what is on it is damaged.
    if (!isEhdbError(error) || isEhdbError(error, "CORRUPT", "IO_ERROR")) this.#counters.read_errors++;
    return error;
  };

  #assertOrder(name: string, order: DatasetOrder): Dataset {
    const dataset = this.#dataset(name);
    if (dataset.order !== order) throw wrongOrder(dataset, order);
    return dataset;
  }

  #dataset(name: string): Dataset {
    const { datasets } = this.#run.store;
    const dataset = datasets.get(name);
    if (dataset === undefined) throw noDataset(name, datasets);
    return dataset;
  }

  #assertOpen(): void {
    if (this.#closing !== undefined) throw this.#closed();
  }

  #closed(): EhdbError {
    return new EhdbError("CLOSED", "the engine is closed. Open it again", { dir: this.dir });
  }
}
