import { abortedError, EhdbError, throwIfAborted } from "@ehdb/contracts";
import type { EventShape, EventStream, LogCheckpoint, RecordedEvent, Subscription } from "@ehdb/contracts";
import { recordedEvent } from "./lazy-event.ts";

/** What a driver found at once: lazy events, perhaps none, and the place up to which it has looked. */
export interface Page {
  readonly events: readonly RecordedEvent[];
  readonly checkpoint: LogCheckpoint;
}

/**
 * Where pages come from. It's asked for the next page only when all of the last one was delivered. `stop` is aborted when the
 * reader wants no more: then it ends, also while it waits.
 */
export type PageSource = (stop: AbortSignal) => AsyncGenerator<Page, void>;

/** Pages as the stream that a user iterates, once, event by event or by batches. */
export function eventStream<E extends EventShape>(
  pages: PageSource,
  signal: AbortSignal | undefined,
  what: string,
): EventStream<E> {
  return new PagedStream(pages, signal, what, nowhere) as unknown as EventStream<E>;
}

/** The same, with the place up to which it was delivered; `start` before anything was. */
export function subscriptionOf<E extends EventShape>(
  pages: PageSource,
  signal: AbortSignal | undefined,
  what: string,
  start: LogCheckpoint,
): Subscription<E> {
  return new PagedStream(pages, signal, what, start) as unknown as Subscription<E>;
}

const nowhere: LogCheckpoint = { position: 0, epoch: 0 };

class PagedStream implements Subscription {
  checkpoint: LogCheckpoint;
  readonly #pages: PageSource;
  readonly #signal: AbortSignal | undefined;
  readonly #what: string;
  #isTaken = false;

  constructor(pages: PageSource, signal: AbortSignal | undefined, what: string, start: LogCheckpoint) {
    this.#pages = pages;
    this.#signal = signal;
    this.#what = what;
    this.checkpoint = start;
  }

  batches(): AsyncIterableIterator<readonly RecordedEvent[], void> {
    return this.#batches((events) => events.map(recordedEvent));
  }

  lazyBatches(): AsyncIterableIterator<readonly RecordedEvent[], void> {
    return this.#batches((events) => events);
  }

  #batches(
    given: (events: readonly RecordedEvent[]) => readonly RecordedEvent[],
  ): AsyncIterableIterator<readonly RecordedEvent[], void> {
    const pages = this.#take();
    return {
      next: async () => {
        const page = await pages.next();
        if (page === undefined) return { done: true, value: undefined };
        this.checkpoint = page.checkpoint;
        return { done: false, value: given(page.events) };
      },
      return: async () => {
        await pages.end();
        return { done: true, value: undefined };
      },
      [Symbol.asyncIterator]() {
        return this;
      },
    };
  }

  [Symbol.asyncIterator](): AsyncIterableIterator<RecordedEvent, void> {
    return new EventIterator(this.#take(), this.#signal, this.#what, (checkpoint) => {
      this.checkpoint = checkpoint;
    });
  }

  #take(): Pages {
    if (this.#isTaken) {
      const message = `${this.#what} is iterated once, by events or by batches: call it again to read again`;
      throw new EhdbError("INVALID_ARGUMENT", message);
    }
    this.#isTaken = true;
    return new Pages(this.#pages, this.#signal, this.#what, (checkpoint) => {
      this.checkpoint = checkpoint;
    });
  }
}

/** The pages that hold events; those that hold none only move the checkpoint. */
class Pages {
  readonly #stop = new AbortController();
  readonly #source: AsyncGenerator<Page, void>;

  constructor(
    pages: PageSource,
    signal: AbortSignal | undefined,
    what: string,
    skipped: (checkpoint: LogCheckpoint) => void,
  ) {
    this.#source = withEvents(pages(this.#stop.signal), signal, what, skipped);
  }

  async next(): Promise<Page | undefined> {
    const { done, value } = await this.#source.next();
    return done === true ? undefined : value;
  }

  async end(): Promise<void> {
    this.#stop.abort();
    await this.#source.return();
  }
}

async function* withEvents(
  pages: AsyncGenerator<Page, void>,
  signal: AbortSignal | undefined,
  what: string,
  skipped: (checkpoint: LogCheckpoint) => void,
): AsyncGenerator<Page, void> {
  throwIfAborted(signal, what);
  for await (const page of pages) {
    throwIfAborted(signal, what);
    if (page.events.length === 0) skipped(page.checkpoint);
    else yield page;
    throwIfAborted(signal, what);
  }
}

const done: IteratorReturnResult<undefined> = { done: true, value: undefined };

/** Events one by one. Within a page it answers without waiting: a generator would cost three turns an event. */
class EventIterator implements AsyncIterableIterator<RecordedEvent, void> {
  readonly #pages: Pages;
  readonly #signal: AbortSignal | undefined;
  readonly #what: string;
  readonly #delivered: (checkpoint: LogCheckpoint) => void;
  #page: Page | undefined;
  #at = 0;
  /** The newest call that couldn't be answered at once; later ones come after it. */
  #turn: Promise<IteratorResult<RecordedEvent, void>> | undefined;

  constructor(
    pages: Pages,
    signal: AbortSignal | undefined,
    what: string,
    delivered: (checkpoint: LogCheckpoint) => void,
  ) {
    this.#pages = pages;
    this.#signal = signal;
    this.#what = what;
    this.#delivered = delivered;
  }

  next(): Promise<IteratorResult<RecordedEvent, void>> {
    if (this.#turn === undefined && this.#signal?.aborted !== true) {
      const event = this.#deliver();
      if (event !== undefined) return Promise.resolve({ done: false, value: event });
    }
    const before = this.#turn ?? Promise.resolve();
    const turn = before.then(
      () => this.#take(),
      () => this.#take(),
    );
    this.#turn = turn;
    const ended = (): void => {
      if (this.#turn === turn) this.#turn = undefined;
    };
    turn.then(ended, ended);
    return turn;
  }

  async return(): Promise<IteratorResult<RecordedEvent, void>> {
    this.#page = undefined;
    await this.#pages.end();
    return done;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async #take(): Promise<IteratorResult<RecordedEvent, void>> {
    if (this.#page !== undefined && this.#signal?.aborted === true) {
      await this.return();
      throw abortedError(this.#signal, this.#what);
    }
    let event = this.#deliver();
    if (event === undefined) {
      this.#page = await this.#pages.next();
      this.#at = 0;
      event = this.#deliver();
    }
    return event === undefined ? done : { done: false, value: event };
  }

  #deliver(): RecordedEvent | undefined {
    const page = this.#page;
    const event = page?.events[this.#at];
    if (page === undefined || event === undefined) return undefined;
    this.#at++;
    // What the filter left out behind a page's last event was looked at as well.
    const isLast = this.#at === page.events.length;
    this.#delivered(isLast ? page.checkpoint : { position: event.position, epoch: page.checkpoint.epoch });
    return recordedEvent(event);
  }
}
