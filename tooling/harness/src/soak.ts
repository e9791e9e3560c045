/** What a soak is given. */
export interface SoakContext {
  /** Empty, on the disk that is to be soaked; removed afterwards. */
  readonly directory: string;
  readonly millis: number;
  /** A defect of `Soak.controls` that is planted: the run must find it. */
  readonly control?: string;
  /** Called now and then with the share of the run that is over: 0 to 1. */
  readonly progress: (share: number) => void;
}

/** What didn't hold. */
export interface SoakProblem {
  /** In a word, such as `disk`. */
  readonly what: string;
  readonly found: string;
}

export interface SoakReport {
  /** One row for each interval of the run, the numbers in the order of the columns. */
  readonly columns: readonly string[];
  readonly rows: readonly (readonly number[])[];
  /** Of the whole run, by name with the unit last. */
  readonly figures: Readonly<Record<string, number>>;
  /** What was held to, in words, with the figures of this run. */
  readonly bounds: readonly string[];
  readonly problems: readonly SoakProblem[];
}

/** Constant load for a long time: what grows, what slows down, what isn't what was written. */
export interface Soak {
  readonly tier: string;
  /** Defects that can be planted. */
  readonly controls: readonly string[];
  run(context: SoakContext): Promise<SoakReport>;
}
