import { EhdbError, isEhdbError } from "@ehdb/contracts";
import type { Host, Timer } from "@ehdb/host";
import type { Journal } from "@ehdb/journal";
import type { Counters } from "./counters.ts";
import type { Dataset } from "./dataset.ts";
import type { Fullness } from "./fullness.ts";
import type { Generation } from "./generation.ts";
import type { Heads } from "./heads.ts";
import { diskError } from "./manifest/disk-error.ts";
import type { DatasetEdit, PartMeta } from "./meta.ts";
import type { LogPart } from "./part/log-part.ts";
import type { MapPart } from "./part/map-part.ts";
import type { Merger } from "./merger.ts";
import type { Pins } from "./pins.ts";
import type { Reserve } from "./reserve.ts";
import type { Sealed } from "./sealed.ts";
import { SealPace } from "./seal-pace.ts";
import type { Store } from "./store.ts";

const retryMillis = 250;
/** Heads remembered in one turn of the loop. */
const rememberedInTurn = 500;

export interface SealerContext {
  readonly host: Host;
  readonly journal: Journal;
  readonly store: Store;
  readonly heads: Heads;
  readonly counters: Counters;
  readonly sealed: Sealed;
  readonly fullness: Fullness;
  readonly pins: Pins;
  readonly merger: Merger;
  readonly reserve: Reserve;
  readonly isReadOnly: boolean;
  /** Nothing can be sealed any more. */
  readonly damaged: (damage: EhdbError) => void;
}

/**
 * Turns frozen generations into parts, oldest first, one group at a time, in the background: parts and their directory are synced, then
 * the manifest names them, then memory and journal let go of what they hold.
 */
export class Sealer {
  readonly #context: SealerContext;
  #running: Promise<void> | undefined;
  #waiters: { resolve: () => void; reject: (error: unknown) => void }[] = [];
  /** Somebody asked for a seal: other than commits he doesn't wait for merges. */
  #isUrgent = false;
  /** Nobody does any more. */
  #isHurried = false;
  /** Why the last try failed. */
  #failure: unknown;
  #retry: Timer | undefined;
  #isAwaited = false;
  readonly #pace: SealPace;
  #pause: Timer | undefined;
  #isPauseAwaited = false;
  /** Why nothing is begun any more: it was stopped, or what failed can't be tried again. */
  #end: unknown;

  constructor(context: SealerContext) {
    this.#context = context;
    this.#pace = new SealPace(context.host.clock, context.fullness);
  }

  get failure(): unknown {
    return this.#failure;
  }

  /** Something was frozen. */
  schedule(): void {
    if (this.#end !== undefined || this.#running !== undefined || this.#retry !== undefined) return;
    const { store, isReadOnly } = this.#context;
    if (store.frozenCount === 0 || isReadOnly) return;
    // Commits that wait are many.
    if (this.#isPauseAwaited && !this.#isUrgent && !this.#isHurried) return;
    const pauseMillis = this.#pauseMillis();
    if (pauseMillis > 0) return this.#pauseFor(pauseMillis);
    this.#endPause();
    this.#running = this.#run().finally(() => {
      this.#running = undefined;
      this.#wake();
      this.schedule();
    });
  }

  /** Why commits are refused until a try succeeds. */
  get stall(): unknown {
    return this.#pace.isTooMuch(this.#context.store.frozen) ? this.#failure : undefined;
  }

