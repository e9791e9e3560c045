import type { Host } from "@ehdb/host";
import type { EventSource } from "../event-source.ts";
import type { Acknowledgement } from "../victim-arguments.ts";

/** What a process that will be killed works with. */
export interface Filling {
  readonly host: Host;
  readonly source: EventSource;
  readonly dir: string;
  readonly round: number;
  readonly acknowledge: (acknowledgement: Acknowledgement) => void;
}
