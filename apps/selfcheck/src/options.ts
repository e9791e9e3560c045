/** What a run is told to do; the same values that the `config` verb prints. */
export interface RunOptions {
  /** Events that the `journal` verb appends. */
  readonly events: number;
  readonly seed: number;
  /** How often the `recovery` verb kills its child; 0 disables the verb. */
  readonly kills: number;
  /** Where to work; default: the system's directory for temporary files. */
  readonly dir?: string | undefined;
  /** A file of JSON Lines. */
  readonly input?: string | undefined;
  /** A missed service level is a failure. */
  readonly strict: boolean;
  /** Leave the run's directory behind. */
  readonly keep: boolean;
}

export const defaults = { events: 5000, seed: 1, kills: 5 } as const;

/** Inclusive. */
export const bounds = {
  events: { least: 1, most: 10_000_000 },
  seed: { least: 0, most: 4_294_967_295 },
  kills: { least: 0, most: 1000 },
} as const;