  /** What a commit waits for when too much waits to be sealed; throws why that doesn't go on. */
  room(): Promise<void> | undefined {
    if (!this.#pace.isTooMuch(this.#context.store.frozen)) return undefined;
    if (this.#failure !== undefined) throw stalled(this.#failure);
    return this.#wait(false);
  }

  /** The end of the next group, or of the next failing try. */
  progress(): Promise<void> {
    return this.#wait(true);
  }

  #wait(isUrgent: boolean): Promise<void> {
    if (this.#end !== undefined) return Promise.reject(stalled(this.#end));
    return new Promise((resolve, reject) => {
      this.#waiters.push({ resolve, reject });
      this.#isUrgent ||= isUrgent;
      this.schedule();
      if (this.#retry !== undefined && !this.#isAwaited) this.#retryLater(true);
    });
  }

  /** From here on nothing waits, for merges or for more to seal: the engine closes. */
  hurry(): void {
    this.#isHurried = true;
    this.schedule();
  }

  /** Nothing more is begun; resolves when nothing runs. */
  async stop(reason: unknown): Promise<void> {
    this.#end ??= reason;
    this.#retry?.cancel();
    this.#retry = undefined;
    this.#endPause();
    await this.#running;
    for (const { reject } of this.#waiters.splice(0)) reject(reason);
  }

  async #run(): Promise<void> {
    try {
      const group = this.#group();
      const { journal, merger, reserve } = this.#context;
      await journal.durable((group.at(-1) as Generation).lastRevision);
      if (this.#end !== undefined) return;
      const letMerge = merger.goBefore();
      const letReserve = reserve.holdOff();
      const done = this.#pace.begin();
      try {
        await this.#seal(group);
        done();
        letReserve();
      } catch (error) {
        letReserve(error);
        throw error;
      } finally {
        letMerge();
      }
      merger.schedule();
      this.#failure = undefined;
    } catch (error) {
      this.#failed(error);
    }
  }

  /** The oldest frozen generations, as many as make one of the size that was asked for. */
  #group(): Generation[] {
    const { store, fullness } = this.#context;
    const group: Generation[] = [];
    let bytes = 0;
    for (const generation of store.frozen) {
      bytes += generation.chunks.bytes;
      if (group.length > 0 && bytes > fullness.sealMaxBytes) break;
      group.push(generation);
    }
    return group;
  }

  async #seal(group: readonly Generation[]): Promise<void> {
    const { store, sealed, counters, journal, pins } = this.#context;
    const last = group.at(-1) as Generation;
    const made: (LogPart | MapPart)[] = [];
    const { syncFailures } = sealed;
    try {
      for (const dataset of store.byId.values()) {
        if (group.some(({ logs, maps }) => logs.has(dataset.id) || maps.has(dataset.id))) {
          made.push(await sealed.writePart(dataset, group));
        }
      }
      if (made.length > 0) await sealed.syncParts(syncFailures);
    } catch (error) {
      for (const part of made) await sealed.discard(part);
      throw error;
    }
    for (const dataset of store.byId.values()) await this.#remember(dataset, group);
    const metas = made.map(({ meta }) => meta);
    await sealed.record({
      add: metas,
      sealedThrough: last.lastRevision,
      datasets: editsOf(store, group, metas),
      time: last.commits.timeOf(last.lastRevision),
    });
    store.sealed(group.length, made);
    pins.swapped();
    counters.seals++;
    counters.sealed_bytes += made.reduce((sum, { meta }) => sum + meta.fileBytes, 0);
    // What isn't dropped now is dropped with the next seal.
    void journal.dropBefore(last.lastRevision + 1).then(sealed.changed, () => undefined);
  }

  /** The next commits under the same keys needn't look into the parts. */
  async #remember(dataset: Dataset, group: readonly Generation[]): Promise<void> {
    const { host, heads } = this.#context;
    dataset.fills++;
    for (const { logs, maps } of group) {
      let batch: [string, number][] = [];
      for (const head of logs.get(dataset.id)?.lastVersions() ?? maps.get(dataset.id)?.heads() ?? []) {
        batch.push(head);
        if (batch.length < rememberedInTurn) continue;
        heads.remember(dataset, batch);
        batch = [];
        await host.clock.yield();
      }
      heads.remember(dataset, batch);
    }
    dataset.fills++;
  }

  #failed(error: unknown): void {
    const { journal, counters, damaged } = this.#context;
    counters.seal_failed++;
    if (isEhdbError(error, "CORRUPT", "UNEXPECTED")) {
      const found = damage(error);
      this.#failure = found;
      this.#end ??= found;
      damaged(found);
    } else {
      this.#failure = diskError(error, "Sealing", journal.dir);
      if (isEhdbError(error, "OUTCOME_UNKNOWN", "POISONED", "CLOSED")) this.#end ??= error;
    }
    if (this.#end !== undefined) return;
    this.#retryLater(false);
  }

  #pauseMillis(): number {
    if (this.#isUrgent || this.#isHurried) return 0;
    const { merger, store } = this.#context;
    const behindMillis = this.#pace.behindMillis(() => merger.behind);
    return this.#waiters.length > 0 ? behindMillis : Math.max(behindMillis, this.#pace.pauseMillis(store.frozen));
  }

  /** What nobody waits for doesn't keep the process; a commit does. */
  #pauseFor(millis: number): void {
    const isAwaited = this.#waiters.length > 0;
    if (this.#pause !== undefined && !isAwaited) return;
    this.#endPause();
    this.#isPauseAwaited = isAwaited;
    const over = (): void => {
      this.#endPause();
      this.schedule();
    };
    this.#pause = this.#context.host.clock.timer(millis, over, isAwaited);
  }

  #endPause(): void {
    this.#pause?.cancel();
    this.#pause = undefined;
    this.#isPauseAwaited = false;
  }

  /** A store that nobody uses doesn't keep the process; whoever waits for it does. */
  #retryLater(isAwaited: boolean): void {
    this.#retry?.cancel();
    this.#isAwaited = isAwaited;
    const retry = (): void => {
      this.#retry = undefined;
      this.schedule();
    };
    this.#retry = this.#context.host.clock.timer(retryMillis, retry, isAwaited);
  }

  #wake(): void {
    this.#isUrgent = false;
    for (const { resolve, reject } of this.#waiters.splice(0)) {
      if (this.#failure === undefined) resolve();
      else reject(stalled(this.#failure));
    }
  }
}

/** What the group has moved: of each dataset its last revision, of a log its next position. */
function editsOf(store: Store, group: readonly Generation[], made: readonly PartMeta[]): DatasetEdit[] {
  return made.map(({ dataset: id, lastRevision }) => {
    const { identity } = store.byId.get(id) as Dataset;
    const table = group.findLast(({ logs }) => logs.has(id))?.logs.get(id);
    return { ...identity, lastRevision, ...(table === undefined ? {} : { nextSort: table.nextSort }) };
  });
}

function stalled(cause: unknown): unknown {
  if (cause instanceof EhdbError) return cause;
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new EhdbError(
    "IO_ERROR",
    `sealing doesn't go on (${reason}), and what it would free is needed. See to the disk; it's tried again`,
    {},
    cause,
  );
}

function damage(cause: EhdbError): EhdbError {
  const message = `what was committed can't be sealed (${cause.message}): nothing more is taken in, and reads go on. Keep a copy of the directory, and report it with the cause`;
  return new EhdbError("CORRUPT", message, cause.data, cause);
}
