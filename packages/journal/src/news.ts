import { deferred } from "./deferred.ts";
import type { Deferred } from "./deferred.ts";

/** One event that many wait for, again and again. */
export class News {
  #next: Deferred<void> | undefined;

  get awaited(): boolean {
    return this.#next !== undefined;
  }

  /** Resolves at the next announcement. */
  wait(): Promise<void> {
    this.#next ??= deferred();
    return this.#next.promise;
  }

  announce(): void {
    const next = this.#next;
    this.#next = undefined;
    next?.resolve();
  }

  fail(error: unknown): void {
    const next = this.#next;
    this.#next = undefined;
    next?.reject(error);
  }
}
