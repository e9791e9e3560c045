import { DueTimes } from "./due-times.ts";
import { Heap } from "./heap.ts";
import type { PendingMessage } from "./pending-message.ts";
import { SequenceQueue } from "./sequence-queue.ts";

/** Pending messages of one key, in a group that keeps their order. */
interface KeyOrder {
  readonly queue: SequenceQueue;
  /** So many of them are out: while there are any, none else goes. */
  out: number;
}

/**
 * All messages of a group that aren't done with, by what they wait for. Each call costs at most the logarithm of their number.
 *
 * A message is in `#due` while it's leased or delayed, and in `#ready` when it can be delivered; in neither while it's read or committed, and while one of its
 * key goes before it.
 */
export class PendingMessages {
  readonly #due = new DueTimes();
  readonly #ready = new Heap<PendingMessage>((a, b) => a.sequence < b.sequence);
  /** Those that weren't replayed. */
  readonly #line = new SequenceQueue();
  readonly #keys = new Map<string, KeyOrder>();
  /** Those that were replayed: they don't hold the committed place. */
  readonly #replayed = new Map<number, PendingMessage>();
  #leased = 0;
  #deliveries = 0;

  get size(): number {
    return this.#line.size + this.#replayed.size;
  }

  /** Under a lease. */
  get leased(): number {
    return this.#leased;
  }

  /** The earliest sequence that holds the committed place. */
  get first(): number | undefined {
    return this.#line.first?.sequence;
  }

  /** When the next lease or delay is over: Infinity for never. */
  get nextDue(): number {
    return this.#due.next;
  }

  get hasReady(): boolean {
    return this.#ready.size > 0;
  }

  get replayed(): ReadonlyMap<number, PendingMessage> {
    return this.#replayed;
  }

  /** A message that waits from now on. */
  add(message: PendingMessage): void {
    if (message.page === undefined) this.#replayed.set(message.sequence, message);
    else this.#line.add(message);
    if (message.key !== undefined) this.#join(message, message.key);
    this.#arrange(message);
  }

  /** A message that goes to a member at once. */
  addLeased(message: PendingMessage, member: string, dueAt: number): void {
    message.state = "reading";
    this.add(message);
    if (message.key !== undefined) this.#order(message, 1);
    this.lease(message, member, dueAt);
  }

  /** It keeps its place among those of its key, from now on. */
  setKey(message: PendingMessage, key: string): void {
    message.key = key;
    this.#join(message, key);
    if (message.state !== "waiting" && message.state !== "done") this.#order(message, 1);
    this.#arrange(message);
  }

  /** The order of keys is given up. */
  forgetKeys(messages: Iterable<PendingMessage>): void {
    this.#keys.clear();
    for (const message of messages) {
      message.key = undefined;
      this.#arrange(message);
    }
  }

  isBehindAnother(key: string): boolean {
    return this.#keys.has(key);
  }

  /** It's delivered to a member, until `dueAt`. */
  lease(message: PendingMessage, member: string, dueAt: number): void {
    message.deliveries++;
    message.delivery = ++this.#deliveries;
    message.member = member;
    message.dueAt = dueAt;
    this.#move(message, "leased");
  }

  /** A lease as it was before a close: nobody knows its delivery. */
  restoreLease(message: PendingMessage, member: string, dueAt: number): void {
    message.deliveries--;
    this.lease(message, member, dueAt);
  }

  /** False when another of its key is out by now. */
  extend(message: PendingMessage, dueAt: number): boolean {
    if (message.state !== "leased" && this.#isHeldBack(message)) return false;
    message.dueAt = dueAt;
    this.#move(message, "leased");
    return true;
  }

  /** Its delivery is over. */
  giveBack(message: PendingMessage, dueAt: number): void {
    message.delivery = 0;
    message.member = "";
    message.dueAt = dueAt;
    this.#move(message, "waiting");
  }

  /** It can be delivered again; its delivery isn't over before it is. */
  #lapse(message: PendingMessage): void {
    message.dueAt = 0;
    this.#move(message, "waiting");
  }

  /** Whether it's acknowledged will be known later. */
  holdForCommit(message: PendingMessage): void {
    this.#move(message, "committing");
  }

  /** It isn't acknowledged: it's leased as it was. */
  release(message: PendingMessage): void {
    this.#move(message, "leased");
  }

  done(message: PendingMessage): void {
    this.#move(message, "done");
    if (message.page === undefined) this.#replayed.delete(message.sequence);
    else this.#line.done();
    const order = this.#orderOf(message);
    if (order === undefined) return;
    order.queue.done();
    if (order.queue.size === 0) this.#keys.delete(message.key as string);
    else this.#goOn(order);
  }

  /** Lets go of what is due. Of leases that are over `mayGoOn` tells whether it's delivered again; the others are done. */
  lapse(now: number, mayGoOn: (message: PendingMessage) => boolean): void {
    if (this.#due.next > now) return;
    for (const message of this.#due.takeDue(now)) {
      if (message.state === "leased" && !mayGoOn(message)) this.done(message);
      else this.#lapse(message);
    }
  }

  /** The earliest ones that can be delivered, at most so many; each is `reading` then. */
  takeReady(most: number): PendingMessage[] {
    const taken: PendingMessage[] = [];
    for (let next = this.#ready.first; next !== undefined && taken.length < most; next = this.#ready.first) {
      this.#move(next, "reading");
      taken.push(next);
    }
    return taken;
  }

  /** It wasn't delivered after all. */
  putBack(message: PendingMessage): void {
    if (message.state === "reading") this.#move(message, "waiting");
  }

  #move(message: PendingMessage, state: PendingMessage["state"]): void {
    const { state: before } = message;
    message.state = state;
    if (isLeased(before) !== isLeased(state)) this.#leased += isLeased(state) ? 1 : -1;
    this.#arrange(message);
    if (isOut(before) !== isOut(state)) this.#order(message, isOut(state) ? 1 : -1);
  }

  /** Puts it where it belongs. */
  #arrange(message: PendingMessage): void {
    if (message.due !== undefined) this.#due.remove(message);
    message.heap?.remove(message);
    if (message.state === "leased") this.#due.add(message);
    else if (message.state !== "waiting" || this.#isHeldBack(message)) return;
    else if (message.dueAt > 0) this.#due.add(message);
    else this.#ready.add(message);
  }

  #isHeldBack(message: PendingMessage): boolean {
    const order = this.#orderOf(message);
    return order !== undefined && (order.out > 0 || order.queue.first !== message);
  }

  #join(message: PendingMessage, key: string): void {
    let order = this.#keys.get(key);
    if (order === undefined) this.#keys.set(key, (order = { queue: new SequenceQueue(), out: 0 }));
    const { first } = order.queue;
    order.queue.add(message);
    // An earlier one takes its place.
    if (first !== undefined) this.#arrange(first);
  }

  /** More or fewer of its key are out. */
  #order(message: PendingMessage, change: number): void {
    const order = this.#orderOf(message);
    if (order === undefined) return;
    order.out += change;
    this.#goOn(order);
  }

  #goOn({ queue }: KeyOrder): void {
    if (queue.first !== undefined) this.#arrange(queue.first);
  }

  #orderOf({ key }: PendingMessage): KeyOrder | undefined {
    return key === undefined ? undefined : this.#keys.get(key);
  }
}

const isLeased = (state: PendingMessage["state"]): boolean => state === "leased" || state === "committing";

/** Nobody else may have it, nor another of its key. */
const isOut = (state: PendingMessage["state"]): boolean => isLeased(state) || state === "reading";
