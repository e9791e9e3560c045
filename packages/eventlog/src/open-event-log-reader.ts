import { refuseUnknown } from "@ehdb/contracts";
import type { EventShape } from "@ehdb/contracts";
import { openEngineReader } from "@ehdb/l0";
import type { EngineReader, EngineReaderOptions } from "@ehdb/l0";
import { eventLogDatasets } from "./datasets.ts";
import { OpenEventLogReader } from "./event-log-reader.ts";
import type { EventLogReader } from "./event-log-reader.ts";
import { Upcasters } from "./upcasters.ts";
import type { EventUpcasters } from "./upcasters.ts";

export interface EventLogReaderOptions extends Omit<EngineReaderOptions, "datasets"> {
  /** Make old events what the program knows now. Default: none. */
  readonly upcasters?: EventUpcasters;
}

const known = {
  dir: true,
  host: true,
  encryption: true,
  pollMillis: true,
  blockCacheBytes: true,
  upcasters: true,
} satisfies Record<keyof EventLogReaderOptions, true>;

/**
 * Opens an event log to read it, beside a writer in this or another process, or without one. Takes no lock and writes nothing. Errors:
 * INVALID_OPTION (also for a store without an event log), NOT_FOUND, CORRUPT, KEY_MISSING, WRONG_KEY, UNSUPPORTED_VERSION, IO_ERROR.
 */
export async function openEventLogReader<E extends EventShape = EventShape>(
  options: EventLogReaderOptions,
): Promise<EventLogReader<E>> {
  refuseUnknown(options, Object.keys(known), "");
  const { upcasters, ...engineOptions } = options;
  const made = new Upcasters(upcasters);
  const engine = await openEngineReader({ ...engineOptions, datasets: eventLogDatasets });
  try {
    return await OpenEventLogReader.on<E>(engine, made, () => engine.close());
  } catch (error) {
    await engine.close();
    throw error;
  }
}

/** Reads the event log of a store that is open to be read already. Its close leaves that open. INVALID_ARGUMENT when there is none in it. */
export async function eventLogReaderOn<E extends EventShape = EventShape>(
  engine: EngineReader,
  options: Pick<EventLogReaderOptions, "upcasters"> = {},
): Promise<EventLogReader<E>> {
  refuseUnknown(options, ["upcasters"], "");
  return await OpenEventLogReader.on<E>(engine, new Upcasters(options.upcasters), async () => undefined);
}
