import type { FeedSource, FeedState, GroupInfo } from "@ehdb/contracts";
import type { Clock } from "@ehdb/host";
import type { GroupSettings } from "./call-options.ts";
import type { GroupHead, Parked } from "./group-format.ts";
import { GroupRecords } from "./group-records.ts";
import { ParkingLot } from "./parking-lot.ts";
import { PendingMessage } from "./pending-message.ts";
import { PendingMessages } from "./pending-messages.ts";
import { Saver } from "./saver.ts";
import { subjectFilter } from "./subjects.ts";
import type { SubjectFilter } from "./subjects.ts";
import { Waiting } from "./waiting.ts";

export interface GroupContext<R> {
  readonly source: FeedSource<R>;
  readonly state: FeedState;
  readonly clock: Clock;
  /** CLOSED. */
  readonly assertOpen: () => void;
}

/** Pages that may wait to be written before a fetch waits for them. */
const mostDirtyPages = 1_024;

/** All that a group is, in memory: what serves its calls, and what the state is written from. */
export class GroupContents<R> {
  readonly id: number;
  readonly name: string;
  readonly context: GroupContext<R>;
  readonly pending: PendingMessages = new PendingMessages();
  readonly lot: ParkingLot = new ParkingLot();
  readonly records: GroupRecords;
  readonly waiting: Waiting = new Waiting();
  readonly #saver: Saver;
  #settings: GroupSettings;
  /** What its filter wants; without one everything. */
  wants: SubjectFilter | undefined;
  isPaused: boolean;
  next: number;
  epoch: number;
  generation: number;
  /** Nothing of it is written any more. */
  isDeleted = false;
  /** Messages whose keys aren't known, in a group in their order. */
  unkeyed: Set<PendingMessage> = new Set();
  #stateEpoch: number;

