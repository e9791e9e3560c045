import type { LogDataset } from "@ehdb/contracts";
import type { Host } from "@ehdb/host";
import type { DurableEngine, EngineRecovery } from "@ehdb/l0";
import type { CallLine } from "./call-line.ts";
import type { InFlight } from "./in-flight.ts";
import type { LogNews } from "./log-news.ts";
import type { DataSchemas } from "./schemas.ts";
import type { StreamsFacts } from "./stream-facts.ts";
import type { Upcasters } from "./upcasters.ts";

/** What reading a log needs, whoever writes it. */
export interface LogContext {
  readonly engine: { readonly revision: number; readonly recovery: Pick<EngineRecovery, "epoch"> };
  readonly events: LogDataset;
  readonly streams: Pick<StreamsFacts, "isEmpty" | "load" | "peek">;
  readonly news: Pick<LogNews, "after">;
  readonly upcasters: Upcasters;
  /** Throws CLOSED. */
  assertOpen(): void;
}

/** What the calls of one open log share. */
export interface WritingContext extends LogContext {
  readonly engine: DurableEngine;
  readonly host: Host;
  readonly streams: StreamsFacts;
  readonly news: LogNews;
  readonly line: CallLine;
  /** Appends that wait for their answer. */
  readonly inFlight: InFlight;
  readonly schemas: DataSchemas;
}
