/** What a run is told to do; the same values that the `config` verb prints. */
export interface RunOptions {
  /** Events that a verb appends. */
  readonly events: number;
  readonly seed: number;
  /** How often the `recovery` verb kills its child, and the stores' verbs half as often; 0: nobody is killed. */
  readonly kills: number;
  /** Where to work; default: the system's directory for temporary files. */
  readonly dir?: string | undefined;
  /** A file of JSON Lines. */
  readonly input?: string | undefined;
  /** Where its events say which stream and type they are of. */
  readonly streamField?: string | undefined;
  readonly typeField?: string | undefined;
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

/** After each kill all of a store is compared with a reference in memory, which grows. */
const MOST_KILLS_OF_STORES = 20;

/** The stores' verbs come after `recovery`, which has killed already. */
export const killsOfStores = ({ kills }: RunOptions): number => Math.min(MOST_KILLS_OF_STORES, Math.ceil(kills / 2));
