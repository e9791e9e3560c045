import { EhdbError, invalidArgument, isEhdbError, throwIfAborted } from "@ehdb/contracts";
import type { Checkpoint, JournalRecord, RecordStream, ScanOptions, TailOptions } from "./api.ts";
import { checkOptions, checkSequence } from "./arguments.ts";
import { deferred } from "./deferred.ts";
import type { Deferred } from "./deferred.ts";
import { compacted, LogCursor, readRecord } from "./cursor.ts";
import type { LogView } from "./log-view.ts";
import { RecordIterator } from "./record-iterator.ts";
import { within } from "./waiting.ts";

/** What can be read when the scan starts, or up to `to`. */
export function scan(view: LogView, options: ScanOptions = {}): RecordStream {
  checkOptions(options, ["from", "after", "to", "signal"] satisfies (keyof ScanOptions)[]);
  checkRange(options);
  return stream(view, async function* () {
    const { signal } = options;
    throwIfAborted(signal, "the scan");
    const next = await startOf(view, options);
    const to = Math.min(options.to ?? Number.MAX_SAFE_INTEGER, view.last);
    const cursor = new LogCursor(view, next);
    try {
      for (let batch = await cursor.read(to); batch !== undefined; batch = await cursor.read(to)) {
        throwIfAborted(signal, "the scan");
        yield batch;
      }
    } finally {
      await cursor.close();
    }
  });
}

/** Catches up, then follows. */
export function tail(view: LogView, options: TailOptions = {}): RecordStream {
  checkOptions(options, ["from", "after", "signal", "onCaughtUp"] satisfies (keyof TailOptions)[]);
  checkRange(options);
  return stream(view, async function* (end) {
    const { signal } = options;
    throwIfAborted(signal, "the tail");
    const next = await startOf(view, options);
    const cursor = new LogCursor(view, next);
    try {
      for (;;) {
        const to = view.last;
        for (let batch = await cursor.read(to); batch !== undefined; batch = await cursor.read(to)) {
          throwIfAborted(signal, "the tail");
          yield batch;
        }
        if (view.last > to) continue;
        options.onCaughtUp?.(to);
        if (view.last > to) continue;
        const news = Promise.race([view.news(), end.promise]);
        await within(view.host.clock, news, "the tail", "READY_TIMEOUT", signal === undefined ? {} : { signal });
        if (end.isReached) return;
      }
    } finally {
      await cursor.close();
    }
  });
}

async function startOf(view: LogView, options: { from?: number; after?: Checkpoint }): Promise<number> {
  view.assertContinues(0, view.epoch);
  const { from, after } = options;
  if (after === undefined) {
    const next = from ?? view.first;
    if (next < view.first) throw compacted(next, view.first);
    return next;
  }
  const { sequence, epoch } = after;
  await view.catchUp(sequence, epoch);
  if (sequence + 1 < view.first) throw compacted(sequence + 1, view.first);
  view.assertContinues(sequence, epoch);
  if (epoch > view.epoch || sequence > view.furthest) throw truncated(sequence, epoch, view.last);
  if (sequence > view.last) {
    // Appended by this very incarnation, and not readable yet.
    if (epoch === view.epoch) return sequence + 1;
    // There, and not yet stated durable: a reader, or an open on a full disk, doesn't show it.
    if (sequence > (view.segments.at(-1)?.last ?? 0)) throw truncated(sequence, epoch, view.last);
  }
  if (sequence < view.first) {
    if (sequence === view.lowWater.sequence - 1 && view.lowWater.epoch > epoch) {
      throw truncated(sequence, epoch, view.last);
    }
    return sequence + 1;
  }
  try {
    const record = await readRecord(view, sequence);
    if (record.epoch > epoch) throw truncated(sequence, epoch, view.last);
  } catch (error) {
    // What a salvage couldn't save had been durable: whoever read it before goes on behind it.
    if (!isEhdbError(error, "SEQUENCE_LOST")) throw error;
  }
  return sequence + 1;
}

export function truncated(sequence: number, epoch: number, last: number): EhdbError {
  const message = `sequence ${sequence}, read in epoch ${epoch}, is not in this log: a crash took it back before it was durable, or the log was replaced by another. Reconcile what was made of it, then go on from an earlier place; the log ends at ${last}`;
  return new EhdbError("TRUNCATED", message, { sequence, epoch, last });
}

function checkRange({ from, after, to }: ScanOptions): void {
  if (from !== undefined) checkSequence("from", from, 1);
  if (to !== undefined) checkSequence("to", to, 0);
  if (after === undefined) return;
  if (from !== undefined) throw new EhdbError("INVALID_ARGUMENT", "give either from or after, not both", { from });
  if (typeof after !== "object" || after === null) {
    const hint = "To start at the beginning, leave it out; to start at a sequence, give from";
    throw invalidArgument("after", after, "{ sequence, epoch } of a record", hint);
  }
  checkSequence("after.sequence", after.sequence, 0);
  checkSequence("after.epoch", after.epoch, 0);
}

/** Whoever reads a stream wants no more of it. */
class End {
  readonly #reached: Deferred<void> = deferred();
  isReached = false;

  get promise(): Promise<void> {
    return this.#reached.promise;
  }

  reach(): void {
    this.isReached = true;
    this.#reached.resolve();
  }
}

type Batches = AsyncGenerator<readonly JournalRecord[], void>;

/** A stream that is iterated once, by batch or by record. Its start is checked when the iteration begins. */
function stream(view: LogView, start: (end: End) => Batches): RecordStream {
  let taken = false;
  const batches = (): AsyncIterableIterator<readonly JournalRecord[], void> => {
    if (taken)
      throw new EhdbError("INVALID_ARGUMENT", "a stream of records is iterated once; call scan() or tail() again", {});
    taken = true;
    const end = new End();
    const source = noting(view, start(end));
    return {
      next: () => source.next(),
      // A generator that waits for news would hear of it only with the next ones.
      return: () => {
        end.reach();
        return source.return();
      },
      [Symbol.asyncIterator]() {
        return this;
      },
    };
  };
  return { batches, [Symbol.asyncIterator]: () => new RecordIterator(batches()) };
}

async function* noting(view: LogView, source: Batches): Batches {
  try {
    for await (const batch of source) {
      view.noteRead();
      yield batch;
    }
  } catch (error) {
    throw view.noteError(error);
  }
}
