import { invalidArgument, refuseUnknown } from "@ehdb/contracts";
import type { EventShape } from "@ehdb/contracts";
import { hostOf } from "@ehdb/host";
import type { Host } from "@ehdb/host";
import { openEngine } from "@ehdb/l0";
import type { CloseReport, DurableEngine, EngineOptions } from "@ehdb/l0";
import { CallLine } from "./call-line.ts";
import { dataset, eventLogDatasets } from "./datasets.ts";
import { OpenEventLog } from "./durable.ts";
import type { DurableEventLog } from "./durable.ts";
import { InFlight } from "./in-flight.ts";
import { LogNews } from "./log-news.ts";
import { DataSchemas } from "./schemas.ts";
import type { EventSchemas } from "./schemas.ts";
import { alreadyOpen } from "./refusals.ts";
import { StreamsFacts } from "./stream-facts.ts";
import { Upcasters } from "./upcasters.ts";
import type { EventUpcasters } from "./upcasters.ts";

/** What a log does with its events, whatever it stands on. */
interface EventOptions<E extends EventShape> {
  /** Validate data when it is appended. Default: none. */
  readonly schemas?: EventSchemas<E>;
  /** Make old events what the program knows now, when they are read. Default: none. */
  readonly upcasters?: EventUpcasters;
}

export interface EventLogOptions<E extends EventShape = EventShape>
  extends Omit<EngineOptions, "datasets">, EventOptions<E> {}

export interface SharedEventLogOptions<E extends EventShape = EventShape> extends EventOptions<E> {
  /** The engine's. Default: this machine. */
  readonly host?: Host;
}

const eventOptions = { schemas: true, upcasters: true } satisfies Record<keyof EventOptions<EventShape>, true>;
const known = {
  dir: true,
  create: true,
  host: true,
  durability: true,
  sealMaxBytes: true,
  sealMaxCommits: true,
  sealMaxAgeSeconds: true,
  dedupeWindow: true,
  blockCacheBytes: true,
  compression: true,
  encryption: true,
  maxInFlightBytes: true,
  reserveBytes: true,
  sealReserveBytes: true,
  manifestRetain: true,
  background: true,
  historyRevisions: true,
  pinIdleSeconds: true,
  blockingSync: true,
  lockTimeoutMillis: true,
  ...eventOptions,
} satisfies Record<keyof EventLogOptions, true>;

/**
 * Opens an event log in a directory of its own, making it when there is none, and locks it. Errors: INVALID_OPTION, LOCKED, CORRUPT,
 * KEY_MISSING, WRONG_KEY, UNSUPPORTED_VERSION, IO_ERROR, NO_SPACE, and with `create: false` NOT_FOUND.
 */
export async function openEventLog<E extends EventShape = EventShape>(
  options: EventLogOptions<E>,
): Promise<DurableEventLog<E>> {
  refuseUnknown(options, Object.keys(known), "");
  const { schemas, upcasters, ...engineOptions } = options;
  const host = hostOf(options.host);
  const parts = { host, schemas: new DataSchemas(schemas), upcasters: new Upcasters(upcasters) };
  const engine = await openEngine({ ...engineOptions, host, datasets: eventLogDatasets });
  try {
    return await openOn<E>(engine, parts, () => engine.close());
  } catch (error) {
    await engine.close();
    throw error;
  }
}

/**
 * An event log on an engine that others use too. Its close leaves the engine open; a close of the engine ends it. INVALID_ARGUMENT when the
 * engine has one open already.
 */
export async function eventLogOn<E extends EventShape = EventShape>(
  engine: DurableEngine,
  options: SharedEventLogOptions<E> = {},
): Promise<DurableEventLog<E>> {
  refuseUnknown(options, ["host", ...Object.keys(eventOptions)], "");
  const { schemas, upcasters } = options;
  const host = hostOf(options.host);
  if (typeof (Object(engine) as Partial<DurableEngine>).commit !== "function")
    throw invalidArgument("engine", engine, "an engine: openEngine() of @ehdb/l0");
  const parts = { host, schemas: new DataSchemas(schemas), upcasters: new Upcasters(upcasters) };
  return await openOn<E>(engine, parts, async () => undefined);
}

/** Engines that have an event log open. */
const inUse = new WeakSet<DurableEngine>();

async function openOn<E extends EventShape>(
  engine: DurableEngine,
  parts: { readonly host: Host; readonly schemas: DataSchemas; readonly upcasters: Upcasters },
  release: () => Promise<CloseReport | undefined>,
): Promise<DurableEventLog<E>> {
  if (inUse.has(engine)) throw alreadyOpen();
  inUse.add(engine);
  try {
    const events = engine.log(dataset.events);
    // A reopen of the engine may have brought what nobody knew the outcome of.
    const streams = new StreamsFacts(engine.map(dataset.streams), () => engine.recovery.epoch);
    await streams.open();
    const news = new LogNews(engine, parts.host.clock);
    return new OpenEventLog<E>(
      { ...parts, engine, events, streams, news, line: new CallLine(), inFlight: new InFlight() },
      async () => {
        inUse.delete(engine);
        return await release();
      },
    );
  } catch (error) {
    inUse.delete(engine);
    throw error;
  }
}
