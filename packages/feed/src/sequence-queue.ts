import type { PendingMessage } from "./pending-message.ts";

const leastDone = 64;

/** Pending messages in order of their sequences. Those that are done leave it by and by. */
export class SequenceQueue {
  #messages: PendingMessage[] = [];
  #begin = 0;
  /** Those that aren't done. */
  #pending = 0;

  get size(): number {
    return this.#pending;
  }

  /** The earliest that isn't done. */
  get first(): PendingMessage | undefined {
    while (this.#messages[this.#begin]?.state === "done") this.#begin++;
    return this.#messages[this.#begin];
  }

  /** Most come behind all others. */
  add(message: PendingMessage): void {
    this.#pending++;
    let place = this.#messages.length;
    while (place > this.#begin && (this.#messages[place - 1] as PendingMessage).sequence > message.sequence) place--;
    if (place === this.#messages.length) this.#messages.push(message);
    else this.#messages.splice(place, 0, message);
  }

  /** One of them is done. */
  done(): void {
    this.#pending--;
    if (this.#messages.length < 2 * this.#pending + leastDone) return;
    this.#messages = this.#messages.filter(({ state }) => state !== "done");
    this.#begin = 0;
  }
}
