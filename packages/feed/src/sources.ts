import { invalidArgument, invalidOption, isEhdbError, refuseUnknown } from "@ehdb/contracts";
import type { Engine, EventLog, EventShape, FeedSource, LogRecord, RecordedEvent } from "@ehdb/contracts";
import { SourceNews } from "./source-news.ts";

/**
 * A feed of events: sequences are positions, keys are streams. The default subject is an event's type. INVALID_ARGUMENT for what is no event log,
 * INVALID_OPTION.
 */
export function eventLogSource<E extends EventShape = EventShape>(
  log: EventLog<E>,
  options: { readonly subject?: (event: RecordedEvent<E>) => string } = {},
): FeedSource<RecordedEvent<E>> {
  if (typeof (Object(log) as Partial<EventLog>).subscribe !== "function")
    throw invalidArgument("log", log, "an event log: openEventLog() of @ehdb/eventlog");
  const subjectOf = subjectIn(options) ?? (({ type }) => type);
  // An event log on an engine tells by that, at less cost.
  const { engine } = log as { readonly engine?: Engine };
  const news = new SourceNews(
    () => log.position,
    engine === undefined ? (last) => moreIn(log, last) : () => engine.news(engine.revision),
  );
  return {
    get epoch() {
      return log.epoch;
    },
    get first() {
      return log.firstPosition;
    },
    get last() {
      return log.position;
    },
    read: (from, limit, signal) => log.scan({ after: from - 1, limit, ...(signal && { signal }) }).batches(),
    sequenceOf: ({ position }) => position,
    subjectOf,
    keyOf: ({ stream }) => stream,
    timeOf: ({ time }) => time,
    news: (last, signal) => news.after(last, signal),
    assertContinues: async (position, epoch) => {
      for await (const _ of log.scan({ after: { position, epoch }, limit: 0 }).batches());
    },
  };
}

/** A feed of an engine's log dataset: sequences are sort keys, keys are keys. The default subject is a record's key. INVALID_ARGUMENT, INVALID_OPTION. */
export function logSource(
  engine: Engine,
  dataset: string,
  options: { readonly subject?: (record: LogRecord) => string } = {},
): FeedSource<LogRecord> {
  if (typeof (Object(engine) as Partial<Engine>).log !== "function")
    throw invalidArgument("engine", engine, "an engine: openEngine() of @ehdb/l0");
  const subjectOf = subjectIn(options) ?? (({ key }) => key);
  const log = engine.log(dataset);
  // Commits to other datasets are news of the engine, too.
  const news = new SourceNews(
    () => log.last,
    () => engine.news(engine.revision),
  );
  return {
    get epoch() {
      return engine.epoch;
    },
    get first() {
      return log.first;
    },
    get last() {
      return log.last;
    },
    read: (from, limit, signal) => log.scan({ from, limit, ...(signal && { signal }) }),
    sequenceOf: ({ sort }) => sort,
    subjectOf,
    keyOf: ({ key }) => key,
    timeOf: ({ time }) => time,
    news: (last, signal) => news.after(last, signal),
    assertContinues: async (sort, epoch) => log.assertContinues(sort, epoch),
  };
}

/** A stream that nobody has: to follow it says that there is more, without reading that. */
const nobodys = "\u{10FFFF} of nobody";

/** Resolves when a log has more than `last`, also when nothing of that can be read. CLOSED. */
async function moreIn(log: EventLog, last: number): Promise<void> {
  const stop = new AbortController();
  const onCaughtUp = (): void => {
    if (log.position > last) stop.abort();
  };
  try {
    const following = log.subscribe({ after: last, stream: nobodys, onCaughtUp, signal: stop.signal });
    for await (const _ of following.batches()) if (log.position > last) return;
  } catch (error) {
    // Whoever looks again meets what it is, if it's still so.
    if (!isEhdbError(error, "ABORTED", "COMPACTED", "TRUNCATED")) throw error;
  }
}

function subjectIn<R>(options: { readonly subject?: (record: R) => string }): ((record: R) => string) | undefined {
  refuseUnknown(options, ["subject"], "");
  const { subject } = options;
  if (subject === undefined || typeof subject === "function") return subject;
  throw invalidOption("subject", subject, "a function of a record");
}
