import type { Snapshot } from "./api.ts";
import { LogReads } from "./log-reads.ts";
import { MapReads } from "./map-reads.ts";
import type { Pin } from "./pins.ts";
import type { ReadContext } from "./read-context.ts";

export interface SnapshotMoment {
  readonly pin: Pin;
  readonly revision: number;
  /** Of each log, by the dataset's number. */
  readonly nextSorts: ReadonlyMap<number, number>;
}

/** What `pin` keeps, to be read as of `revision`. `checks` refuse the name of another kind of dataset, or of none. */
export function snapshotOf(
  reads: ReadContext,
  { pin, revision, nextSorts }: SnapshotMoment,
  checks: { readonly log: (name: string) => unknown; readonly map: (name: string) => unknown },
): Snapshot {
  const used = (): Pin => {
    pin.touch();
    return { view: pin.view, touch: () => pin.touch(), release: () => undefined };
  };
  const context: ReadContext = {
    ...reads,
    view: () => pin.view,
    nextSort: ({ id }) => nextSorts.get(id) ?? 1,
    readable: () => revision,
    pin: used,
    reading: (begin, signal) => reads.reading(() => touching(pin, begin(used())), signal),
  };
  const release = (): void => pin.release();
  return {
    revision,
    log: (name) => {
      checks.log(name);
      return new LogReads(context, name);
    },
    map: (name) => {
      checks.map(name);
      return new MapReads(context, name);
    },
    release,
    [Symbol.dispose]: release,
  };
}

/** Each step uses the snapshot, or is told that it was let go: what the read has of it may be gone then. */
async function* touching<T>(pin: Pin, batches: AsyncGenerator<readonly T[]>): AsyncGenerator<readonly T[]> {
  for await (const batch of batches) {
    yield batch;
    pin.touch();
  }
}
