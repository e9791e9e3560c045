/** One record that is in the store after a kill. */
export interface Survivor {
  readonly position: number;
  /** `writer:number`. A writer's numbers go up by one from record to record. */
  readonly id: string;
  /** Whether its content is what was written under this id. */
  readonly intact: boolean;
  /** Whether it's done with, so that nobody gets it any more. Only of stores whose program says what it settles. */
  readonly isDone?: boolean;
}

/** What can be killed. A package's `kill/index.ts` exports one as `kill`. */
export interface KillTarget {
  readonly tier: string;
  /**
   * The program under load. It gets `{ directory, incarnation, settings, defect? }` as JSON in its first argument, speaks the kill
   * protocol, and runs until it's killed. Its writers' names hold the incarnation, so that none is used twice.
   */
  readonly program: URL;
  /** How the `index`-th directory is used; plain data. Each directory takes `killsPerDirectory` kills, one after the other. */
  settings(index: number): unknown;
  readonly killsPerDirectory: number;
  /** Recovers the store and reads all of it, in order. */
  survivors(directory: string, settings: unknown): AsyncIterable<Survivor>;
  /** Defects that the program can play, and as what the driver must see them: a driver that doesn't is blind. */
  readonly defects: Readonly<Record<string, "lost" | "doubled" | "damaged">>;
}

/** The program's argument. */
export interface KillLoad {
  readonly directory: string;
  readonly incarnation: number;
  readonly settings: unknown;
  readonly defect?: string;
}

export interface KillOptions {
  readonly times: number;
  /** Of the kills' moments. The moments that the machine adds can't be repeated. */
  readonly seed: number;
  /** Where the directories are made. */
  readonly directory: string;
  /** Node's options for the program: how it resolves and reads TypeScript. */
  readonly nodeOptions: readonly string[];
  readonly defect?: string;
  readonly onKill?: (done: number) => void;
}

export interface KillReport {
  readonly kills: number;
  readonly acknowledged: number;
  /** Acknowledged and missing, or done with by nobody. */
  readonly lost: number;
  /** There more than once, or still to be done though it was settled. */
  readonly doubled: number;
  /** Out of a writer's order, or with a hole before it. */
  readonly disordered: number;
  /** With a content that wasn't written so; and promises that the program itself saw broken. */
  readonly damaged: number;
  /** Below what was durably dropped, and still there. */
  readonly revived: number;
  /** Kills while the store was being opened. */
  readonly killsInOpen: number;
  /** Records that were there without having been acknowledged: they may be. */
  readonly unacknowledged: number;
  readonly drops: number;
  /** The first of what was wrong, in words. */
  readonly problems: readonly string[];
}
