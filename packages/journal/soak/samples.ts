import type { JournalStats } from "@ehdb/journal";
import type { IntervalHistogram } from "node:perf_hooks";

/** How far the load and its readers are. */
export interface Progressed {
  appended: number;
  tailed: number;
  /** Records read one by one. */
  read: number;
  /** Segments that retention removed. */
  dropped: number;
  lastTailed: number;
}

/** One interval of a soak. */
export interface Sample {
  /** Monotonic milliseconds. */
  readonly at: number;
  readonly perSecond: number;
  /** Records that the tail has still to get. */
  readonly behind: number;
  readonly residentBytes: number;
  readonly heapBytes: number;
  readonly diskBytes: number;
  readonly segments: number;
  readonly syncs: number;
  readonly loopP50Millis: number;
  readonly loopP99Millis: number;
  readonly loopMaxMillis: number;
}

const mib = 1024 * 1024;

export function takeSample(
  stats: JournalStats,
  progressed: Progressed,
  delay: IntervalHistogram,
  before: { at: number; appended: number },
): Sample {
  const at = performance.now();
  const { rss, heapUsed, external } = process.memoryUsage();
  return {
    at,
    perSecond: ((progressed.appended - before.appended) * 1000) / (at - before.at),
    behind: progressed.appended - progressed.tailed,
    residentBytes: rss,
    heapBytes: heapUsed + external,
    diskBytes: stats.diskBytes,
    segments: stats.segments,
    syncs: stats.syncs,
    loopP50Millis: delay.percentile(50) / 1e6,
    loopP99Millis: delay.percentile(99) / 1e6,
    loopMaxMillis: delay.max / 1e6,
  };
}

export const columns = [
  "s",
  "appends/s",
  "tail behind",
  "resident MiB",
  "heap MiB",
  "disk MiB",
  "segments",
  "syncs",
  "loop p50 ms",
  "p99 ms",
  "max ms",
] as const;

export function rowOf(sample: Sample, start: number): number[] {
  const { at, perSecond, behind, residentBytes, heapBytes, diskBytes, segments, syncs } = sample;
  const { loopP50Millis, loopP99Millis, loopMaxMillis } = sample;
  const sizes = [residentBytes, heapBytes, diskBytes].map((bytes) => bytes / mib);
  return [
    (at - start) / 1000,
    perSecond,
    behind,
    ...sizes,
    segments,
    syncs,
    loopP50Millis,
    loopP99Millis,
    loopMaxMillis,
  ];
}
