import type {
  AppendOptions,
  AppendResult,
  Consumer,
  ConsumerInfo,
  EventLog,
  EventShape,
  EventStream,
  ImportEventsResult,
  ImportOptions,
  NewEvent,
  ReadStreamOptions,
  ReclaimOptions,
  ScanEventsOptions,
  StreamInfo,
  SubscribeOptions,
  Subscription,
  WriteBatch,
} from "@ehdb/contracts";
import type { CloseReport, DurableEngine } from "@ehdb/l0";
import { Appends } from "./appends.ts";
import { readStreamRequest, reclaimRequest, scanRequest, subscribeRequest, tailRequest } from "./call-options.ts";
import type { StageOptions, TailOptions } from "./call-options.ts";
import { ConsumerPlaces } from "./consumer-places.ts";
import { eventStream, subscriptionOf } from "./event-stream.ts";
import { follow } from "./following.ts";
import type { ImportBatches } from "./imported-event.ts";
import { importEvents } from "./importing.ts";
import type { WritingContext } from "./log-context.ts";
import { assertName, assertSequence } from "./names.ts";
import { placeAfter } from "./place.ts";
import { logPages, streamPages } from "./reading.ts";
import { reclaim } from "./reclaim.ts";
import { closed } from "./refusals.ts";
import { Streams } from "./streams.ts";

/** An event log on an engine, with what only that has. */
export interface DurableEventLog<E extends EventShape = EventShape> extends EventLog<E> {
  /** For `state`, `stats()`, `flush()`, `setDurability()`, `seal()`, and `reopen()` after POISONED. */
  readonly engine: DurableEngine;
  /** Resolves when an append would be taken in without waiting for memory or disk. */
  ready(options?: { readonly signal?: AbortSignal }): Promise<void>;
  /**
   * States an append in a batch of this log's engine, for one commit with what other datasets get. As `append` otherwise, but refused by throwing,
   * and by the commit with the engine's own CONFLICT and ID_REUSED. Of a stream that has been deleted, `none` and `exists` may conflict
   * until `streamInfo` was asked for it.
   */
  stageAppend(
    batch: WriteBatch,
    stream: string,
    events: NewEvent<E> | readonly NewEvent<E>[],
    options?: StageOptions,
  ): void;
}

/** The log's calls, each where it's done. */
export class OpenEventLog<E extends EventShape> implements DurableEventLog<E> {
  readonly engine: DurableEngine;
  readonly #context: WritingContext;
  readonly #appends: Appends;
  readonly #streams: Streams;
  readonly #consumers: ConsumerPlaces;
  readonly #release: () => Promise<CloseReport | undefined>;
  /** Ends an import with the log. */
  readonly #ending = new AbortController();
  #closing: Promise<void> | undefined;

  /** `release` is what a close does with the engine. */
  constructor(context: Omit<WritingContext, "assertOpen">, release: () => Promise<CloseReport | undefined>) {
    this.engine = context.engine;
    this.#context = { ...context, assertOpen: () => this.#assertOpen() };
    this.#appends = new Appends(this.#context);
    this.#streams = new Streams(this.#context);
    this.#consumers = new ConsumerPlaces(context.engine, context.events);
    this.#release = release;
  }

  get epoch(): number {
    return this.engine.recovery.epoch;
  }

  get position(): number {
    return this.#context.events.last;
  }

  get firstPosition(): number {
    return this.#context.events.first;
  }

  append(stream: string, events: NewEvent<E> | readonly NewEvent<E>[], options?: AppendOptions): Promise<AppendResult> {
    return this.#appends.append(stream, events, options);
  }

  stageAppend(
    batch: WriteBatch,
    stream: string,
    events: NewEvent<E> | readonly NewEvent<E>[],
    options?: StageOptions,
  ): void {
    this.#appends.stage(batch, stream, events, options);
  }

  async ready(options?: { readonly signal?: AbortSignal }): Promise<void> {
    this.#assertOpen();
    await this.engine.ready(options);
  }

  async import(batches: ImportBatches, options?: ImportOptions): Promise<ImportEventsResult> {
    this.#assertOpen();
    return await importEvents(this.#context, batches, options, this.#ending.signal);
  }

  readStream(stream: string, options?: ReadStreamOptions): EventStream<E> {
    assertName("stream", stream);
    const request = readStreamRequest(options);
    return eventStream(() => streamPages(this.#context, stream, request), request.signal, "readStream()");
  }

  scan(options?: ScanEventsOptions): EventStream<E> {
    const request = scanRequest(options);
    return eventStream(() => logPages(this.#context, request), request.signal, "scan()");
  }

  subscribe(options?: SubscribeOptions): Subscription<E> {
    const { after, ...request } = subscribeRequest(options);
    const place = after === "end" ? { position: this.position, epoch: this.epoch } : after;
    const position = typeof place === "number" ? place : (place?.position ?? this.firstPosition - 1);
    return subscriptionOf(
      (stop) => follow(this.#context, () => placeAfter(this.#context, place), request, stop),
      request.signal,
      "subscribe()",
      { position, epoch: this.epoch },
    );
  }

  streamInfo(stream: string): Promise<StreamInfo> {
    return this.#streams.info(stream);
  }

  truncateStream(stream: string, beforeVersion: number): Promise<StreamInfo> {
    return this.#streams.truncate(stream, beforeVersion);
  }

  deleteStream(stream: string, options?: AppendOptions): Promise<StreamInfo> {
    return this.#streams.delete(stream, options);
  }

  consumer(name: string): Consumer<E> {
    assertName("consumer", name);
    const places = this.#consumers;
    return {
      name,
      committed: async () => {
        this.#assertOpen();
        return await places.committed(name);
      },
      tail: (options) => this.#tail(name, options),
      ack: async (position) => {
        this.#assertOpen();
        assertSequence("position", position, 0);
        return await places.ack(name, position);
      },
      delete: async () => {
        this.#assertOpen();
        await places.delete(name);
      },
    };
  }

  async consumers(): Promise<ConsumerInfo[]> {
    this.#assertOpen();
    return await this.#consumers.list();
  }

  async reclaim(options: ReclaimOptions): Promise<number> {
    this.#assertOpen();
    const request = reclaimRequest(options);
    const { line } = this.#context;
    return await line.take(() => reclaim(this.#context, this.#consumers, request), undefined, "reclaim()");
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    this.#ending.abort();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #tail(name: string, options: TailOptions | undefined): Subscription<E> {
    const request = tailRequest(options);
    const start = async (): Promise<number> => {
      const committed = await this.#consumers.committed(name);
      return placeAfter(this.#context, committed === 0 ? undefined : committed);
    };
    return subscriptionOf((stop) => follow(this.#context, start, request, stop), request.signal, "tail()", {
      position: 0,
      epoch: this.epoch,
    });
  }

  async #close(): Promise<void> {
    const { line, inFlight, news } = this.#context;
    news.tell();
    await line.ended();
    await inFlight.drained();
    await this.#consumers.settled();
    const isTold = this.#isTold;
    const report = await this.#release();
    if (report?.reason !== undefined && !isTold) throw report.reason;
  }

  /** A call has been rejected for what keeps the close from being clean, or the engine's own close has said it. */
  get #isTold(): boolean {
    const { state } = this.engine;
    if (state !== "poisoned") return state === "closed";
    const { POISONED, OUTCOME_UNKNOWN } = this.engine.stats().errors;
    return POISONED + OUTCOME_UNKNOWN > 0;
  }

  #assertOpen(): void {
    if (this.#closing !== undefined || this.engine.state === "closed") throw closed();
  }
}
