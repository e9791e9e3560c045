import { EhdbError } from "@ehdb/contracts";
import type {
  ConsumerGroup,
  FeedMessage,
  FeedSource,
  FeedStart,
  FetchOptions,
  GroupInfo,
  GroupOptions,
  ParkedMessage,
} from "@ehdb/contracts";
import type { Clock } from "@ehdb/host";
import {
  checkName,
  checkReason,
  checkSequences,
  extension,
  fetchRequest,
  nackRequest,
  noGroup,
  parkedRequest,
  startOf,
  updatedSettings,
} from "./call-options.ts";
import type { FetchRequest, GroupSettings } from "./call-options.ts";
import { fetchInTime } from "./fetch-in-time.ts";
import { Message } from "./message.ts";
import type { Deliveries } from "./message.ts";
import { compacted, sequenceAt } from "./start.ts";
import { subjectFilter } from "./subjects.ts";
import { Waiting } from "./waiting.ts";

/** A message that isn't done with. */
interface Out<R> {
  readonly sequence: number;
  /** Of a message that is replayed it isn't known before it's read again. */
  key: string;
  deliveries: number;
  /** The last one, as long as nothing has ended it. */
  delivery: Message<R> | undefined;
  member: string;
  /** When it can be delivered again: when its lease is over, or its delay. */
  dueAt: number;
  /** It was parked, and may lie below the committed place. */
  readonly isReplayed: boolean;
}

interface Parked {
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

const readAtOnce = 1_000;

/** A group in memory, as plain as can be: every question goes over all that is out. */
export class ReferenceGroup<R> implements ConsumerGroup<R>, Deliveries<R> {
  readonly name: string;
  readonly #context: GroupContext<R>;
  readonly #waiting = new Waiting();
  readonly #out = new Map<number, Out<R>>();
  readonly #parked = new Map<number, Parked>();
  #settings: GroupSettings;
  #isPaused = false;
  #isDeleted = false;
  /** What it looks at next, and the source's epoch when it was told. */
  #next: number;
  #epoch: number;
  /** Fetches and seeks, one after the other: they read the source. */
  #line: Promise<unknown> = Promise.resolve();

  constructor(context: GroupContext<R>, name: string, settings: GroupSettings, next: number) {
    this.#context = context;
    this.name = name;
    this.#settings = settings;
    this.#next = next;
    this.#epoch = context.source.epoch;
  }

