import type { FeedSource } from "@ehdb/contracts";
import type { FetchRequest } from "./call-options.ts";
import { Delivery } from "./delivery.ts";
import type { Deliveries } from "./delivery.ts";
import type { GroupContents } from "./group-contents.ts";
import type { PendingMessage } from "./pending-message.ts";
import { LookAhead } from "./look-ahead.ts";
import { ReadAhead, recordsAt } from "./read-ahead.ts";
import { assertGroupContinues } from "./continues.ts";
import { compacted } from "./start.ts";

/** A message that waited to be delivered again, and its record, if that is there still. */
interface Again<R> {
  readonly message: PendingMessage;
  record: R | undefined;
}

/** Lends messages: first all that is needed is read, then it's lent in one step, so an error on the way lends nothing. One fetch at a time. */
export class Fetching<R> {
  readonly #contents: GroupContents<R>;
  readonly #deliveries: Deliveries<R>;
  readonly #source: FeedSource<R>;
  readonly #ahead: ReadAhead<R>;
  /** Until the first leases are durable. */
  #isFirst = true;

  constructor(contents: GroupContents<R>, deliveries: Deliveries<R>) {
    this.#contents = contents;
    this.#deliveries = deliveries;
    this.#source = contents.context.source;
    this.#ahead = new ReadAhead(this.#source, contents.context.clock);
  }

  /** What can be lent now, when nothing needs to be waited for. */
  fetchAtOnce(request: FetchRequest): Delivery<R>[] | undefined {
    const contents = this.#contents;
    if (this.#isFirst || this.#source.first > contents.next || this.#mayBeCut) return undefined;
    if (contents.isPaused || contents.mustSave || contents.unkeyed.size > 0) return undefined;
    contents.lapse();
    this.#ahead.refresh();
    if (contents.pending.hasReady || !this.#ahead.hasMore(contents.next, request.limit)) return undefined;
    const look = new LookAhead(contents, this.#ahead, request.limit);
    if (!look.go()) return undefined;
    const lent = this.#lend([], look, request);
    if (lent.length > 0) void contents.save();
    return lent;
  }

  /** What can be lent now. */
  async fetch(request: FetchRequest, assertThere: () => void): Promise<Delivery<R>[]> {
    const contents = this.#contents;
    const { epoch, first } = this.#source;
    if (first > contents.next) throw compacted(contents.next, first);
    if (this.#mayBeCut) await assertGroupContinues(this.#source, contents.name, contents.next - 1, contents.epoch);
    if (contents.mustSave) await contents.save();
    if (contents.unkeyed.size > 0) await this.#readKeys();
    contents.lapse();
    const again = contents.isPaused || !contents.pending.hasReady ? [] : await this.#readAgain(request);
    try {
      const look = await this.#lookAhead(request, again.filter(({ record }) => record !== undefined).length);
      // A fetch may have been overtaken by a delete.
      assertThere();
      contents.epoch = epoch;
      const lent = this.#lend(again, look, request);
      if (lent.length > 0) await this.#save(lent, again.length > 0);
      return lent;
    } finally {
      for (const { message } of again) contents.pending.putBack(message);
    }
  }

  /** Since the group's place was set, a crash may have taken it back, or the source may be another copy. */
  get #mayBeCut(): boolean {
    const { epoch, last } = this.#source;
    return epoch !== this.#contents.epoch || last < this.#contents.next - 1;
  }

  /** Finds the keys of messages that must keep their order. What is gone has none. */
  async #readKeys(): Promise<void> {
    const contents = this.#contents;
    const messages = [...contents.unkeyed].toSorted((a, b) => a.sequence - b.sequence);
    const records = await recordsAt(
      this.#source,
      messages.map(({ sequence }) => sequence),
    );
    for (const message of messages) {
      const record = records.get(message.sequence);
      contents.unkeyed.delete(message);
      if (message.state !== "done" && record !== undefined)
        contents.pending.setKey(message, this.#source.keyOf(record));
    }
  }

  /** Those that wait to be delivered again: they count as out until it's lent, or put back. */
  async #readAgain(request: FetchRequest): Promise<readonly Again<R>[]> {
    const { pending, settings } = this.#contents;
    const again: Again<R>[] = [];
    try {
      for (;;) {
        const there = again.filter(({ record }) => record !== undefined).length;
        const room = Math.min(request.limit - there, settings.maxInFlight - pending.leased - there);
        const taken = pending.takeReady(Math.max(0, room));
        if (taken.length === 0) return again;
        for (const message of taken) again.push({ message, record: undefined });
        const records = await recordsAt(
          this.#source,
          taken.map(({ sequence }) => sequence),
        );
        for (const one of again) one.record ??= records.get(one.message.sequence);
        // Earlier ones may have come to wait in the meantime.
        again.sort((a, b) => a.message.sequence - b.message.sequence);
      }
    } catch (error) {
      for (const { message } of again) pending.putBack(message);
      throw error;
    }
  }

  /** New ones, as far as they can be lent. */
  async #lookAhead(request: FetchRequest, again: number): Promise<LookAhead<R>> {
    this.#ahead.refresh();
    const look = new LookAhead(this.#contents, this.#ahead, request.limit - again);
    while (!look.go()) await look.read();
    return look;
  }

  #lend(
    again: readonly Again<R>[],
    { fresh, next }: LookAhead<R>,
    { member, leaseMillis, limit }: FetchRequest,
  ): Delivery<R>[] {
    const contents = this.#contents;
    const { pending, settings, context } = contents;
    const dueAt = context.clock.now() + (leaseMillis ?? settings.leaseSeconds * 1000);
    const lent: Delivery<R>[] = [];
    for (const { message, record } of again) {
      // It was acknowledged, or given back, while it was read.
      if (message.state !== "reading") continue;
      if (record === undefined) {
        contents.remove(message);
        continue;
      }
      // It came to wait in the meantime: first its key must be known.
      if (contents.unkeyed.has(message)) continue;
      contents.lease(message, member, dueAt);
      lent.push(new Delivery(this.#deliveries, record, message));
    }
    let seen = next;
    for (const { record, sequence, key } of fresh) {
      if (lent.length >= limit || pending.size >= settings.maxInFlight) {
        seen = sequence;
        break;
      }
      const message = contents.addNew(sequence, key);
      if (key !== undefined && pending.isBehindAnother(key)) pending.add(message);
      else {
        pending.addLeased(message, member, dueAt);
        lent.push(new Delivery(this.#deliveries, record, message));
      }
    }
    this.#goOnTo(seen);
    return lent;
  }

  #goOnTo(next: number): void {
    const contents = this.#contents;
    if (contents.next === next) return;
    contents.next = next;
    const { records } = contents;
    records.touchHead();
    for (const sequence of records.doneAhead) {
      if (sequence >= next) continue;
      records.doneAhead.delete(sequence);
      records.dropMark(sequence);
    }
  }

  /**
   * Nobody waits for the leases of new messages: a crash takes them back with whoever held them. But what takes its process down each time must be counted: what was delivered
   * before waits until that is durable, and so do the first ones after an open.
   */
  async #save(lent: readonly Delivery<R>[], isAgain: boolean): Promise<void> {
    const saved = this.#contents.save();
    if (!isAgain && !this.#isFirst) return;
    try {
      await saved;
      this.#isFirst = false;
    } catch (error) {
      for (const { message, number } of lent) if (message.delivery === number) this.#contents.takeBack(message);
      throw error;
    }
  }
}
