import { isEhdbError } from "@ehdb/contracts";
import { giveUp, goBefore, jobGate } from "@ehdb/host";
import type { Host, JobGate, Timer } from "@ehdb/host";
import type { Counters } from "./counters.ts";
import type { Dataset } from "./dataset.ts";
import { Erased } from "./erased.ts";
import { mostlyErased, nextMerge } from "./merge-policy.ts";
import type { MergePolicy, MergeRange } from "./merge-policy.ts";
import type { Pins } from "./pins.ts";
import type { Sealed } from "./sealed.ts";
import type { Store } from "./store.ts";
import { logParts, mapParts } from "./view.ts";
import type { LogPart } from "./part/log-part.ts";
import type { MapPart } from "./part/map-part.ts";

/** After an error: twice as long each time. */
const leastRetryMillis = 1000;
const mostRetryMillis = 64_000;

/** Parts of a dataset that wait to be merged before others make room for that. */
const fewWaiting = 32;

/** Of a log whose size is limited a part takes at most one in so many of what is kept. */
const partsOfKept = 4;

export interface MergerContext {
  readonly host: Host;
  readonly store: Store;
  readonly sealed: Sealed;
  readonly pins: Pins;
  readonly counters: Counters;
  readonly policy: MergePolicy;
  readonly dedupeWindow: number;
  /** Of a map: newer revisions than the newest minus so many keep all that they wrote. */
  readonly historyRevisions: number;
  /** Whether merges are begun without being asked for. */
  readonly isBackground: boolean;
  /** Nothing may be written: the disk failed, or the store can only be read. */
  readonly isStopped: () => boolean;
}

/** Makes fewer parts of many, one merge at a time, in another thread; and raises floors. What it changes is durable before it counts. */
export class Merger {
  readonly #context: MergerContext;
  readonly #erased: Erased;
  #lane: Promise<void> = Promise.resolve();
  /** Floors wait for each other only: a merge may take long, and meanwhile what they let go would grow. */
  #floors: Promise<void> = Promise.resolve();
  /** Datasets that can't be merged. */
  readonly #unmergeable: Set<number> = new Set();
  #isScheduled = false;
  #gate: JobGate | undefined;
  #before: (() => void)[] = [];
  #waiting = 0;
  #retry: Timer | undefined;
  #retryMillis = leastRetryMillis;
  #end: unknown;

  constructor(context: MergerContext) {
    this.#context = context;
    this.#erased = new Erased(context.store, context.host.clock);
  }

  /** There are other parts than before. */
  schedule(): void {
    if (!this.#context.isBackground || this.#isScheduled || this.#end !== undefined || this.#retry !== undefined)
      return;
    this.#isScheduled = true;
    void this.#inLane(async () => {
      this.#isScheduled = false;
      // The merge before it failed.
      if (this.#retry !== undefined) return;
      // Whoever waits for the lane comes before the next round: under constant load there is always something to merge.
      if ((await this.#mergeRound()) > 0) this.schedule();
    }).catch(() => this.#retryLater());
  }

  /** Merges all that the policy asks for; returns how many merges that were. */
  runPending(): Promise<number> {
    return this.#inLane(() => this.#mergeAll());
  }

  /** Makes one part of all that a dataset has. */
  full(dataset: Dataset, { keepHistory = true }: { readonly keepHistory?: boolean } = {}): Promise<void> {
    return this.#inLane(async () => {
      const parts = this.#parts(dataset);
      if (parts.length === 0) return;
      if (!keepHistory && dataset.order === "by-key") await this.#raiseMapFloor(dataset, 0);
      await this.#merge(dataset, { from: 0, to: parts.length - 1 });
    });
  }

  /** What lies below can't be read any more once that is durable, and then goes. */
  raiseFloor(dataset: Dataset, floor: number): Promise<void> {
    const raised = this.#floors.then(async () => {
      if (this.#end !== undefined) throw this.#end as Error;
      if (floor <= dataset.floor) return;
      await this.#recordFloor(dataset, floor);
      dataset.floor = floor;
      this.schedule();
    });
    this.#floors = raised.catch(() => undefined);
    return raised;
  }

