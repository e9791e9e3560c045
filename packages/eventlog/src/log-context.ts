import type { LogDataset } from "@ehdb/contracts";
import type { Host } from "@ehdb/host";
import type { DurableEngine } from "@ehdb/l0";
import type { CallLine } from "./call-line.ts";
import type { InFlight } from "./in-flight.ts";
import type { LogFloor } from "./log-floor.ts";
import type { LogNews } from "./log-news.ts";
import type { DataSchemas } from "./schemas.ts";
import type { StreamsFacts } from "./stream-facts.ts";
import type { Upcasters } from "./upcasters.ts";

/** What the calls of one open log share. */
export interface LogContext {
  readonly engine: DurableEngine;
  readonly host: Host;
  readonly events: LogDataset;
  readonly streams: StreamsFacts;
  readonly floor: LogFloor;
  readonly news: LogNews;
  readonly line: CallLine;
  /** Appends that wait for their answer. */
  readonly inFlight: InFlight;
  readonly schemas: DataSchemas;
  readonly upcasters: Upcasters;
  /** Throws CLOSED. */
  assertOpen(): void;
}
