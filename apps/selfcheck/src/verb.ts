import type { DurableEventLog, EventLogOptions } from "@ehdb/eventlog";
import type { Host } from "@ehdb/host";
import type { Journal, JournalOptions } from "@ehdb/journal";
import type { DurableEngine, EngineOptions } from "@ehdb/l0";
import type { Checks } from "./checks.ts";
import type { Events } from "./events.ts";
import type { RunOptions } from "./options.ts";
import type { Facts } from "./report.ts";

/** What a verb works with. */
export interface VerbContext {
  readonly host: Host;
  /** The verb's own directory, made and empty. */
  readonly directory: string;
  readonly options: RunOptions;
  readonly signal: AbortSignal;
  /** Loaded once a run, at the first call. */
  events(): Promise<Events>;
  /** For the progress bar. */
  readonly progress: (done: number, total: number) => void;
  readonly openJournal: (options: JournalOptions) => Promise<Journal>;
  readonly openEventLog: (options: EventLogOptions) => Promise<DurableEventLog>;
  readonly openEngine: (options: EngineOptions) => Promise<DurableEngine>;
  /** The program that is started and killed. */
  readonly victim: string;
}

/** One thing to prove. It throws what it can't go on from; everything else it says in steps. */
export interface Verb {
  readonly name: string;
  /** Another name that it answers to; its report then has that one. */
  readonly alias?: string;
  /** Facts of its own that its report has, as they are as long as nothing was found out. */
  readonly facts?: Facts;
  /** One line for `--help`. */
  readonly summary: string;
  run(context: VerbContext, checks: Checks): Promise<void>;
}
