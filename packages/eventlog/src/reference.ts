import { EhdbError, invalidOption, optionReader, refuseUnknown, throwIfAborted } from "@ehdb/contracts";
import type {
  AppendOptions,
  AppendResult,
  Consumer,
  ConsumerInfo,
  EventLog,
  EventShape,
  EventStream,
  Expectation,
  ImportEventsResult,
  ImportOptions,
  LogCheckpoint,
  NewEvent,
  ReadStreamOptions,
  ReclaimOptions,
  ScanEventsOptions,
  StreamInfo,
  SubscribeOptions,
  Subscription,
} from "@ehdb/contracts";
import { hostOf } from "@ehdb/host";
import type { Host } from "@ehdb/host";
import {
  appendRequest,
  readStreamRequest,
  reclaimRequest,
  scanRequest,
  subscribeRequest,
  tailRequest,
} from "./call-options.ts";
import type { TailOptions, TailRequest } from "./call-options.ts";
import { encodeEvents } from "./encoding.ts";
import { eventStream, subscriptionOf } from "./event-stream.ts";
import type { Page } from "./event-stream.ts";
import { assertBatches, importRequest, placedEvents } from "./imported-event.ts";
import type { ImportBatches, PlacedEvent } from "./imported-event.ts";
import { assertName, assertSequence } from "./names.ts";
import { News } from "./news.ts";
import { duplicateInPlace, duplicateInWindow } from "./reference-duplicate.ts";
import type { Entry } from "./reference-entry.ts";
import { ReferenceFile } from "./reference-file.ts";
import { logEvents, nextWanted, pageOf, pagesOf, startAfter, streamEvents } from "./reference-reading.ts";
import { inOrder } from "./reference-import.ts";
import { firstKept } from "./reference-reclaim.ts";
import { ReferenceState } from "./reference-state.ts";
import { beyondTheEnd, beyondTheStream, closed, conflict, importing } from "./refusals.ts";
import { DataSchemas } from "./schemas.ts";
import type { EventSchemas } from "./schemas.ts";
import { Upcasters } from "./upcasters.ts";
import type { EventUpcasters } from "./upcasters.ts";

export interface ReferenceEventLogOptions<E extends EventShape = EventShape> {
  /** Default: this machine. In memory, only its clock and its randomness are used. */
  readonly host?: Host;
  /** A file in which the log is kept, made when missing; the log is replayed from it. Default: in memory only. */
  readonly file?: string;
  /** Ids make appends idempotent among this many of the newest events: 1 to 2^31, default 65 536. */
  readonly dedupeWindow?: number;
  readonly schemas?: EventSchemas<E>;
  readonly upcasters?: EventUpcasters;
}

/**
 * An event log that is plain before it is fast: what the contract says, over lists in memory. For tests, and to compare others with. It
 * keeps all that was ever appended in memory, and most of its calls take time that grows with the log.
 */
export async function referenceEventLog<E extends EventShape = EventShape>(
  options: ReferenceEventLogOptions<E> = {},
): Promise<EventLog<E>> {
  refuseUnknown(
    options,
    ["host", "file", "dedupeWindow", "schemas", "upcasters"] satisfies (keyof ReferenceEventLogOptions)[],
    "",
  );
  const { file: path } = options;
  const host = hostOf(options.host);
  if (path !== undefined && (typeof path !== "string" || path === "")) throw invalidOption("file", path, "a path");
  const dedupeWindow = optionReader(options).whole("dedupeWindow", 65_536, 1, 2 ** 31);
  const schemas = new DataSchemas(options.schemas);
  const upcasters = new Upcasters(options.upcasters);
  const state = new ReferenceState();
  const file = path === undefined ? undefined : await ReferenceFile.open(host, path, (entry) => state.apply(entry));
  const opened: Entry = { kind: "opened", epoch: state.epoch + 1 };
  try {
    await file?.write(opened);
  } catch (error) {
    await file?.close();
    throw error;
  }
  state.apply(opened);
  return new ReferenceEventLog({ host, state, file, dedupeWindow, schemas, upcasters });
}

interface Parts {
  readonly host: Host;
  readonly state: ReferenceState;
  readonly file: ReferenceFile | undefined;
  readonly dedupeWindow: number;
  readonly schemas: DataSchemas;
  readonly upcasters: Upcasters;
}

