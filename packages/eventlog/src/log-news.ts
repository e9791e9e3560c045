import type { Clock } from "@ehdb/host";
import type { DurableEngine } from "@ehdb/l0";
import { News } from "./news.ts";

/** Wakes all who follow a log, with one question to its engine however many they are. */
export class LogNews {
  readonly #engine: DurableEngine;
  readonly #news: News;
  #isAsking = false;

  constructor(engine: DurableEngine, clock: Clock) {
    this.#engine = engine;
    this.#news = new News(clock);
  }

  /** Everybody looks again. */
  tell(): void {
    this.#news.tell();
  }

  /** Resolves when more than `revision` can be read, when one of the signals is aborted, or when something else may have changed. */
  async after(revision: number, ...signals: readonly (AbortSignal | undefined)[]): Promise<void> {
    if (this.#engine.revision > revision) return;
    const next = this.#news.next(...signals);
    if (!this.#isAsking) void this.#ask(revision);
    await next;
  }

  async #ask(revision: number): Promise<void> {
    this.#isAsking = true;
    try {
      await this.#engine.news(revision);
    } catch {
      // The engine was closed: whoever looks again meets that by itself.
    }
    this.#isAsking = false;
    this.#news.tell();
  }
}
