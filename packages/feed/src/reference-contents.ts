import { EhdbError } from "@ehdb/contracts";
import type { FeedSource, GroupInfo } from "@ehdb/contracts";
import type { Clock } from "@ehdb/host";
import type { GroupSettings } from "./call-options.ts";
import type { Message } from "./message.ts";
import { leaseLost } from "./refusals.ts";
import { Waiting } from "./waiting.ts";

/** A message that isn't done with. */
export interface Out<R> {
  readonly sequence: number;
  readonly key: string;
  deliveries: number;
  /** The last one, as long as nothing has ended it. */
  delivery: Message<R> | undefined;
  member: string;
  /** When it can be delivered again: when its lease is over, or its delay. */
  dueAt: number;
  /** It was parked, and may lie below the committed place. */
  readonly isReplayed: boolean;
}

export interface Parked {
  readonly key: string;
  readonly deliveries: number;
  readonly reason: string;
  readonly parkedAt: number;
}

export interface GroupContext<R> {
  readonly source: FeedSource<R>;
  readonly clock: Clock;
  /** CLOSED. */
  readonly assertOpen: () => void;
}

/** What a group has in memory, as plain as can be: every question goes over all that is out. */
export class ReferenceContents<R> {
  readonly name: string;
  readonly context: GroupContext<R>;
  readonly waiting: Waiting = new Waiting();
  readonly out: Map<number, Out<R>> = new Map();
  readonly parked: Map<number, Parked> = new Map();
  /** What was parked and is done with, and lies where it looks yet. */
  readonly doneAhead: Set<number> = new Set();
  settings: GroupSettings;
  isPaused = false;
  isDeleted = false;
  /** What it looks at next, and the source's epoch when it was told. */
  next: number;
  epoch: number;

  constructor(context: GroupContext<R>, name: string, settings: GroupSettings, next: number, epoch: number) {
    this.context = context;
    this.name = name;
    this.settings = settings;
    this.next = next;
    this.epoch = epoch;
  }

  get now(): number {
    return this.context.clock.now();
  }

  isLeased({ delivery, dueAt }: Out<R>): boolean {
    return delivery !== undefined && dueAt > this.now;
  }

  /** In order of sequence. */
  inOrder(): readonly Out<R>[] {
    return [...this.out.values()].toSorted((a, b) => a.sequence - b.sequence);
  }

  /** Those that can be delivered again now, the earliest first. */
  ready(): readonly Out<R>[] {
    this.lapse();
    const all = this.inOrder();
    if (this.settings.order === "none") return all.filter(({ dueAt }) => dueAt <= this.now);
    return all.filter((out) => {
      const ofKey = all.filter(({ key }) => key === out.key);
      return ofKey[0] === out && out.dueAt <= this.now && !ofKey.some((other) => this.isLeased(other));
    });
  }

  /** What was delivered too often is parked when its lease is over. */
  lapse(): void {
    for (const out of this.out.values()) {
      if (out.delivery !== undefined && out.dueAt <= this.now && out.deliveries >= this.settings.maxDeliver)
        this.park(out, `its lease was over after ${out.deliveries} deliveries`, out.dueAt);
    }
  }

  /** LEASE_LOST, unless it's the delivery's still. */
  held(message: Message<R>): Out<R> {
    this.lapse();
    const out = this.out.get(message.sequence);
    if (out?.delivery === message && !this.isDeleted) return out;
    throw leaseLost(this.name, message.sequence);
  }

  acknowledge(message: Message<R>): void {
    message.isAcknowledged = true;
    this.out.delete(message.sequence);
    if (message.sequence >= this.next) this.doneAhead.add(message.sequence);
    this.waiting.tell();
  }

  discard(sequence: number): void {
    this.parked.delete(sequence);
    if (sequence >= this.next) this.doneAhead.add(sequence);
  }

  extend(out: Out<R>, millis: number): number {
    const isBehind =
      this.settings.order === "key" &&
      [...this.out.values()].some((other) => other !== out && other.key === out.key && this.isLeased(other));
    if (isBehind) throw leaseLost(this.name, out.sequence);
    out.dueAt = this.now + millis;
    return out.dueAt;
  }

  giveBack(out: Out<R>, delayMillis: number): void {
    out.delivery = undefined;
    out.member = "";
    out.dueAt = delayMillis > 0 ? this.now + delayMillis : 0;
    this.waiting.tell();
  }

  park({ sequence, key, deliveries }: Out<R>, reason: string, parkedAt: number = this.now): void {
    this.out.delete(sequence);
    this.parked.set(sequence, { key, deliveries, reason, parkedAt });
    this.waiting.tell();
  }

  replay(sequence: number): void {
    const { key } = this.parked.get(sequence) as Parked;
    this.parked.delete(sequence);
    const state = { deliveries: 0, delivery: undefined, member: "", dueAt: 0, isReplayed: true };
    this.out.set(sequence, { sequence, key, ...state });
    this.waiting.tell();
  }

  /** Ends all deliveries, and goes on at another place. */
  move(next: number, epoch: number): void {
    const { last } = this.context.source;
    for (const out of this.out.values()) {
      if (out.isReplayed && out.sequence <= last) this.giveBack(out, 0);
      else this.out.delete(out.sequence);
    }
    for (const sequence of this.parked.keys()) if (sequence > last) this.parked.delete(sequence);
    this.doneAhead.clear();
    [this.next, this.epoch] = [next, epoch];
    this.waiting.tell();
  }

  /** All of these, or all there are. NOT_FOUND. */
  inTheLot(wanted: readonly number[] | undefined): readonly number[] {
    this.lapse();
    for (const sequence of wanted ?? []) {
      if (this.parked.has(sequence)) continue;
      const message = `message ${sequence} isn't in the parking lot of ${this.name}: parked() lists what is`;
      throw new EhdbError("NOT_FOUND", message, { group: this.name, sequence });
    }
    return wanted ?? [...this.parked.keys()].toSorted((a, b) => a - b);
  }

  /** When the next lease or delay is over. */
  get nextDue(): number {
    return Math.min(...[...this.out.values()].flatMap(({ dueAt }) => (dueAt > this.now ? dueAt : [])));
  }

  describe(): GroupInfo {
    this.lapse();
    const out = [...this.out.values()];
    const inFlight = out.filter((one) => this.isLeased(one)).length;
    const delivered = this.next - 1;
    const least = Math.min(this.next, ...out.flatMap((one) => (one.isReplayed ? [] : one.sequence)));
    const { leaseSeconds, maxDeliver, maxInFlight, order, subjects } = this.settings;
    return {
      group: this.name,
      subjects,
      leaseSeconds,
      maxDeliver,
      maxInFlight,
      order,
      isPaused: this.isPaused,
      committed: least - 1,
      delivered,
      inFlight,
      waiting: out.length - inFlight,
      lag: Math.max(0, this.context.source.last - delivered) + out.length,
      parked: this.parked.size,
    };
  }
}
