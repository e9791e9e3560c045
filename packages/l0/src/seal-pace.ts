import type { Clock } from "@ehdb/host";
import type { Fullness } from "./fullness.ts";
import type { Generation } from "./generation.ts";

/** A generation is small below `sealMaxBytes` and as many commits as it gets by default, whatever it's frozen at. */
const fullCommits = 65_536;
/** Full generations that may wait; beyond it commits wait. */
const mostFull = 3;
/** The same of small ones: a read looks into each of them. */
const mostGenerations = 64;
/** What waits and is at least so much of a full generation, or so many, is sealed at once. */
const soonFull = 1 / 4;
const soonGenerations = mostGenerations / 2;
/** Less than that waits until so many times the time has passed that the last seal took: seals then take a twentieth of the time. */
const restShare = 19;
const mostPauseMillis = 1000;
/** Between two seals, for each part that merges are behind. */
const behindMillis = 50;
const mostBehindMillis = 4000;
/** It's looked again that often whether merges still are. */
const lookMillis = 250;

/**
 * When to seal. A seal costs its syncs, however little it seals, and commits beside it wait for theirs longer. So small generations wait
 * for each other, and are sealed together.
 *
 * Full ones wait when merges are behind, the longer the more they are, and so do commits in the end: each part more makes reads and
 * merges slower, and what is dead stays on the disk. They never wait for good, for one merge may take long.
 */
export class SealPace {
  readonly #clock: Clock;
  readonly #fullness: Fullness;
  /** No earlier than then is little sealed. */
  #restsUntil = 0;
  /** The last seal; there was none at first. */
  #endedAt: number | undefined;

  constructor(clock: Clock, fullness: Fullness) {
    this.#clock = clock;
    this.#fullness = fullness;
  }

  /** A seal begins; what it returns is called when it's done. */
  begin(): () => void {
    const begun = this.#clock.monotonic();
    return () => {
      const now = this.#clock.monotonic();
      this.#endedAt = now;
      this.#restsUntil = now + Math.min(mostPauseMillis, restShare * (now - begun));
    };
  }

  /** For how long what is frozen waits for more. */
  pauseMillis(frozen: readonly Generation[]): number {
    if (frozen.length >= soonGenerations || this.#full(frozen) >= soonFull) return 0;
    return Math.max(0, this.#restsUntil - this.#clock.monotonic());
  }

  /** For how long even full ones wait, until it's asked again, when merges are so many parts behind. */
  behindMillis(parts: () => number): number {
    if (this.#endedAt === undefined) return 0;
    const until = this.#endedAt + Math.min(mostBehindMillis, behindMillis * parts());
    return Math.min(lookMillis, Math.max(0, until - this.#clock.monotonic()));
  }

  /** Commits have to wait. */
  isTooMuch(frozen: readonly Generation[]): boolean {
    if (frozen.length < mostFull) return false;
    return frozen.length >= mostGenerations || this.#full(frozen) >= mostFull;
  }

  /** How many full generations that makes. */
  #full(frozen: readonly Generation[]): number {
    const { sealMaxBytes, sealMaxCommits } = this.#fullness;
    const mostCommits = Math.max(sealMaxCommits, fullCommits);
    return frozen.reduce(
      (sum, { chunks, commits }) =>
        sum + Math.min(1, Math.max(chunks.bytes / sealMaxBytes, commits.places.length / mostCommits)),
      0,
    );
  }
}
