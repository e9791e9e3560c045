import { Heap } from "./heap.ts";
import type { HeapItem } from "./heap.ts";
import type { PendingMessage } from "./pending-message.ts";

/** So many that have left may stay. */
const leastGone = 64;

/** Messages that are due at the same time: those of one fetch, or one by itself. */
export interface DueTime extends HeapItem<DueTime> {
  readonly dueAt: number;
  /** With some that have left it since. */
  messages: PendingMessage[];
  /** So many are in it still. */
  size: number;
}

/** What is due when. A message leaves it at the cost of a subtraction, unless it's the last one of its time. */
export class DueTimes {
  readonly #times = new Heap<DueTime>((a, b) => a.dueAt < b.dueAt);
  #last: DueTime | undefined;

  /** Infinity for never. */
  get next(): number {
    return this.#times.first?.dueAt ?? Infinity;
  }

  add(message: PendingMessage): void {
    const { dueAt } = message;
    let time = this.#last;
    if (time?.dueAt !== dueAt || time.heap === undefined) {
      time = { dueAt, messages: [], size: 0, heap: undefined, heapPlace: -1 };
      this.#times.add(time);
      this.#last = time;
    }
    time.messages.push(message);
    time.size++;
    message.due = time;
  }

  remove(message: PendingMessage): void {
    const time = message.due as DueTime;
    message.due = undefined;
    time.size--;
    if (time.size === 0) this.#times.remove(time);
    else if (time.messages.length > 2 * time.size + leastGone)
      time.messages = time.messages.filter(({ due }) => due === time);
  }

  /** Takes out what is due by now, in order of its times. */
  takeDue(now: number): PendingMessage[] {
    const taken: PendingMessage[] = [];
    for (let time = this.#times.first; time !== undefined && time.dueAt <= now; time = this.#times.first) {
      this.#times.remove(time);
      for (const message of time.messages) {
        if (message.due !== time) continue;
        message.due = undefined;
        taken.push(message);
      }
    }
    return taken;
  }
}