  constructor(context: GroupContext<R>, id: number, head: GroupHead) {
    this.context = context;
    this.id = id;
    this.name = head.name;
    this.#settings = head.settings;
    this.wants = wantedBy(head.settings);
    this.isPaused = head.isPaused;
    this.next = head.next;
    this.epoch = head.epoch;
    this.generation = head.generation;
    this.#stateEpoch = context.state.epoch;
    const { pending, lot } = this;
    this.records = new GroupRecords({ id, head: () => this.#head, pending, lot });
    this.#saver = new Saver(context.state, () => this.records.take());
  }

  get settings(): GroupSettings {
    return this.#settings;
  }

  set settings(settings: GroupSettings) {
    this.#settings = settings;
    this.wants = wantedBy(settings);
  }

  get isInOrder(): boolean {
    return this.settings.order === "key";
  }

  /** More than may wait is waiting to be written, or it couldn't be written. */
  get mustSave(): boolean {
    return this.#saver.hasFailed || this.records.pages.dirtyCount > mostDirtyPages;
  }

  /** Resolves when all that has changed is durable. */
  save(): Promise<void> {
    if (this.isDeleted) return this.#saver.settled();
    const { epoch } = this.context.state;
    if (epoch !== this.#stateEpoch) {
      this.#stateEpoch = epoch;
      this.records.touchAll();
    }
    return this.#saver.save();
  }

  /** Takes all of it out of the state. */
  async erase(): Promise<void> {
    await this.#saver.settled();
    const changes = this.records.all();
    await new Saver(this.context.state, () => ({ changes, putBack: () => undefined })).save();
  }

  /** Leases and delays that are over by now. What was delivered too often is parked. */
  lapse(): void {
    const now = this.context.clock.now();
    this.pending.lapse(now, (message) => {
      if (message.deliveries < this.settings.maxDeliver) return true;
      this.#toTheLot(message, `its lease was over after ${message.deliveries} deliveries`, message.dueAt);
      return false;
    });
  }

  lease(message: PendingMessage, member: string, dueAt: number): void {
    this.pending.lease(message, member, dueAt);
    this.records.touch(message);
  }

  addNew(sequence: number, key: string | undefined): PendingMessage {
    const page = this.records.pages.at(sequence);
    const message = new PendingMessage(sequence, page, key);
    this.records.pages.add(message, page);
    this.records.touch(message);
    return message;
  }

  giveBack(message: PendingMessage, delayMillis: number): void {
    this.pending.giveBack(message, delayMillis > 0 ? this.context.clock.now() + delayMillis : 0);
    this.records.touch(message);
    this.waiting.tell();
  }

  /** Nobody got it. */
  takeBack(message: PendingMessage): void {
    message.deliveries--;
    this.giveBack(message, 0);
  }

  extend(message: PendingMessage, dueAt: number): boolean {
    this.records.touch(message);
    return this.pending.extend(message, dueAt);
  }

  /** It's done with. */
  remove(message: PendingMessage): void {
    this.pending.done(message);
    this.#forget(message);
    this.#doneAside(message);
    this.waiting.tell();
  }

  park(message: PendingMessage, reason: string): void {
    this.pending.done(message);
    this.#toTheLot(message, reason, this.context.clock.now());
    this.waiting.tell();
  }

  /** It's delivered again, as if it never had been. */
  replay(sequence: number, { key }: Parked): void {
    this.lot.remove(sequence);
    const message = new PendingMessage(sequence, undefined, this.isInOrder ? key : undefined);
    this.pending.add(message);
    if (this.isInOrder && key === undefined) this.unkeyed.add(message);
    this.records.touchAside(sequence);
    this.waiting.tell();
  }

  discard(sequence: number): void {
    this.lot.remove(sequence);
    this.records.touchAside(sequence);
    this.#doneAside({ sequence, page: undefined });
  }

  /** Ends all deliveries, and goes on at another place. */
  move(next: number, epoch: number): void {
    const { last } = this.context.source;
    const parked = this.lot.sequences.filter((sequence) => sequence > last);
    for (const sequence of parked) this.discard(sequence);
    for (const message of this.messages()) {
      if (message.page === undefined && message.sequence <= last) this.giveBack(message, 0);
      else this.remove(message);
    }
    this.records.voidPages();
    for (const sequence of this.records.doneAhead) this.records.dropMark(sequence);
    this.records.doneAhead.clear();
    this.generation++;
    [this.next, this.epoch] = [next, epoch];
    this.waiting.tell();
  }

  /** All that are pending. */
  messages(): PendingMessage[] {
    const { records, pending } = this;
    return [...[...records.pages.all].flatMap(({ messages }) => messages), ...pending.replayed.values()];
  }

  info(): GroupInfo {
    this.lapse();
    const { leaseSeconds, maxDeliver, maxInFlight, order, subjects } = this.settings;
    const { pending, next, lot } = this;
    return {
      group: this.name,
      subjects,
      leaseSeconds,
      maxDeliver,
      maxInFlight,
      order,
      isPaused: this.isPaused,
      committed: (pending.first ?? next) - 1,
      delivered: next - 1,
      inFlight: pending.leased,
      waiting: pending.size - pending.leased,
      lag: Math.max(0, this.context.source.last - next + 1) + pending.size,
      parked: lot.size,
    };
  }

  /** One that was parked, and lies where the group comes by yet, as after a seek. */
  #doneAside({ sequence, page }: Pick<PendingMessage, "sequence" | "page">): void {
    if (page === undefined && sequence >= this.next) this.records.addDoneAhead(sequence);
  }

  #toTheLot(message: PendingMessage, reason: string, parkedAt: number): void {
    const { sequence, deliveries, key } = message;
    this.lot.add(sequence, { deliveries, reason, parkedAt, key });
    this.#forget(message);
    this.records.touchAside(sequence);
  }

  #forget(message: PendingMessage): void {
    message.delivery = 0;
    this.unkeyed.delete(message);
    if (message.page !== undefined) this.records.pages.remove(message, message.page);
    this.records.touch(message);
  }

  get #head(): GroupHead {
    const { name, settings, isPaused, next, epoch, generation } = this;
    return { name, settings, isPaused, next, epoch, generation };
  }
}

function wantedBy({ subjects }: GroupSettings): SubjectFilter | undefined {
  return subjects && subjectFilter(subjects);
}