class ReferenceEventLog<E extends EventShape> implements EventLog<E> {
  readonly #parts: Parts;
  readonly #state: ReferenceState;
  readonly #news: News;
  /** Ends when the newest change is made. Changes are made one after the other, in the order of their calls. */
  #changes: Promise<unknown> = Promise.resolve();
  #closing: Promise<void> | undefined;
  #isImporting = false;
  #tellClosed: () => void = () => undefined;
  readonly #closed: Promise<void> = new Promise((resolve) => (this.#tellClosed = resolve));

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#news = new News(parts.host.clock);
    this.#state = parts.state;
  }

  get epoch(): number {
    return this.#state.epoch;
  }

  get position(): number {
    return this.#state.position;
  }

  get firstPosition(): number {
    return this.#state.firstPosition;
  }

  async append(
    stream: string,
    events: NewEvent<E> | readonly NewEvent<E>[],
    options?: AppendOptions,
  ): Promise<AppendResult> {
    this.#assertOpen();
    const { expect, signal } = appendRequest(options);
    const { host, schemas, dedupeWindow } = this.#parts;
    const encoded = encodeEvents(stream, events, schemas, () => host.random.id());
    throwIfAborted(signal, "append()");
    return this.#inTurn(async () => {
      throwIfAborted(signal, "append()");
      if (this.#isImporting) throw importing();
      const known = duplicateInWindow(this.#state, stream, encoded, dedupeWindow);
      if (known !== undefined) return known;
      if (!this.#state.holds(stream, expect)) {
        const inPlace = duplicateInPlace(this.#state, stream, encoded, expect);
        if (inPlace !== undefined) return inPlace;
        throw this.#conflict(stream, expect);
      }
      return (await this.#change({ kind: "appended", stream, time: this.#now(), events: encoded })) as AppendResult;
    });
  }

  async import(batches: ImportBatches, options?: ImportOptions): Promise<ImportEventsResult> {
    this.#assertOpen();
    const { disorder, signal } = importRequest(options);
    assertBatches(batches);
    throwIfAborted(signal, "import()");
    if (this.#isImporting) throw importing();
    if (this.position > 0) {
      const message = `the log has had events up to position ${this.position}: import into a new one`;
      throw new EhdbError("ALREADY_EXISTS", message, { position: this.position });
    }
    this.#isImporting = true;
    try {
      const given = await this.#gathered(batches, signal);
      const { dedupeWindow } = this.#parts;
      const { events, outOfOrder } = inOrder(given, disorder === "count", dedupeWindow);
      if (events.length === 0) return { events: 0, outOfOrder: 0, firstPosition: 0, position: 0 };
      return await this.#inTurn(async () => {
        await this.#change({ kind: "imported", events });
        const firstPosition = events[0]?.position ?? 0;
        return { events: events.length, outOfOrder, firstPosition, position: this.position };
      });
    } finally {
      this.#isImporting = false;
    }
  }

  readStream(stream: string, options?: ReadStreamOptions): EventStream<E> {
    assertName("stream", stream);
    const request = readStreamRequest(options);
    return this.#read(() => streamEvents(this.#state, stream, request), request.signal, "readStream()");
  }

  scan(options?: ScanEventsOptions): EventStream<E> {
    const request = scanRequest(options);
    return this.#read(() => logEvents(this.#state, request), request.signal, "scan()");
  }

  subscribe(options?: SubscribeOptions): Subscription<E> {
    const { after, ...request } = subscribeRequest(options);
    const place = after === "end" ? this.#checkpoint(this.position) : after;
    const start = typeof place === "number" ? place : (place?.position ?? this.firstPosition - 1);
    const pages = (stop: AbortSignal): AsyncGenerator<Page, void> =>
      this.#follow(() => startAfter(this.#state, place), request, stop);
    return subscriptionOf(pages, request.signal, "subscribe()", this.#checkpoint(start));
  }

  async streamInfo(stream: string): Promise<StreamInfo> {
    this.#assertOpen();
    assertName("stream", stream);
    return this.#state.info(stream);
  }

  consumer(name: string): Consumer<E> {
    assertName("consumer", name);
    const committed = (): number => this.#state.consumers.get(name) ?? 0;
    return {
      name,
      committed: async () => {
        this.#assertOpen();
        return committed();
      },
      tail: (options?: TailOptions) => {
        const request = tailRequest(options);
        const start = (): number => startAfter(this.#state, committed() === 0 ? undefined : committed());
        const pages = (stop: AbortSignal): AsyncGenerator<Page, void> => this.#follow(start, request, stop);
        return subscriptionOf(pages, request.signal, "tail()", this.#checkpoint(committed()));
      },
      ack: async (position) => {
        this.#assertOpen();
        assertSequence("position", position, 0);
        return this.#inTurn(async () => {
          if (position > this.position) throw beyondTheEnd(position, this.position);
          const isNews = position > committed() || !this.#state.consumers.has(name);
          if (isNews) await this.#change({ kind: "acknowledged", consumer: name, position });
          return committed();
        });
      },
      delete: async () => {
        this.#assertOpen();
        await this.#inTurn(async () => {
          if (this.#state.consumers.has(name)) await this.#change({ kind: "forgotten", consumer: name });
        });
      },
    };
  }

  async consumers(): Promise<ConsumerInfo[]> {
    this.#assertOpen();
    return [...this.#state.consumers]
      .map(([name, committed]) => ({ name, committed, lag: this.position - committed }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  async truncateStream(stream: string, beforeVersion: number): Promise<StreamInfo> {
    this.#assertOpen();
    assertName("stream", stream);
    assertSequence("beforeVersion", beforeVersion, 1);
    return this.#inTurn(async () => {
      const { version } = this.#state.info(stream);
      if (beforeVersion > version + 1) throw beyondTheStream(stream, beforeVersion, version);
      if (beforeVersion > this.#state.truncatedBefore(stream)) {
        await this.#change({ kind: "truncated", stream, beforeVersion });
      }
      return this.#state.info(stream);
    });
  }

  async deleteStream(stream: string, options?: AppendOptions): Promise<StreamInfo> {
    this.#assertOpen();
    assertName("stream", stream);
    const { expect, signal } = appendRequest(options);
    throwIfAborted(signal, "deleteStream()");
    return this.#inTurn(async () => {
      if (!this.#state.holds(stream, expect)) throw this.#conflict(stream, expect);
      const { version, isDeleted } = this.#state.info(stream);
      if (version > 0 && !isDeleted) await this.#change({ kind: "deleted", stream });
      return this.#state.info(stream);
    });
  }

  async reclaim(options: ReclaimOptions): Promise<number> {
    this.#assertOpen();
    const request = reclaimRequest(options);
    return this.#inTurn(async () => {
      const firstPosition = firstKept(this.#state, request, this.#now());
      if (firstPosition > this.firstPosition) await this.#change({ kind: "reclaimed", firstPosition });
      return this.firstPosition;
    });
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    this.#tellClosed();
    this.#news.tell();
    await this.#changes;
    await this.#parts.file?.close();
  }

  async #gathered(batches: ImportBatches, signal: AbortSignal | undefined): Promise<PlacedEvent[]> {
    const { host, schemas } = this.#parts;
    const check = (): void => {
      this.#assertOpen();
      throwIfAborted(signal, "import()");
    };
    const ended = new Promise<void>((resolve) => {
      signal?.addEventListener("abort", () => resolve(), { once: true });
      void this.#closed.then(resolve);
    });
    const iterator = (async function* () {
      yield* batches;
    })();
    const given: PlacedEvent[] = [];
    for (;;) {
      const next = iterator.next();
      await Promise.race([next, ended]);
      check();
      const { done, value } = await next;
      if (done === true) return given;
      given.push(...placedEvents(value, schemas, () => host.random.id()));
    }
  }

  #inTurn<T>(change: () => Promise<T>): Promise<T> {
    const made = this.#changes.then(change);
    this.#changes = made.catch(() => undefined);
    return made;
  }

  /** First durable, then true. */
  async #change(entry: Entry): Promise<AppendResult | undefined> {
    await this.#parts.file?.write(entry);
    const result = this.#state.apply(entry);
    this.#news.tell();
    return result;
  }

  #now(): number {
    return Math.max(this.#parts.host.clock.now(), this.#state.lastTime);
  }

  #checkpoint(position: number): LogCheckpoint {
    return { position, epoch: this.epoch };
  }

  #conflict(stream: string, expect: Expectation): EhdbError {
    const { version, isDeleted } = this.#state.info(stream);
    return conflict(stream, expect, version, isDeleted);
  }

  #read(list: () => ReturnType<typeof logEvents>, signal: AbortSignal | undefined, what: string): EventStream<E> {
    const openList = (): ReturnType<typeof logEvents> => {
      this.#assertOpen();
      return list();
    };
    return eventStream(() => pagesOf(openList, this.#parts.upcasters, signal, what), signal, what);
  }

  async *#follow(start: () => number, request: TailRequest, stop: AbortSignal): AsyncGenerator<Page, void> {
    this.#assertOpen();
    let after = start();
    yield pageOf([], this.#checkpoint(after), this.#parts.upcasters);
    while (!stop.aborted) {
      this.#assertOpen();
      const found = nextWanted(this.#state, after, request.wants);
      if (found !== undefined) {
        after = found.through;
        yield pageOf(found.events, this.#checkpoint(after), this.#parts.upcasters);
        continue;
      }
      request.onCaughtUp(this.#checkpoint(after));
      // What onCaughtUp appended is there only after its next turn, and what it closed or aborted is seen here.
      this.#assertOpen();
      await this.#news.next(stop, request.signal);
      throwIfAborted(request.signal, "the subscription");
    }
  }

  #assertOpen(): void {
    if (this.#closing !== undefined) throw closed();
  }
}
