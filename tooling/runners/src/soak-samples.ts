import type { JournalStats } from "@ehdb/journal";
import Table from "cli-table3";
import type { IntervalHistogram } from "node:perf_hooks";
import { figure } from "./figures.ts";

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
export interface SoakSample {
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
const mostRows = 60;

export function takeSample(
  stats: JournalStats,
  progressed: Progressed,
  delay: IntervalHistogram,
  before: { at: number; appended: number },
): SoakSample {
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

/** One row for each interval; of a long soak one for each minute or so. */
export function printSamples(samples: readonly SoakSample[]): void {
  const head = [
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
  ];
  const table = new Table({
    head,
    colAligns: head.map(() => "right" as const),
    style: { head: [], border: [], compact: true },
  });
  const start = samples[0]?.at ?? 0;
  const step = Math.ceil(samples.length / mostRows);
  for (const [index, sample] of samples.entries()) {
    if (index % step !== 0) continue;
    const { perSecond, behind, segments, syncs, loopP50Millis, loopP99Millis, loopMaxMillis } = sample;
    const sizes = [sample.residentBytes, sample.heapBytes, sample.diskBytes].map((bytes) => (bytes / mib).toFixed(0));
    const loop = [loopP50Millis, loopP99Millis, loopMaxMillis].map((millis) => millis.toFixed(2));
    table.push([
      ((sample.at - start) / 1000).toFixed(0),
      figure(perSecond),
      figure(behind),
      ...sizes,
      String(segments),
      figure(syncs),
      ...loop,
    ]);
  }
  console.log(table.toString());
}
