import type { Host } from "@ehdb/host";
import type { Journal, JournalOptions } from "@ehdb/journal";
import type { Checks } from "./checks.ts";
import type { Events } from "./events.ts";
import type { RunOptions } from "./options.ts";

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
  /** The program that the `recovery` verb starts and kills. */
  readonly victim: string;
}

/** One thing to prove. It throws what it can't go on from; everything else it says in steps. */
export interface Verb {
  readonly name: string;
  /** One line for `--help`. */
  readonly summary: string;
  run(context: VerbContext, checks: Checks): Promise<void>;
}