  /**
   * By how many parts merges are behind: more than a few of a dataset were never merged, and could be. 0 when they are not to be waited for:
   * somebody else drives them, or they fail.
   */
  get behind(): number {
    const { isBackground, isStopped, store, sealed, policy } = this.#context;
    if (!isBackground || this.#end !== undefined || this.#retry !== undefined || isStopped()) return 0;
    let most = fewWaiting;
    for (const dataset of store.byId.values()) {
      const parts = this.#parts(dataset).map((part) => part.meta);
      const waiting = parts.filter(({ level }) => level === 0).length;
      if (waiting <= most || this.#unmergeable.has(dataset.id)) continue;
      const meta = sealed.dataset(dataset.id);
      if (meta !== undefined && nextMerge(meta, parts, keeping(policy, dataset)) !== undefined) most = waiting;
    }
    return most - fewWaiting;
  }

  /** A seal goes first: a merge that runs stands still until it's told otherwise. Not when merges are behind. */
  goBefore(): () => void {
    if (!this.#context.host.workers.inThreads || this.behind > 0) return () => undefined;
    this.#waiting++;
    if (this.#gate !== undefined) this.#before.push(goBefore(this.#gate));
    return () => {
      this.#waiting--;
      if (this.#waiting === 0) for (const done of this.#before.splice(0)) done();
    };
  }

  /** Begins nothing more, gives up what runs, and resolves when nothing does. */
  async stop(reason: unknown): Promise<void> {
    this.#end ??= reason;
    this.#retry?.cancel();
    this.#retry = undefined;
    if (this.#gate !== undefined) giveUp(this.#gate);
    for (const done of this.#before.splice(0)) done();
    await Promise.all([this.#lane, this.#floors]);
  }

  #inLane<T>(work: () => Promise<T>): Promise<T> {
    const run = this.#lane.then(() => {
      if (this.#end !== undefined) throw this.#end as Error;
      return work();
    });
    this.#lane = run.then(
      () => undefined,
      () => undefined,
    );
    return run;
  }

  async #mergeAll(): Promise<number> {
    let merges = 0;
    for (let round = await this.#mergeRound(); round > 0; round = await this.#mergeRound()) merges += round;
    return merges;
  }

  /** Of each dataset at most one, so that none waits for all that another has to merge. */
  async #mergeRound(): Promise<number> {
    let merges = 0;
    for (const dataset of this.#context.store.byId.values()) if (await this.#mergeNext(dataset)) merges++;
    return merges;
  }

  /** False when nothing is due, or may be done. */
  async #mergeNext(dataset: Dataset): Promise<boolean> {
    const { policy, sealed, isStopped } = this.#context;
    if (this.#end !== undefined || isStopped() || this.#unmergeable.has(dataset.id)) return false;
    const meta = sealed.dataset(dataset.id);
    const parts = this.#parts(dataset).map((part) => part.meta);
    const range =
      (meta && nextMerge(meta, parts, keeping(policy, dataset))) ??
      (dataset.order === "by-sort" ? mostlyErased(parts, await this.#erased.in(dataset), policy) : undefined);
    if (range === undefined) return false;
    await this.#merge(dataset, range);
    return true;
  }

  #parts(dataset: Dataset): readonly (LogPart | MapPart)[] {
    const { view } = this.#context.store;
    return dataset.order === "by-sort" ? logParts(view, dataset) : mapParts(view, dataset);
  }

  async #merge(dataset: Dataset, { from, to }: MergeRange): Promise<void> {
    const { store, sealed, pins, counters, historyRevisions } = this.#context;
    const isMap = dataset.order === "by-key";
    if (isMap) await this.#raiseMapFloor(dataset, historyRevisions);
    const parts = this.#parts(dataset);
    const inputs = parts.slice(from, to + 1);
    try {
      const { output, loss } = await this.#run(dataset, inputs, {
        older: parts.slice(0, from),
        newer: parts.slice(to + 1),
      });
      const meta = sealed.dataset(dataset.id);
      await sealed.record({
        remove: inputs.map((part) => part.meta.id),
        ...(output === undefined ? {} : { add: [output.meta] }),
        datasets: [
          {
            ...dataset.identity,
            superseded: (meta?.superseded ?? 0) + loss.superseded,
            erased: (meta?.erased ?? 0) + loss.erased,
            dropped: (meta?.dropped ?? 0) + loss.dropped,
          },
        ],
      });
      this.#retryMillis = leastRetryMillis;
      const version = store.merged(dataset, inputs, output);
      counters.merges++;
      counters.parts_merged += inputs.length;
      counters.merged_bytes += output?.meta.fileBytes ?? 0;
      counters.records_superseded += loss.superseded;
      counters.records_erased += loss.erased;
      counters.records_dropped += loss.dropped;
      if (output === undefined || output.meta.records === 0) counters.parts_dropped += inputs.length;
      for (const part of inputs) {
        sealed.keep(part);
        pins.retire(version, () => void sealed.discard(part));
      }
    } catch (error) {
      this.#failed(dataset, error);
      throw isEhdbError(error, "ABORTED") && this.#end !== undefined ? (this.#end as Error) : error;
    }
  }

  async #run(
    dataset: Dataset,
    inputs: readonly (LogPart | MapPart)[],
    { older, newer }: Record<"older" | "newer", readonly (LogPart | MapPart)[]>,
  ): ReturnType<Sealed["mergeParts"]> {
    this.#gate = jobGate();
    for (let i = 0; i < this.#waiting; i++) this.#before.push(goBefore(this.#gate));
    try {
      return await this.#context.sealed.mergeParts(dataset, {
        inputs,
        older,
        erasers: newer.filter(({ meta }) => meta.erasures > 0),
        firstKnownSort: dataset.nextSort - this.#context.dedupeWindow,
        gate: this.#gate,
      });
    } finally {
      this.#gate = undefined;
      this.#before = [];
    }
  }

  /** It's durable before a merge goes by it. */
  async #raiseMapFloor(dataset: Dataset, historyRevisions: number): Promise<void> {
    const { sealed } = this.#context;
    const floor = Math.max(0, sealed.state.sealedThrough - historyRevisions);
    if (floor <= dataset.floor) return;
    await this.#recordFloor(dataset, floor);
    dataset.floor = floor;
  }

  async #recordFloor(dataset: Dataset, floor: number): Promise<void> {
    const { sealed } = this.#context;
    await sealed.record({ datasets: [{ ...dataset.identity, floor }] });
  }

  /** What is damaged or can't be explained isn't tried again before the next open: nothing has changed, and reads say it as well. */
  #failed(dataset: Dataset, error: unknown): void {
    if (isEhdbError(error, "ABORTED")) return;
    this.#context.counters.merge_failed++;
    if (isEhdbError(error, "CORRUPT", "UNEXPECTED")) this.#unmergeable.add(dataset.id);
  }

  #retryLater(): void {
    if (this.#end !== undefined) return;
    this.#retry ??= this.#context.host.clock.timer(this.#retryMillis, () => {
      this.#retry = undefined;
      this.schedule();
    });
    this.#retryMillis = Math.min(2 * this.#retryMillis, mostRetryMillis);
  }
}

/** Retention lets whole parts go: one that holds most of what is kept would make it keep far more or far less. */
function keeping(policy: MergePolicy, { keptBytes }: Dataset): MergePolicy {
  return { ...policy, maxLogBytes: Math.min(policy.maxLogBytes, keptBytes / partsOfKept) };
}
