import { isEhdbError, whenAborted } from "@ehdb/contracts";
import type { Engine, EventLog, EventShape, FeedSource, LogRecord, RecordedEvent } from "@ehdb/contracts";

/** A feed of events: sequences are positions, keys are streams. The default subject is an event's type. */
export function eventLogSource<E extends EventShape = EventShape>(
  log: EventLog<E>,
  { subject = ({ type }) => type }: { readonly subject?: (event: RecordedEvent<E>) => string } = {},
): FeedSource<RecordedEvent<E>> {
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
    subjectOf: subject,
    keyOf: ({ stream }) => stream,
    timeOf: ({ time }) => time,
    news: async (last, signal) => {
      const events = log.subscribe({ after: last, signal }).batches()[Symbol.asyncIterator]();
      try {
        await events.next();
      } catch (error) {
        // Whoever looks again meets what it is, if it's still so.
        if (!isEhdbError(error, "ABORTED", "CLOSED", "COMPACTED")) throw error;
      } finally {
        await events.return?.();
      }
    },
    assertContinues: async (position, epoch) => {
      for await (const _ of log.scan({ after: { position, epoch }, limit: 0 }).batches());
    },
  };
}

/** A feed of an engine's log dataset: sequences are sort keys, keys are keys. The default subject is a record's key. */
export function logSource(
  engine: Engine,
  dataset: string,
  { subject = ({ key }) => key }: { readonly subject?: (record: LogRecord) => string } = {},
): FeedSource<LogRecord> {
  const log = engine.log(dataset);
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
    subjectOf: subject,
    keyOf: ({ key }) => key,
    timeOf: ({ time }) => time,
    news: async (last, signal) => {
      const aborted = untilAborted(signal);
      try {
        // Other datasets' commits are news of the engine, too.
        while (log.last <= last && !signal.aborted) await Promise.race([engine.news(engine.revision), aborted.promise]);
      } catch (error) {
        if (!isEhdbError(error, "CLOSED")) throw error;
      } finally {
        aborted.stop();
      }
    },
    assertContinues: async (sort, epoch) => log.assertContinues(sort, epoch),
  };
}

function untilAborted(signal: AbortSignal): { readonly promise: Promise<void>; readonly stop: () => void } {
  let stop: () => void = () => undefined;
  const promise = new Promise<void>((resolve) => {
    stop = whenAborted(signal, resolve);
  });
  return { promise, stop };
}