  async fetch(options: FetchOptions): Promise<readonly FeedMessage<R>[]> {
    const request = fetchRequest(options);
    const { clock, source } = this.#context;
    // What happens while it looks is news, too.
    let [changes, last] = [0, 0];
    return await fetchInTime(request, {
      clock,
      fetch: () =>
        this.#inLine(() => {
          [changes, last] = [this.#waiting.changes, source.last];
          return this.#fetch(request);
        }),
      wait: (millis) => {
        const due = this.#nextDue() - clock.now();
        const longest = Math.min(millis, due);
        return this.#waiting.next({ clock, longest, changes, signal: request.signal }, (stop) =>
          source.news(last, stop),
        );
      },
    });
  }

  async ack(messages: readonly FeedMessage<R>[]): Promise<void> {
    this.#assertThere();
    const open = (messages as readonly Message<R>[]).filter(({ isAcknowledged }) => !isAcknowledged);
    for (const message of open) this.#held(message);
    for (const message of open) this.#acknowledge(message);
  }

  async info(): Promise<GroupInfo> {
    this.#assertThere();
    return this.describe();
  }

  async update(options: Omit<GroupOptions, "start">): Promise<GroupInfo> {
    this.#assertThere();
    this.#settings = updatedSettings(this.#settings, options);
    this.#waiting.tell();
    return this.describe();
  }

  async seek(to: FeedStart): Promise<number> {
    this.#assertThere();
    const start = startOf("to", to);
    return await this.#inLine(async () => {
      this.#next = await sequenceAt(this.#context.source, start);
      this.#epoch = this.#context.source.epoch;
      this.#out.clear();
      this.#waiting.tell();
      return this.#next;
    });
  }

  async pause(): Promise<void> {
    this.#assertThere();
    this.#isPaused = true;
  }

  async resume(): Promise<void> {
    this.#assertThere();
    this.#isPaused = false;
    this.#waiting.tell();
  }

  async leave(member: string): Promise<number> {
    this.#assertThere();
    checkName("member", member);
    const held = [...this.#out.values()].filter((out) => out.delivery !== undefined && out.member === member);
    for (const out of held) this.#giveBack(out, 0);
    return held.length;
  }

  async parked(options?: { readonly after?: number; readonly limit?: number }): Promise<readonly ParkedMessage<R>[]> {
    this.#assertThere();
    const { after, limit } = parkedRequest(options);
    this.#lapse();
    const wanted = this.#parkedInOrder().filter((sequence) => sequence > after);
    return await Promise.all(
      wanted.slice(0, limit).map(async (sequence) => {
        const parked = this.#parked.get(sequence) as Parked;
        return { record: await this.#recordAt(sequence), sequence, ...parked };
      }),
    );
  }

  async replay(sequences?: readonly number[]): Promise<number> {
    const wanted = this.#inTheLot(sequences);
    for (const sequence of wanted) {
      this.#parked.delete(sequence);
      const state = { deliveries: 0, delivery: undefined, member: "", dueAt: 0, isReplayed: true };
      this.#out.set(sequence, { sequence, key: "", ...state });
    }
    this.#waiting.tell();
    return wanted.length;
  }

  async discard(sequences?: readonly number[]): Promise<number> {
    const wanted = this.#inTheLot(sequences);
    for (const sequence of wanted) this.#parked.delete(sequence);
    return wanted.length;
  }

  describe(): GroupInfo {
    this.#lapse();
    const out = [...this.#out.values()];
    const now = this.#context.clock.now();
    const inFlight = out.filter((one) => one.delivery !== undefined && one.dueAt > now).length;
    const delivered = this.#next - 1;
    const least = Math.min(this.#next, ...out.flatMap((one) => (one.isReplayed ? [] : one.sequence)));
    const { leaseSeconds, maxDeliver, maxInFlight, order, subjects } = this.#settings;
    return {
      group: this.name,
      subjects,
      leaseSeconds,
      maxDeliver,
      maxInFlight,
      order,
      isPaused: this.#isPaused,
      committed: least - 1,
      delivered,
      inFlight,
      waiting: out.length - inFlight,
      lag: Math.max(0, this.#context.source.last - delivered) + out.length,
      parked: this.#parked.size,
    };
  }

  /** Ends all that waits. */
  close(): void {
    this.#waiting.tell();
  }

  delete(): void {
    this.#isDeleted = true;
    this.#out.clear();
    this.#waiting.tell();
  }

  async acknowledge(message: Message<R>): Promise<void> {
    this.#context.assertOpen();
    if (message.isAcknowledged) return;
    this.#held(message);
    this.#acknowledge(message);
  }

  async nack(message: Message<R>, options: Parameters<FeedMessage<R>["nack"]>[0]): Promise<void> {
    this.#context.assertOpen();
    const { delayMillis, reason } = nackRequest(options);
    const out = this.#held(message);
    if (out.deliveries < this.#settings.maxDeliver) this.#giveBack(out, delayMillis);
    else this.#park(out, reason ?? `it was given back after ${out.deliveries} deliveries`);
  }

  async extend(message: Message<R>, leaseSeconds: number | undefined): Promise<number> {
    this.#context.assertOpen();
    const millis = extension(leaseSeconds, this.#settings);
    const out = this.#held(message);
    out.dueAt = this.#context.clock.now() + millis;
    return out.dueAt;
  }

  async park(message: Message<R>, reason: string): Promise<void> {
    this.#context.assertOpen();
    checkReason(reason);
    this.#park(this.#held(message), reason);
  }

  /** What there is now. */
  async #fetch(request: FetchRequest): Promise<FeedMessage<R>[]> {
    this.#assertThere();
    const { source } = this.#context;
    if (source.first > this.#next) throw compacted(this.#next, source.first);
    await source.assertContinues(this.#next - 1, this.#epoch);
    const there = await this.#recordsOfWaiting();
    const given = this.#deliverAgain(there, request);
    for (let isEnd = false; !isEnd;) {
      const { last } = source;
      const records: R[] = [];
      for await (const batch of source.read(this.#next, readAtOnce)) records.push(...batch);
      // A fetch may have been overtaken by a delete or a close.
      this.#assertThere();
      isEnd = records.length < readAtOnce;
      isEnd = !this.#deliverNew(records, isEnd ? last : 0, given, request) || isEnd;
    }
    return given;
  }

  #deliverAgain(there: ReadonlyMap<number, R>, request: FetchRequest): FeedMessage<R>[] {
    this.#lapse();
    const given: FeedMessage<R>[] = [];
    const now = this.#context.clock.now();
    const busy = new Set<string>();
    for (const out of [...this.#out.values()].toSorted((a, b) => a.sequence - b.sequence)) {
      const record = there.get(out.sequence);
      if (record !== undefined) out.key = this.#context.source.keyOf(record);
      const isHeldUp = this.#isInOrder && busy.has(out.key);
      if (record !== undefined || out.dueAt > now) busy.add(out.key);
      if (out.dueAt > now || isHeldUp) continue;
      if (record === undefined) this.#out.delete(out.sequence);
      else if (this.#room(given, request) > 0) given.push(this.#deliver(out, record, request));
    }
    return given;
  }

  /** False when it stopped before the end of what was read. */
  #deliverNew(records: readonly R[], last: number, given: FeedMessage<R>[], request: FetchRequest): boolean {
    const { source } = this.#context;
    const wants = subjectFilter(this.#settings.subjects);
    for (const record of records) {
      const sequence = source.sequenceOf(record);
      if (sequence < this.#next) continue;
      if (this.#room(given, request) === 0 || this.#out.size >= this.#settings.maxInFlight) return false;
      this.#next = sequence + 1;
      if (!wants(source.subjectOf(record)) || this.#out.has(sequence) || this.#parked.has(sequence)) continue;
      const key = source.keyOf(record);
      const isHeldUp = this.#isInOrder && [...this.#out.values()].some((other) => other.key === key);
      const state = { deliveries: 0, delivery: undefined, member: "", dueAt: 0, isReplayed: false };
      const out: Out<R> = { sequence, key, ...state };
      this.#out.set(sequence, out);
      if (!isHeldUp) given.push(this.#deliver(out, record, request));
    }
    // What isn't there any more at the end was seen, too.
    if (this.#room(given, request) > 0) this.#next = Math.max(this.#next, last + 1);
    this.#epoch = source.epoch;
    return true;
  }

  #deliver(out: Out<R>, record: R, { member, leaseMillis }: FetchRequest): FeedMessage<R> {
    const { source, clock } = this.#context;
    out.deliveries++;
    out.member = member;
    out.dueAt = clock.now() + (leaseMillis ?? this.#settings.leaseSeconds * 1000);
    out.delivery = new Message(this, source, record, { deliveries: out.deliveries, leasedUntil: out.dueAt });
    return out.delivery;
  }

  #room(given: readonly unknown[], { limit }: FetchRequest): number {
    if (this.#isPaused) return 0;
    const now = this.#context.clock.now();
    const leased = [...this.#out.values()].filter((out) => out.delivery !== undefined && out.dueAt > now).length;
    return Math.max(0, Math.min(limit - given.length, this.#settings.maxInFlight - leased));
  }

  /** What was delivered too often is parked when its lease is over. */
  #lapse(): void {
    const now = this.#context.clock.now();
    for (const out of this.#out.values()) {
      if (out.delivery !== undefined && out.dueAt <= now && out.deliveries >= this.#settings.maxDeliver)
        this.#park(out, `its lease was over after ${out.deliveries} deliveries`);
    }
  }

  #acknowledge(message: Message<R>): void {
    message.isAcknowledged = true;
    this.#out.delete(message.sequence);
    this.#waiting.tell();
  }

  #giveBack(out: Out<R>, delayMillis: number): void {
    out.delivery = undefined;
    out.dueAt = this.#context.clock.now() + delayMillis;
    this.#waiting.tell();
  }

  #park({ sequence, deliveries }: Out<R>, reason: string): void {
    this.#out.delete(sequence);
    this.#parked.set(sequence, { deliveries, reason, parkedAt: this.#context.clock.now() });
    this.#waiting.tell();
  }

  /** LEASE_LOST. */
  #held(message: Message<R>): Out<R> {
    if (this.#holds(message)) return this.#out.get(message.sequence) as Out<R>;
    throw leaseLost(this.name, message.sequence);
  }

  #holds(message: FeedMessage<R>): boolean {
    return this.#out.get(message.sequence)?.delivery === message;
  }

  get #isInOrder(): boolean {
    return this.#settings.order === "key";
  }

  #nextDue(): number {
    const now = this.#context.clock.now();
    return Math.min(...[...this.#out.values()].flatMap(({ dueAt }) => (dueAt > now ? dueAt : [])));
  }

  #parkedInOrder(): number[] {
    return [...this.#parked.keys()].toSorted((a, b) => a - b);
  }

  /** All of these, or all there are. NOT_FOUND. */
  #inTheLot(sequences: readonly number[] | undefined): readonly number[] {
    this.#assertThere();
    const wanted = checkSequences(sequences);
    this.#lapse();
    for (const sequence of wanted ?? []) {
      if (this.#parked.has(sequence)) continue;
      const message = `message ${sequence} isn't in the parking lot of ${this.name}: parked() lists what is`;
      throw new EhdbError("NOT_FOUND", message, { group: this.name, sequence });
    }
    return wanted ?? this.#parkedInOrder();
  }

  async #recordsOfWaiting(): Promise<Map<number, R>> {
    const there = new Map<number, R>();
    for (const sequence of this.#out.keys()) {
      const record = await this.#recordAt(sequence);
      if (record !== undefined) there.set(sequence, record);
    }
    return there;
  }

  async #recordAt(sequence: number): Promise<R | undefined> {
    const { source } = this.#context;
    if (sequence < source.first) return undefined;
    for await (const [record] of source.read(sequence, 1))
      return record !== undefined && source.sequenceOf(record) === sequence ? record : undefined;
    return undefined;
  }

  #assertThere(): void {
    this.#context.assertOpen();
    if (this.#isDeleted) throw noGroup(this.name);
  }

  #inLine<T>(work: () => Promise<T>): Promise<T> {
    const run = this.#line.then(work, work);
    this.#line = run.catch(() => undefined);
    return run;
  }
}

function leaseLost(group: string, sequence: number): EhdbError {
  const message = `message ${sequence} of ${group} isn't lent to this delivery any more: somebody else got it since, or it's done with. Leave it`;
  return new EhdbError("LEASE_LOST", message, { group, sequence });
}
