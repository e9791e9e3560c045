import { invalidArgument } from "@ehdb/contracts";
import type {
  ConsumerGroup,
  FeedMessage,
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
import { fetchInTime } from "./fetch-in-time.ts";
import { Message } from "./message.ts";
import type { Deliveries } from "./message.ts";
import type { Parked, ReferenceContents } from "./reference-contents.ts";
import { fetchOnce, readEach } from "./reference-fetch.ts";
import { asOfNow, sequenceAt } from "./start.ts";

/** The calls of a group in memory. */
export class ReferenceGroup<R> implements ConsumerGroup<R>, Deliveries<R> {
  readonly contents: ReferenceContents<R>;
  /** Fetches, seeks and updates, one after the other: they read the source. */
  #line: Promise<unknown> = Promise.resolve();

  constructor(contents: ReferenceContents<R>) {
    this.contents = contents;
  }

  get name(): string {
    return this.contents.name;
  }

  async fetch(options: FetchOptions): Promise<readonly FeedMessage<R>[]> {
    this.#assertThere();
    const request = fetchRequest(options);
    const { contents } = this;
    const { clock, source } = contents.context;
    // What happens while it looks is news, too.
    let [changes, last] = [0, 0];
    return await fetchInTime(request, {
      clock,
      fetch: () =>
        this.#inLine(() => {
          [changes, last] = [contents.waiting.changes, source.last];
          return fetchOnce(contents, this, request, () => this.#assertNotDeleted());
        }),
      wait: async (millis) => {
        this.#assertThere();
        const longest = Math.min(millis, contents.nextDue - clock.now());
        await contents.waiting.next({ clock, longest, changes, signal: request.signal }, (stop) =>
          source.news(last, stop),
        );
        this.#assertThere();
      },
    });
  }

  async ack(messages: readonly FeedMessage<R>[]): Promise<void> {
    this.#assertThere();
    const open = this.#messagesOf(messages).filter(({ isAcknowledged }) => !isAcknowledged);
    for (const message of open) this.contents.held(message);
    for (const message of open) this.contents.acknowledge(message);
  }

  async info(): Promise<GroupInfo> {
    this.#assertThere();
    return this.contents.describe();
  }

  async update(options: Omit<GroupOptions, "start">): Promise<GroupInfo> {
    this.#assertThere();
    updatedSettings(this.contents.settings, options);
    return await this.#inLine(async () => {
      this.#assertNotDeleted();
      this.contents.settings = updatedSettings(this.contents.settings, options);
      this.contents.waiting.tell();
      return this.contents.describe();
    });
  }

  async seek(to: FeedStart): Promise<number> {
    this.#assertThere();
    const { source } = this.contents.context;
    const start = asOfNow(startOf("to", to), source);
    return await this.#inLine(async () => {
      const { epoch } = source;
      const next = await sequenceAt(source, start);
      this.#assertNotDeleted();
      this.contents.move(next, epoch);
      return next;
    });
  }

  async pause(): Promise<void> {
    this.#assertThere();
    this.contents.isPaused = true;
  }

  async resume(): Promise<void> {
    this.#assertThere();
    this.contents.isPaused = false;
    this.wake();
  }

  async leave(member: string): Promise<number> {
    this.#assertThere();
    checkName("member", member);
    this.contents.lapse();
    const held = this.contents.inOrder().filter((out) => out.delivery !== undefined && out.member === member);
    for (const out of held) this.contents.giveBack(out, 0);
    return held.length;
  }

  async parked(options?: { readonly after?: number; readonly limit?: number }): Promise<readonly ParkedMessage<R>[]> {
    this.#assertThere();
    const { after, limit } = parkedRequest(options);
    const wanted = this.contents.inTheLot(undefined).filter((sequence) => sequence > after);
    const lot = wanted.slice(0, limit).map((sequence) => {
      const { deliveries, reason, parkedAt } = this.contents.parked.get(sequence) as Parked;
      return { sequence, deliveries, reason, parkedAt };
    });
    const records = await readEach(
      this.contents.context.source,
      lot.map(({ sequence }) => sequence),
    );
    return lot.map((parked) => ({ record: records.get(parked.sequence), ...parked }));
  }

  async replay(sequences?: readonly number[]): Promise<number> {
    this.#assertThere();
    const wanted = this.contents.inTheLot(checkSequences(sequences));
    for (const sequence of wanted) this.contents.replay(sequence);
    return wanted.length;
  }

  async discard(sequences?: readonly number[]): Promise<number> {
    this.#assertThere();
    const wanted = this.contents.inTheLot(checkSequences(sequences));
    for (const sequence of wanted) this.contents.discard(sequence);
    return wanted.length;
  }

  async acknowledge(message: Message<R>): Promise<void> {
    this.contents.context.assertOpen();
    if (message.isAcknowledged) return;
    this.contents.held(message);
    this.contents.acknowledge(message);
  }

  async nack(message: Message<R>, options: Parameters<FeedMessage<R>["nack"]>[0]): Promise<void> {
    this.contents.context.assertOpen();
    const { delayMillis, reason } = nackRequest(options);
    const out = this.contents.held(message);
    if (out.deliveries < this.contents.settings.maxDeliver) this.contents.giveBack(out, delayMillis);
    else this.contents.park(out, reason ?? `it was given back after ${out.deliveries} deliveries`);
  }

  async extend(message: Message<R>, leaseSeconds: number | undefined): Promise<number> {
    this.contents.context.assertOpen();
    const millis = extension(this.contents.settings, leaseSeconds);
    return this.contents.extend(this.contents.held(message), millis);
  }

  async park(message: Message<R>, reason: string): Promise<void> {
    this.contents.context.assertOpen();
    checkReason(reason);
    this.contents.park(this.contents.held(message), reason);
  }

  /** All who wait look again. */
  wake(): void {
    this.contents.waiting.tell();
  }

  /** Resolves when what was called before is over. */
  async finish(): Promise<void> {
    await this.#line;
  }

  delete(): void {
    this.contents.isDeleted = true;
    this.wake();
  }

  /** INVALID_ARGUMENT for what isn't a message of this group. */
  #messagesOf(messages: readonly FeedMessage<R>[]): readonly Message<R>[] {
    const wanted = "an array of messages of this group";
    if (!Array.isArray(messages)) throw invalidArgument("messages", messages, wanted);
    for (const one of messages as readonly unknown[])
      if (!(one instanceof Message) || one.group !== this) throw invalidArgument("messages", one, wanted);
    return messages as readonly Message<R>[];
  }

  #assertThere(): void {
    this.contents.context.assertOpen();
    this.#assertNotDeleted();
  }

  #assertNotDeleted(): void {
    if (this.contents.isDeleted) throw noGroup(this.name);
  }

  #inLine<T>(work: () => Promise<T>): Promise<T> {
    const run = this.#line.then(work, work);
    this.#line = run.catch(() => undefined);
    return run;
  }
}
