import { isEhdbError, throwIfAborted } from "@ehdb/contracts";
import type { EventFilter, LogCheckpoint, LogDataset, LogRecord } from "@ehdb/contracts";
import type { TailRequest } from "./call-options.ts";
import { pagesOf } from "./event-pages.ts";
import type { Page } from "./event-stream.ts";
import type { LogContext } from "./log-context.ts";
import { assertContinues } from "./place.ts";
import { compacted } from "./refusals.ts";
import { versionAfter } from "./stream-records.ts";

/** Records that one read of the engine gives: as long as it lasts, it holds what is replaced meanwhile. */
const recordsAtOnce = 4096;

/** Events behind a place as they come, without an end. `start` says the position behind which they begin. */
export async function* follow(
  context: LogContext,
  start: () => number | Promise<number>,
  request: TailRequest,
  stop: AbortSignal,
): AsyncGenerator<Page, void> {
  const { engine, events, news } = context;
  const { wants, filter, signal, onCaughtUp } = request;
  context.assertOpen();
  let at: LogCheckpoint = { position: await start(), epoch: engine.recovery.epoch };
  let toldPosition: number | undefined;
  yield { events: [], checkpoint: at };
  let source = sourceOf(events, filter);
  const selection = { wants, isAnyStream: true, left: Infinity };
  while (!stop.aborted) {
    context.assertOpen();
    assertGoesOn(context, at);
    const { revision } = engine;
    const { epoch } = engine.recovery;
    const { last } = events;
    if (at.position < last) {
      try {
        for await (const records of source.after(at.position)) {
          for await (const page of pagesOf(context, records, selection, epoch)) {
            assertGoesOn(context, at);
            at = page.checkpoint;
            yield page;
            context.assertOpen();
          }
        }
      } catch (error) {
        if (!wasLetGo(error)) throw error;
        source = sourceOf(events, filter);
        continue;
      }
      if (!source.isAtEnd || at.position >= last) continue;
      // What the source leaves out was looked at as well.
      at = { position: last, epoch };
      yield { events: [], checkpoint: at };
      continue;
    }
    if (toldPosition !== at.position) {
      toldPosition = at.position;
      onCaughtUp(at);
      // What it closed or aborted is seen here.
      context.assertOpen();
    }
    await news.after(revision, stop, signal);
    throwIfAborted(signal, "the subscription");
  }
}

/** A read that stood still for too long holds its parts no more. What it hasn't given is in others. */
function wasLetGo(error: unknown): boolean {
  return isEhdbError(error, "COMPACTED") && "idleSeconds" in error.data;
}

function sourceOf(events: LogDataset, { stream }: EventFilter): RecordSource {
  return stream === undefined ? new LogSource(events) : new StreamSource(events, stream);
}

/** TRUNCATED when a crash took back what was delivered, COMPACTED when what comes next was reclaimed. */
function assertGoesOn(context: LogContext, at: LogCheckpoint): void {
  const { first } = context.events;
  if (at.epoch !== context.engine.recovery.epoch) assertContinues(context, at);
  if (at.position + 1 < first) throw compacted(at.position, first);
}

interface RecordSource {
  /** Whether the last read gave all that there was. */
  readonly isAtEnd: boolean;
  /** Records behind a position, as of now, not all of them. */
  after(position: number): AsyncIterable<readonly LogRecord[]>;
}

class LogSource implements RecordSource {
  isAtEnd = false;
  readonly #events: LogDataset;

  constructor(events: LogDataset) {
    this.#events = events;
  }

  async *after(position: number): AsyncGenerator<readonly LogRecord[], void> {
    let count = 0;
    for await (const records of this.#events.scan({ from: position + 1, limit: recordsAtOnce })) {
      count += records.length;
      yield records;
    }
    this.isAtEnd = count < recordsAtOnce;
  }
}

class StreamSource implements RecordSource {
  isAtEnd = false;
  readonly #events: LogDataset;
  readonly #stream: string;
  #nextVersion: number | undefined;

  constructor(events: LogDataset, stream: string) {
    this.#events = events;
    this.#stream = stream;
  }

  async *after(position: number): AsyncGenerator<readonly LogRecord[], void> {
    this.#nextVersion ??= await versionAfter(this.#events, this.#stream, position, 1);
    let count = 0;
    for await (const records of this.#events.read(this.#stream, { from: this.#nextVersion, limit: recordsAtOnce })) {
      count += records.length;
      this.#nextVersion = (records.at(-1) as LogRecord).version + 1;
      yield records;
    }
    this.isAtEnd = count < recordsAtOnce;
  }
}
