import { EhdbError, invalidArgument, throwIfAborted } from "@ehdb/contracts";
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
import type { FetchRequest } from "./call-options.ts";
import { Delivery } from "./delivery.ts";
import type { Deliveries } from "./delivery.ts";
import { fetchInTime } from "./fetch-in-time.ts";
import { Fetching } from "./fetching.ts";
import type { GroupContents } from "./group-contents.ts";
import type { Parked } from "./group-format.ts";
import type { PendingMessage } from "./pending-message.ts";
import { recordsAt } from "./read-ahead.ts";
import { leaseLost } from "./refusals.ts";
import { asOfNow, sequenceAt } from "./start.ts";

/** The calls of a group whose state is durable. What they change is in force at once; they resolve when it's written. */
export class DurableGroup<R> implements ConsumerGroup<R>, Deliveries<R> {
  readonly contents: GroupContents<R>;
  readonly #fetching: Fetching<R>;
  /** Fetches, seeks and updates, one after the other. */
  #line: Promise<unknown> = Promise.resolve();
  /** Those that aren't over. */
  #lined = 0;

  constructor(contents: GroupContents<R>) {
    this.contents = contents;
    this.#fetching = new Fetching(contents, this);
  }

  get name(): string {
    return this.contents.name;
  }

  get source(): FeedSource<R> {
    return this.contents.context.source;
  }

  fetch(options: FetchOptions): Promise<readonly FeedMessage<R>[]> {
    try {
      this.assertThere();
      const request = fetchRequest(options);
      throwIfAborted(request.signal, "fetch()");
      const lent = this.#lined === 0 && this.isSettled ? this.#fetching.fetchAtOnce(request) : undefined;
      return lent === undefined ? this.#fetchInTime(request) : Promise.resolve(lent);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  async ack(messages: readonly FeedMessage<R>[]): Promise<void> {
    this.assertThere();
    const open = this.deliveriesOf(messages).filter(({ isAcknowledged }) => !isAcknowledged);
    for (const delivery of open) this.held(delivery);
    for (const delivery of open) this.#acknowledge(delivery);
    await this.contents.save();
  }

  async info(): Promise<GroupInfo> {
    this.assertThere();
    return this.contents.info();
  }

  async update(options: Omit<GroupOptions, "start">): Promise<GroupInfo> {
    this.assertThere();
    updatedSettings(this.contents.settings, options);
    return await this.inLine(async () => {
      await this.#update(options);
      return this.contents.info();
    });
  }

  async seek(to: FeedStart): Promise<number> {
    this.assertThere();
    const start = asOfNow(startOf("to", to), this.source);
    return await this.inLine(async () => {
      const { epoch } = this.source;
      const next = await sequenceAt(this.source, start);
      await this.commitsOver();
      this.#assertNotDeleted();
      this.contents.move(next, epoch);
      await this.contents.save();
      return next;
    });
  }

  async pause(): Promise<void> {
    await this.#setPaused(true);
  }

  async resume(): Promise<void> {
    await this.#setPaused(false);
  }

  async leave(member: string): Promise<number> {
    this.assertThere();
    checkName("member", member);
    this.contents.lapse();
    const held = this.contents.messages().filter((message) => message.member === member && isHeld(message));
    for (const message of held) this.contents.giveBack(message, 0);
    await this.contents.save();
    return held.length;
  }

  async parked(options?: { readonly after?: number; readonly limit?: number }): Promise<readonly ParkedMessage<R>[]> {
    this.assertThere();
    const { after, limit } = parkedRequest(options);
    this.contents.lapse();
    const { lot } = this.contents;
    const parked = lot.sequences
      .filter((sequence) => sequence > after)
      .slice(0, limit)
      .map((sequence) => ({ sequence, ...(lot.get(sequence) as Parked) }));
    const records = await recordsAt(
      this.source,
      parked.map(({ sequence }) => sequence),
    );
    return parked.map(({ sequence, deliveries, reason, parkedAt }) => ({
      record: records.get(sequence),
      sequence,
      deliveries,
      reason,
      parkedAt,
    }));
  }

  async replay(sequences?: readonly number[]): Promise<number> {
    const wanted = this.#inTheLot(sequences);
    const { contents } = this;
    for (const sequence of wanted) contents.replay(sequence, contents.lot.get(sequence) as Parked);
    await contents.save();
    return wanted.length;
  }

  async discard(sequences?: readonly number[]): Promise<number> {
    const wanted = this.#inTheLot(sequences);
    for (const sequence of wanted) this.contents.discard(sequence);
    await this.contents.save();
    return wanted.length;
  }

  acknowledge(delivery: Delivery<R>): Promise<void> {
    try {
      this.contents.context.assertOpen();
      if (!delivery.isAcknowledged) {
        this.held(delivery);
        this.#acknowledge(delivery);
      }
      return this.contents.save();
    } catch (error) {
      return Promise.reject(error);
    }
  }

  async nack(delivery: Delivery<R>, options: Parameters<FeedMessage<R>["nack"]>[0]): Promise<void> {
    this.contents.context.assertOpen();
    const { delayMillis, reason } = nackRequest(options);
    const message = this.held(delivery);
    const { deliveries } = message;
    if (deliveries < this.contents.settings.maxDeliver) this.contents.giveBack(message, delayMillis);
    else this.contents.park(message, reason ?? `it was given back after ${deliveries} deliveries`);
    await this.contents.save();
  }

  async extend(delivery: Delivery<R>, leaseSeconds: number | undefined): Promise<number> {
    this.contents.context.assertOpen();
    const millis = extension(this.contents.settings, leaseSeconds);
    const message = this.held(delivery);
    const dueAt = this.contents.context.clock.now() + millis;
    if (!this.contents.extend(message, dueAt)) throw leaseLost(this.name, message.sequence);
    await this.contents.save();
    return dueAt;
  }

  async park(delivery: Delivery<R>, reason: string): Promise<void> {
    this.contents.context.assertOpen();
    checkReason(reason);
    this.contents.park(this.held(delivery), reason);
    await this.contents.save();
  }

  /** Ends all that waits. */
  wake(): void {
    this.contents.waiting.tell();
  }

  /** Finishes what was called before, and writes what has changed. */
  async finish(): Promise<void> {
    await this.#line;
    await this.commitsOver();
    await this.contents.save();
  }

  /** It's gone for all who have it; resolves when nothing of it is in the state any more. */
  async delete(): Promise<void> {
    this.contents.isDeleted = true;
    this.wake();
    try {
      await this.contents.erase();
    } catch (error) {
      this.contents.isDeleted = false;
      // Some of it may be gone.
      this.contents.records.touchAll();
      throw error;
    }
  }

  /** INVALID_ARGUMENT for what isn't a message of this group. */
  protected deliveriesOf(messages: readonly FeedMessage<R>[]): readonly Delivery<R>[] {
    if (!Array.isArray(messages)) throw invalidArgument("messages", messages, "an array of messages of this group");
    for (const one of messages as readonly unknown[]) {
      if (!(one instanceof Delivery) || one.group !== this)
        throw invalidArgument("messages", one, "an array of messages of this group");
    }
    return messages as readonly Delivery<R>[];
  }

  /** LEASE_LOST, when it isn't lent to this delivery any more. */
  protected held({ message, number }: Delivery<R>): PendingMessage {
    if (message.deliveries >= this.contents.settings.maxDeliver) this.contents.lapse();
    if (this.contents.isDeleted || message.delivery !== number || !isHeld(message))
      throw leaseLost(this.name, message.sequence);
    return message;
  }

  protected assertThere(): void {
    this.contents.context.assertOpen();
    this.#assertNotDeleted();
  }

  protected inLine<T>(work: () => Promise<T>): Promise<T> {
    this.#lined++;
    const run = this.#line.then(work, work);
    const over = (): void => void this.#lined--;
    this.#line = run.then(over, over);
    return run;
  }

  /** Nothing must be found out before messages are lent. */
  protected get isSettled(): boolean {
    return true;
  }

  /** Finds it out. */
  protected async beforeFetch(): Promise<void> {}

  /** Commits that are under way must be over before the group is moved or closed. */
  protected async commitsOver(): Promise<void> {}

  async #fetchInTime(request: FetchRequest): Promise<readonly FeedMessage<R>[]> {
    const { clock } = this.contents.context;
    const { waiting, pending } = this.contents;
    // What happens while it looks is news, too.
    let [changes, last] = [0, 0];
    return await fetchInTime(request, {
      clock,
      fetch: () =>
        this.inLine(async () => {
          [changes, last] = [waiting.changes, this.source.last];
          await this.beforeFetch();
          return await this.#fetching.fetch(request, () => this.#assertNotDeleted());
        }),
      wait: async (millis) => {
        this.assertThere();
        const longest = Math.min(millis, pending.nextDue - clock.now());
        await waiting.next({ clock, longest, changes, signal: request.signal }, (stop) => this.source.news(last, stop));
        this.assertThere();
      },
    });
  }

