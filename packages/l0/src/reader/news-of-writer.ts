import { join } from "node:path";
import { whenAborted } from "@ehdb/contracts";
import { callInTurns } from "@ehdb/host";
import type { Timer, Watcher } from "@ehdb/host";
import type { ResolvedReaderOptions } from "./options.ts";

interface Waiter {
  readonly revision: number;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Looks for what the writer does, as long as somebody waits for it: when they begin to wait, at each notice, and in any case now and then. */
export class NewsOfWriter {
  readonly #options: ResolvedReaderOptions;
  readonly #refresh: () => Promise<unknown>;
  #waiting: Waiter[] = [];
  #watcher: Watcher | undefined;
  #timer: Timer | undefined;
  #isLooking = false;
  /** What came during a look needs another one: it may have been over with what changed. */
  #mustLookAgain = false;
  #isClosed = false;

  constructor(options: ResolvedReaderOptions, refresh: () => Promise<unknown>) {
    this.#options = options;
    this.#refresh = refresh;
  }

  /** Resolves when `tell` says more than `revision`, at the close or the abort; rejects when a look fails. */
  after(revision: number, signal: AbortSignal | undefined): Promise<void> {
    if (signal?.aborted === true) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const ends =
        <T extends unknown[]>(end: (...given: T) => void) =>
        (...given: T): void => {
          stopWaiting?.();
          end(...given);
        };
      const waiter: Waiter = { revision, resolve: ends(resolve), reject: ends(reject) };
      const abort = (): void => {
        this.#waiting = this.#waiting.filter((one) => one !== waiter);
        resolve();
      };
      const stopWaiting = signal && whenAborted(signal, abort);
      this.#waiting.push(waiter);
      const { host, dir } = this.#options;
      this.#watcher ??= host.files.watch(join(dir, "journal"), () => void this.#look());
      void this.#look();
    });
  }

  tell(revision: number): void {
    const waiting = this.#waiting;
    this.#waiting = waiting.filter((waiter) => waiter.revision >= revision);
    const told = waiting.filter((waiter) => waiter.revision < revision);
    void callInTurns(
      this.#options.host.clock,
      told.map(({ resolve }) => resolve),
    );
  }

  close(): void {
    this.#isClosed = true;
    this.#watcher?.close();
    this.#timer?.cancel();
    for (const { resolve } of this.#waiting.splice(0)) resolve();
  }

  get #isAwaited(): boolean {
    return !this.#isClosed && this.#waiting.length > 0;
  }

  #arm(): void {
    const { host, pollMillis } = this.#options;
    this.#timer ??= host.clock.timer(
      pollMillis,
      () => {
        this.#timer = undefined;
        void this.#look();
      },
      true,
    );
  }

  async #look(): Promise<void> {
    this.#mustLookAgain = true;
    if (this.#isLooking) return;
    this.#isLooking = true;
    while (this.#mustLookAgain && this.#isAwaited) {
      this.#mustLookAgain = false;
      try {
        await this.#refresh();
      } catch (error) {
        for (const { reject } of this.#waiting.splice(0)) reject(error);
      }
    }
    this.#isLooking = false;
    if (this.#isAwaited) this.#arm();
  }
}
