import { EhdbError, refuseUnknown, throwIfAborted } from "@ehdb/contracts";
import type { Batches, DatasetOrder, DatasetSpec, LogDataset, MapDataset } from "@ehdb/contracts";
import type { Dataset } from "../dataset.ts";
import type { Pin } from "../pins.ts";
import { checkSignal, checkWhole } from "../read-options.ts";
import { countedBatches } from "../reading.ts";
import { noDataset, wrongOrder } from "../staged-batch.ts";
import { Turns } from "../turns.ts";
import type { EngineReader, EngineReaderStats } from "./api.ts";
import type { FollowedStore } from "./followed-store.ts";
import type { Moment } from "./moment.ts";
import { NewsOfWriter } from "./news-of-writer.ts";
import type { ResolvedReaderOptions } from "./options.ts";
import { ResumedLog } from "./resumed-log.ts";
import { ResumedMap } from "./resumed-map.ts";
import type { ResumedContext } from "./resumed-reads.ts";

export class OpenEngineReader implements EngineReader {
  readonly #options: ResolvedReaderOptions;
  readonly #followed: FollowedStore;
  readonly #news: NewsOfWriter;
  readonly #reads: ResumedContext;
  #closing: Promise<void> | undefined;

  /** `followed` has had its first look. */
  constructor(options: ResolvedReaderOptions, followed: FollowedStore) {
    this.#options = options;
    this.#followed = followed;
    this.#news = new NewsOfWriter(options, () => this.refresh());
    this.#reads = this.#context();
  }

  get dir(): string {
    return this.#options.dir;
  }

  get storeId(): string {
    return this.#followed.state.store;
  }

  get epoch(): number {
    return this.#followed.moment.epoch;
  }

  get revision(): number {
    return this.#followed.moment.revision;
  }

  get datasets(): readonly DatasetSpec[] {
    return [...this.#followed.moment.store.datasets.values()].map(({ name, order }) => ({ name, order }));
  }

  log(name: string): LogDataset {
    this.#assertOpen();
    this.#assertOrder(name, "by-sort");
    return new ResumedLog(this.#reads, name);
  }

  map(name: string): MapDataset {
    this.#assertOpen();
    this.#assertOrder(name, "by-key");
    return new ResumedMap(this.#reads, name);
  }

  lastRevision(name: string): number {
    this.#assertOpen();
    datasetIn(this.#followed.moment, name);
    return this.#followed.moment.lastRevision(name);
  }

  async refresh(): Promise<number> {
    this.#assertOpen();
    await this.#followed.look();
    this.#news.tell(this.revision);
    return this.revision;
  }

  async news(revision: number, options: { readonly signal?: AbortSignal } = {}): Promise<void> {
    this.#assertOpen();
    checkWhole("revision", revision, 0);
    refuseUnknown(options, ["signal"], "");
    checkSignal(options.signal);
    if (this.revision <= revision) await this.#news.after(revision, options.signal);
  }

  stats(): EngineReaderStats {
    return this.#followed.stats();
  }

  async close(): Promise<void> {
    this.#closing ??= this.#close();
    await this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #close(): Promise<void> {
    this.#news.close();
    await this.#followed.close();
  }

  #context(): ResumedContext {
    const followed = this.#followed;
    const turns = new Turns(this.#options.host.clock);
    const assertOpen = (): void => this.#assertOpen();
    const reading = <T>(
      begin: (pin: Pin) => AsyncGenerator<readonly T[]>,
      signal: AbortSignal | undefined,
      moment: Moment,
    ): Batches<T> =>
      countedBatches(begin, {
        turns,
        begun: () => pinOf(moment),
        failed: nothing,
        step: () => {
          assertOpen();
          throwIfAborted(signal, "the read");
        },
      });
    return {
      now: () => followed.moment,
      hold: () => followed.hold(),
      letGo: (moment) => followed.letGo(moment),
      whyOvertaken: (error, moment) => followed.whyOvertaken(error, moment),
      reading: (begin, signal) => reading(begin, signal, followed.moment),
      at: (moment, revision = moment.revision) => ({
        turns,
        view: () => moment.view,
        pin: () => pinOf(moment),
        nextSort: ({ nextSort }) => nextSort,
        readable: () => revision,
        epoch: () => moment.epoch,
        dataset: (name) => datasetIn(moment, name),
        assertOpen,
        beginRead: assertOpen,
        failed: (error) => error,
        pruned: nothing,
        reading: (begin, signal) => reading(begin, signal, moment),
      }),
    };
  }

  #assertOrder(name: string, order: DatasetOrder): void {
    const dataset = datasetIn(this.#followed.moment, name);
    if (dataset.order !== order) throw wrongOrder(dataset, order);
  }

  #assertOpen(): void {
    if (this.#closing !== undefined)
      throw new EhdbError("CLOSED", "the reader is closed. Open it again", { dir: this.dir });
  }
}

function datasetIn({ store }: Moment, name: string): Dataset {
  const dataset = store.datasets.get(name);
  if (dataset === undefined) throw noDataset(name, store.datasets);
  return dataset;
}

/** Who reads holds the moment: that keeps it, and says how it ends. */
function pinOf({ view }: Moment): Pin {
  return { view, touch: nothing, release: nothing };
}

function nothing(): void {}
