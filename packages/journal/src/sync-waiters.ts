import { deferred } from "./deferred.ts";
import type { Deferred } from "./deferred.ts";

interface SyncWaiter {
  readonly sequence: number;
  readonly waiter: Deferred<void>;
}

/** Those who wait for a sequence to be durable, in the order of their sequences. */
export class SyncWaiters {
  #list: SyncWaiter[] = [];
  #head = 0;

  /** `sequence` is at or above every one added before: batches are written in order. */
  push(sequence: number, waiter: Deferred<void>): void {
    this.#list.push({ sequence, waiter });
  }

  /** Joins whoever waits for `sequence` or more, so as to wait no longer than needed. */
  wait(sequence: number): Promise<void> {
    let at = this.#list.length;
    while (at > this.#head && (this.#list[at - 1] as SyncWaiter).sequence >= sequence) at--;
    const found = this.#list[at];
    if (found?.sequence === sequence) return found.waiter.promise;
    const waiter = deferred<void>();
    this.#list.splice(at, 0, { sequence, waiter });
    return waiter.promise;
  }

  settle(durable: number): void {
    while (this.#head < this.#list.length && (this.#list[this.#head] as SyncWaiter).sequence <= durable) {
      (this.#list[this.#head++] as SyncWaiter).waiter.resolve();
    }
    if (this.#head < this.#list.length && this.#head < 1024) return;
    this.#list = this.#list.slice(this.#head);
    this.#head = 0;
  }

  rejectAll(error: unknown): void {
    const list = this.#list.slice(this.#head);
    this.#list = [];
    this.#head = 0;
    for (const { waiter } of list) waiter.reject(error);
  }
}
