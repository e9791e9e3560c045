import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import type { IntervalHistogram } from "node:perf_hooks";
import { setTimeout as pause } from "node:timers/promises";
import { MIB } from "@ehdb/contracts";
import { bounds } from "./settings.ts";
import type { Stage } from "./stage.ts";

/** What memory is told apart by. */
export const memories = ["heap", "external", "rss"] as const;

/** One interval. */
export interface Sample {
  /** Milliseconds since the load began. */
  readonly at: number;
  readonly appends: number;
  readonly reads: number;
  readonly live: number;
  readonly disk: number;
  /** The most that the disk took beside twice of what was live then, and without the reserve. */
  readonly beyondLive: number;
  /** Kept aside for seals and the manifest: the most of it. */
  readonly reserve: number;
  /** The least within the interval, of what lies between two collections. */
  readonly memory: Readonly<Record<(typeof memories)[number], number>>;
  readonly parts: number;
  readonly seals: number;
  readonly merges: number;
  readonly unsealed: number;
  readonly loop: { readonly p50: number; readonly p99: number; readonly max: number };
}

const looksInInterval = 10;
const reserveName = "space.reserve";

export interface Counted {
  readonly appends: () => number;
  readonly reads: () => number;
}

/** Looks at a run until it's over. Everything stands in `samples`; the loop's delay is that of the whole run. */
export class Sampler {
  readonly samples: Sample[] = [];
  readonly loop: IntervalHistogram = monitorEventLoopDelay({ resolution: 1 });

  async run(stage: Stage, counted: Counted, intervalMillis: number, progress: (at: number) => void): Promise<void> {
    const begun = performance.now();
    const interval = monitorEventLoopDelay({ resolution: 1 });
    let before = { at: begun, appends: counted.appends(), reads: counted.reads() };
    this.loop.enable();
    interval.enable();
    while (!stage.isOver()) {
      let [disk, live, beyondLive, reserve] = [0, 0, -Infinity, 0];
      const memory = { heap: Infinity, external: Infinity, rss: Infinity };
      for (let look = 0; look < looksInInterval; look++) {
        await pause(intervalMillis / looksInInterval);
        live = stage.ledger.liveBytes;
        const kept = (await stat(join(stage.dir, reserveName)).catch(() => undefined))?.size ?? 0;
        disk = await bytesOf(stage.dir);
        beyondLive = Math.max(beyondLive, disk - kept - bounds.diskTimesLive * live);
        reserve = Math.max(reserve, kept);
        const { heapUsed, external, rss } = process.memoryUsage();
        memory.heap = Math.min(memory.heap, heapUsed);
        memory.external = Math.min(memory.external, external);
        memory.rss = Math.min(memory.rss, rss);
        progress(performance.now() - begun);
      }
      const { manifest_parts, seals, merges, unsealed_bytes } = stage.engine.stats();
      const now = { at: performance.now(), appends: counted.appends(), reads: counted.reads() };
      const perSecond = (of: "appends" | "reads"): number => ((now[of] - before[of]) * 1000) / (now.at - before.at);
      this.samples.push({
        at: now.at - begun,
        appends: perSecond("appends"),
        reads: perSecond("reads"),
        live,
        disk,
        beyondLive,
        reserve,
        memory,
        parts: manifest_parts,
        seals,
        merges,
        unsealed: unsealed_bytes,
        loop: delaysOf(interval),
      });
      interval.reset();
      before = now;
    }
    interval.disable();
    this.loop.disable();
  }
}

export function delaysOf(histogram: IntervalHistogram): Sample["loop"] {
  return { p50: histogram.percentile(50) / 1e6, p99: histogram.percentile(99) / 1e6, max: histogram.max / 1e6 };
}

/** Of a loop that has nothing to do, in milliseconds. */
export async function idleLoop(millis: number): Promise<Sample["loop"]> {
  const histogram = monitorEventLoopDelay({ resolution: 1 });
  histogram.enable();
  await pause(millis);
  histogram.disable();
  return delaysOf(histogram);
}

/** Of all files below a directory; one that goes meanwhile counts no more. */
async function bytesOf(dir: string): Promise<number> {
  const entries = await readdir(dir, { withFileTypes: true }).catch(() => []);
  const sizes = entries.map(async (entry) => {
    const path = join(dir, entry.name);
    if (entry.isDirectory()) return await bytesOf(path);
    return (await stat(path).catch(() => undefined))?.size ?? 0;
  });
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

export const columns = [
  "s",
  "appends/s",
  "reads/s",
  "live MiB",
  "disk MiB",
  "disk - 2 live",
  "heap MiB",
  "external MiB",
  "rss MiB",
  "parts",
  "seals",
  "merges",
  "unsealed MiB",
  "loop p50 ms",
  "p99 ms",
  "max ms",
] as const;

export function rowOf(sample: Sample): number[] {
  const { at, appends, reads, live, disk, beyondLive, memory, parts, seals, merges, unsealed, loop } = sample;
  const sizes = [live, disk, beyondLive, memory.heap, memory.external, memory.rss];
  return [
    at / 1000,
    appends,
    reads,
    ...sizes.map((bytes) => bytes / MIB),
    parts,
    seals,
    merges,
    unsealed / MIB,
    loop.p50,
    loop.p99,
    loop.max,
  ];
}
