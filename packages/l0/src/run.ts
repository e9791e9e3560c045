import { EhdbError, MIB } from "@ehdb/contracts";
import type { Clock, Timer } from "@ehdb/host";
import { EngineTime } from "@ehdb/journal";
import type { Journal } from "@ehdb/journal";
import { Acknowledgements } from "./acknowledgements.ts";
import type { EngineState } from "./api.ts";
import type { CommitContext } from "./commit-step.ts";
import type { ContentHash } from "./content-hash.ts";
import type { Counters } from "./counters.ts";
import { isFull } from "./fullness.ts";
import { Heads } from "./heads.ts";
import { Imports } from "./import/imports.ts";
import { defaultPolicy } from "./merge-policy.ts";
import { Merger } from "./merger.ts";
import type { ResolvedOptions } from "./options.ts";
import type { Pins } from "./pins.ts";
import type { Recovered } from "./recovery.ts";
import type { Reserve } from "./reserve.ts";
import type { Sealed } from "./sealed.ts";
import { Sealer } from "./sealer.ts";
import type { Store } from "./store.ts";

/** Segments that an open leaves unsealed: more than full generations take. */
const mostSegments = 8;

/** What a close leaves for the next open to read back: more is sealed first, so that opens cost about the same. */
const mostLeftBytes = MIB;
const mostLeftCommits = 2048;

export interface RunHooks {
  /** Throws when no commit is taken in, whatever the disk says. */
  readonly assertOpen: () => void;
  readonly state: () => EngineState;
  /** A commit was taken in. */
  readonly accepted: () => void;
  /** Commits nothing: a revision for what isn't in the journal. Resolves when it's durable as the mode promises. */
  readonly mark: () => Promise<number>;
  /** What is on disk, or what was to go there, is not what it must be. */
  readonly damaged: (damage: EhdbError) => void;
}

/** One incarnation of the writing side, from a recovery to a close or the next recovery. */
export class Run implements CommitContext {
  readonly journal: Journal;
  readonly store: Store;
  readonly time: EngineTime;
  readonly heads: Heads;
  readonly clock: Clock;
  readonly acknowledgements: Acknowledgements;
  readonly counters: Counters;
  readonly sealer: Sealer;
  readonly merger: Merger;
  readonly imports: Imports;
  readonly #options: ResolvedOptions;
  readonly #hooks: RunHooks;
  readonly #isReadOnly: boolean;
  #ageTimer: Timer | undefined;

  constructor(
    options: ResolvedOptions,
    journal: Journal,
    sealed: Sealed,
    recovered: Recovered,
    counters: Counters,
    pins: Pins,
    hash: ContentHash,
    reserve: Reserve,
    hooks: RunHooks,
  ) {
    const { host, dedupeWindow } = options;
    const { store } = recovered;
    this.#options = options;
    this.#hooks = hooks;
    this.#isReadOnly = recovered.isReadOnly;
    this.journal = journal;
    this.store = store;
    this.counters = counters;
    this.clock = host.clock;
    this.time = new EngineTime(host.clock, recovered.time);
    this.heads = new Heads(store, dedupeWindow, counters, pins);
    this.acknowledgements = new Acknowledgements(journal, options.host.clock);
    this.merger = new Merger({
      host,
      store,
      sealed,
      pins,
      counters,
      policy: defaultPolicy,
      dedupeWindow,
      historyRevisions: options.historyRevisions,
      isBackground: options.background,
      isStopped: () => hooks.state() !== "open" || reserve.isShort,
    });
    this.sealer = new Sealer({
      host,
      journal,
      store,
      heads: this.heads,
      counters,
      sealed,
      fullness: options,
      pins,
      merger: this.merger,
      reserve,
      isReadOnly: recovered.isReadOnly,
      damaged: hooks.damaged,
    });
    this.imports = new Imports({
      options,
      store,
      sealed,
      counters,
      pins,
      time: this.time,
      merger: this.merger,
      assertTakes: () => this.assertTakes(),
      mark: hooks.mark,
      seal: (revision) => this.#sealThrough(revision, sealed),
      hash,
    });
    reserve.onWhole = () => this.merger.schedule();
    // Each open that committed left a segment: short lives must not make the next open longer and longer.
    if (journal.recovery.segments > mostSegments) this.freeze();
    this.#watchAge();
    this.sealer.schedule();
    this.merger.schedule();
  }

  assertTakes(): void {
    this.#hooks.assertOpen();
    const { dir } = this.journal;
    const state = this.#hooks.state();
    if (state === "poisoned") {
      const message =
        "the disk failed, and what was on its way may be there or not: nothing is committed before reopen()";
      throw new EhdbError("POISONED", message, { dir });
    }
    if (state === "read-only") {
      const message =
        "the disk was full when the store was opened, so it can only be read. Free some space, then call reopen()";
      throw new EhdbError("READ_ONLY", message, { dir });
    }
  }

  accepted(): void {
    const { active } = this.store;
    if (isFull(active, this.#options)) this.freeze();
    else if (active.begunMillis === undefined) {
      active.begunMillis = this.#options.host.clock.monotonic();
      this.#watchAge();
    }
    this.#hooks.accepted();
  }

  room(): Promise<void> | undefined {
    return this.sealer.room();
  }

  /** What was committed so far goes on to be sealed. */
  freeze(): void {
    if (this.store.active.isEmpty) return;
    this.store.freeze();
    this.#ageTimer?.cancel();
    this.#ageTimer = undefined;
    this.sealer.schedule();
  }

  /** Seals what would make the next open slow. What goes wrong is left to the next open. */
  async sealBeforeClose(): Promise<void> {
    const { store, sealer, journal } = this;
    const left = { sealMaxBytes: mostLeftBytes, sealMaxCommits: mostLeftCommits };
    if (this.#isReadOnly || journal.state !== "open" || !(store.frozenCount > 0 || isFull(store.active, left))) return;
    this.freeze();
    try {
      while (store.frozenCount > 0) await sealer.progress();
    } catch {
      // Counted by the sealer.
    }
  }

  /** Waits for what runs in the background, and begins nothing more. */
  async end(reason: unknown): Promise<void> {
    await this.imports.stop(reason);
    this.#ageTimer?.cancel();
    this.#ageTimer = undefined;
    await this.sealer.stop(reason);
    await this.merger.stop(reason);
  }

  /** Freezes what is older than it may get; false when nothing is. */
  freezeAged(): boolean {
    const millis = this.#untilAged();
    if (millis === undefined || millis > 0) return false;
    this.freeze();
    return true;
  }

  async #sealThrough(revision: number, sealed: Sealed): Promise<void> {
    this.freeze();
    while (sealed.state.sealedThrough < revision) await this.sealer.progress();
  }

  #watchAge(): void {
    const { host, background } = this.#options;
    const millis = this.#untilAged();
    if (!background || millis === undefined) return;
    this.#ageTimer ??= host.clock.timer(Math.min(Math.max(0, millis), 2 ** 31 - 1), () => {
      this.#ageTimer = undefined;
      this.freeze();
    });
  }

  #untilAged(): number | undefined {
    const { host, sealMaxAgeSeconds } = this.#options;
    const { begunMillis } = this.store.active;
    if (sealMaxAgeSeconds === undefined || begunMillis === undefined) return undefined;
    return begunMillis + sealMaxAgeSeconds * 1000 - host.clock.monotonic();
  }
}
