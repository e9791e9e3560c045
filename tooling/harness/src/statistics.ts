import { EhdbError } from "@ehdb/contracts";

/** How samples are spread. Every percentile is a sample that was met (nearest rank), and `n` says how many there were. */
export interface Distribution {
  readonly n: number;
  readonly p50: number;
  readonly p90: number;
  readonly p95: number;
  readonly p99: number;
  readonly p999: number;
  readonly max: number;
}

export function distribution(samples: ArrayLike<number>): Distribution {
  const sorted = sortedSamples(samples);
  const at = (share: number): number => nearestRank(sorted, share);
  return { n: sorted.length, p50: at(0.5), p90: at(0.9), p95: at(0.95), p99: at(0.99), p999: at(0.999), max: at(1) };
}

/** The smallest sample that a `share` (0 to 1) of all samples don't exceed. */
export function percentile(samples: ArrayLike<number>, share: number): number {
  if (!(share >= 0 && share <= 1))
    throw new EhdbError("INVALID_ARGUMENT", `a percentile's share is from 0 to 1, not ${share}`);
  return nearestRank(sortedSamples(samples), share);
}

/** The middle sample; the mean of the two middle ones when their number is even. */
export function median(samples: ArrayLike<number>): number {
  const sorted = sortedSamples(samples);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] as number;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] as number) + upper) / 2;
}

/**
 * The median of what ours is to theirs, round by round: rounds that lie side by side in time meet the same machine, whatever
 * else it does.
 */
export function medianRatio(ours: readonly number[], theirs: readonly number[]): number {
  if (ours.length !== theirs.length)
    throw new EhdbError("INVALID_ARGUMENT", `${ours.length} rounds can't be paired with ${theirs.length}`);
  return median(ours.map((each, round) => each / (theirs[round] as number)));
}

/** How far the rounds lie apart: (largest - smallest) / median. */
export function variation(samples: ArrayLike<number>): number {
  const sorted = sortedSamples(samples);
  return ((sorted.at(-1) as number) - (sorted[0] as number)) / median(sorted);
}

function sortedSamples(samples: ArrayLike<number>): Float64Array {
  if (samples.length === 0) throw new EhdbError("INVALID_ARGUMENT", "there are no samples: nothing was measured");
  const sorted = Float64Array.from(samples).sort();
  if (Number.isNaN(sorted.at(-1)))
    throw new EhdbError("INVALID_ARGUMENT", "a sample isn't a number: nothing was measured");
  return sorted;
}

function nearestRank(sorted: Float64Array, share: number): number {
  return sorted[Math.max(1, Math.ceil(share * sorted.length)) - 1] as number;
}
