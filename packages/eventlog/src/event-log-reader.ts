import type {
  ConsumerInfo,
  EventLog,
  EventShape,
  EventStream,
  ReadStreamOptions,
  ScanEventsOptions,
  StreamInfo,
  SubscribeOptions,
  Subscription,
} from "@ehdb/contracts";
import { EhdbError, whenAborted } from "@ehdb/contracts";
import type { EngineReader } from "@ehdb/l0";
import { readStreamRequest, scanRequest, subscribeRequest } from "./call-options.ts";
import { consumersIn } from "./consumer-places.ts";
import { dataset } from "./datasets.ts";
import { eventStream, subscriptionOf } from "./event-stream.ts";
import type { PageSource } from "./event-stream.ts";
import { follow } from "./following.ts";
import type { LogContext } from "./log-context.ts";
import { assertName } from "./names.ts";
import { placeAfter } from "./place.ts";
import { overtaken } from "./refusals.ts";
import { logPages, streamPages } from "./reading.ts";
import { StreamsFacts } from "./stream-facts.ts";
import { streamInfo } from "./stream-info.ts";
import type { Upcasters } from "./upcasters.ts";

type Reading =
  | "epoch"
  | "position"
  | "firstPosition"
  | "readStream"
  | "scan"
  | "subscribe"
  | "streamInfo"
  | "consumers";

/**
 * An event log to be read, beside the process that writes it or without one: what the writer has stated durable. Each call looks again before it
 * reads; `position`, `firstPosition` and `epoch` are as of the last look.
 */
export interface EventLogReader<E extends EventShape = EventShape> extends Pick<EventLog<E>, Reading> {
  /** For its `datasets`, `revision` and `stats()`. */
  readonly engine: EngineReader;
  /** Looks at what the writer has stated durable since; resolves with `position`. */
  refresh(): Promise<number>;
  /** Reads and subscriptions end with CLOSED. Idempotent. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export class OpenEventLogReader<E extends EventShape> implements EventLogReader<E> {
  readonly engine: EngineReader;
  readonly #context: LogContext;
  readonly #release: () => Promise<void>;
  #closing: Promise<void> | undefined;

  private constructor(engine: EngineReader, context: Omit<LogContext, "assertOpen">, release: () => Promise<void>) {
    this.engine = engine;
    this.#release = release;
    this.#context = { ...context, assertOpen: () => this.#assertOpen() };
  }

  static async on<E extends EventShape>(
    engine: EngineReader,
    upcasters: Upcasters,
    release: () => Promise<void>,
  ): Promise<OpenEventLogReader<E>> {
    const events = engine.log(dataset.events);
    const streams = new StreamsFacts(engine.map(dataset.streams), () => engine.lastRevision(dataset.streams));
    await streams.open();
    const context = {
      engine: {
        get revision() {
          return engine.revision;
        },
        get recovery() {
          return { epoch: engine.epoch };
        },
      },
      events,
      streams,
      news: {
        after: (revision: number, ...signals: readonly (AbortSignal | undefined)[]) =>
          newsUntil(engine, revision, signals),
      },
      upcasters,
    };
    return new OpenEventLogReader<E>(engine, context, release);
  }

  get epoch(): number {
    return this.engine.epoch;
  }

  get position(): number {
    return this.#context.events.last;
  }

  get firstPosition(): number {
    return this.#context.events.first;
  }

  readStream(stream: string, options?: ReadStreamOptions): EventStream<E> {
    assertName("stream", stream);
    const request = readStreamRequest(options);
    return eventStream(
      this.#looking(() => streamPages(this.#context, stream, request)),
      request.signal,
      "readStream()",
    );
  }

  scan(options?: ScanEventsOptions): EventStream<E> {
    const request = scanRequest(options);
    return eventStream(
      this.#looking(() => logPages(this.#context, request)),
      request.signal,
      "scan()",
    );
  }

  subscribe(options?: SubscribeOptions): Subscription<E> {
    const { after, ...request } = subscribeRequest(options);
    const place = after === "end" ? { position: this.position, epoch: this.epoch } : after;
    const position = typeof place === "number" ? place : (place?.position ?? this.firstPosition - 1);
    return subscriptionOf(
      this.#looking((stop) => follow(this.#context, () => placeAfter(this.#context, place), request, stop)),
      request.signal,
      "subscribe()",
      { position, epoch: this.epoch },
    );
  }

  async streamInfo(stream: string): Promise<StreamInfo> {
    assertName("stream", stream);
    await this.refresh();
    return await streamInfo(this.#context, stream);
  }

  async consumers(): Promise<ConsumerInfo[]> {
    await this.refresh();
    return await consumersIn(this.engine.map(dataset.consumers), this.#context.events);
  }

  async refresh(): Promise<number> {
    this.#assertOpen();
    await this.engine.refresh();
    return this.position;
  }

  close(): Promise<void> {
    this.#closing ??= this.#release();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Pages of what there is once it has looked. */
  #looking(pages: PageSource): PageSource {
    const refresh = async (): Promise<unknown> => await this.refresh();
    return async function* looking(stop) {
      await refresh();
      try {
        yield* pages(stop);
      } catch (error) {
        throw overtaken(error);
      }
    };
  }

  #assertOpen(): void {
    if (this.#closing === undefined) return;
    throw new EhdbError("CLOSED", "the event log's reader is closed: open it again");
  }
}

/** Until there is more than `revision`, or one of the signals is aborted. */
async function newsUntil(
  engine: EngineReader,
  revision: number,
  signals: readonly (AbortSignal | undefined)[],
): Promise<void> {
  if (signals.some((signal) => signal?.aborted)) return;
  const ended = new AbortController();
  const stops = signals.map((signal) => signal && whenAborted(signal, () => ended.abort()));
  try {
    await engine.news(revision, { signal: ended.signal });
  } finally {
    for (const stop of stops) stop?.();
  }
}