  #acknowledge(delivery: Delivery<R>): void {
    if (delivery.isAcknowledged) return;
    delivery.isAcknowledged = true;
    this.contents.remove(delivery.message);
  }

  async #update(options: Omit<GroupOptions, "start">): Promise<void> {
    const { contents } = this;
    this.#assertNotDeleted();
    const wasInOrder = contents.isInOrder;
    contents.settings = updatedSettings(contents.settings, options);
    if (contents.isInOrder && !wasInOrder) contents.unkeyed = new Set(contents.messages());
    if (!contents.isInOrder && wasInOrder) {
      contents.unkeyed.clear();
      contents.pending.forgetKeys(contents.messages());
    }
    contents.records.touchHead();
    contents.waiting.tell();
    await contents.save();
  }

  async #setPaused(isPaused: boolean): Promise<void> {
    this.assertThere();
    this.contents.isPaused = isPaused;
    this.contents.records.touchHead();
    this.wake();
    await this.contents.save();
  }

  /** All of these, or all there are. NOT_FOUND. */
  #inTheLot(sequences: readonly number[] | undefined): readonly number[] {
    this.assertThere();
    const wanted = checkSequences(sequences);
    this.contents.lapse();
    const { lot } = this.contents;
    for (const sequence of wanted ?? []) {
      if (lot.get(sequence) !== undefined) continue;
      const message = `message ${sequence} isn't in the parking lot of ${this.name}: parked() lists what is`;
      throw new EhdbError("NOT_FOUND", message, { group: this.name, sequence });
    }
    return wanted ?? lot.sequences;
  }

  #assertNotDeleted(): void {
    if (this.contents.isDeleted) throw noGroup(this.name);
  }
}

/** Its last delivery isn't over, and no commit decides about it. */
function isHeld({ state, delivery }: PendingMessage): boolean {
  return delivery !== 0 && state !== "done" && state !== "committing";
}
