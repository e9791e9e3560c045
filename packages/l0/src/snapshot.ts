import type { Snapshot } from "./api.ts";
import { LogReads } from "./log-reads.ts";
import { MapReads } from "./map-reads.ts";
import type { Pin } from "./pins.ts";
import type { ReadContext } from "./read-context.ts";

/** What `pin` keeps, to be read as of `revision`. `checks` refuse the name of another kind of dataset, or of none. */
export function snapshotOf(
  reads: ReadContext,
  pin: Pin,
  revision: number,
  checks: { readonly log: (name: string) => unknown; readonly map: (name: string) => unknown },
): Snapshot {
  const context: ReadContext = {
    ...reads,
    view: () => pin.view,
    readable: () => revision,
    pin: () => {
      pin.touch();
      return { view: pin.view, touch: () => pin.touch(), release: () => undefined };
    },
    reading: (begin, signal) =>
      reads.reading(() => begin({ view: pin.view, touch: () => pin.touch(), release: () => undefined }), signal),
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
