import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { MIB } from "@ehdb/contracts";
import type { SoakContext, SoakReport } from "@ehdb/harness";
import { verifyStore } from "@ehdb/l0";
import { measuredContents } from "./contents.ts";
import { compareAll } from "./end.ts";
import { judge } from "./judgement.ts";
import { Ledger } from "./ledger.ts";
import { Reader } from "./readers.ts";
import { columns, delaysOf, idleLoop, rowOf, Sampler } from "./samples.ts";
import type { SoakSettings } from "./settings.ts";
import { EVENTS, openStage, Problems } from "./stage.ts";
import type { Stage } from "./stage.ts";
import { write } from "./writers.ts";

const mostIdleMillis = 3000;
/** So many samples, or one each so often. */
const samplesOfRun = 120;
const leastIntervalMillis = 100;

/** The load, for as long as it's asked for, and what came of it. */
export async function runSoak(
  { directory, millis, control, progress }: SoakContext,
  settings: SoakSettings,
): Promise<SoakReport> {
  const contents = await measuredContents(directory);
  const idle = await idleLoop(Math.min(mostIdleMillis, millis / 5));
  const dir = join(directory, "store");
  const problems = new Problems();
  const opened = await openStage(dir, settings, control);
  const { engine, log } = opened;
  const ledger = new Ledger(contents, settings.writers * settings.streamsOfWriter, settings.ledgerPositions);
  const end = performance.now() + millis;
  const isOver = (): boolean =>
    problems.all.length > 0 || (performance.now() >= end && log.position >= settings.leastEvents);
  const stage: Stage = { ...opened, dir, settings, control, contents, ledger, problems, isOver };

  const readers = Array.from({ length: settings.readers }, (_, reader) => new Reader(stage, reader));
  const reads = (): number => readers.reduce((sum, { read }) => sum + read, 0);
  const sampler = new Sampler();
  const interval = Math.max(leastIntervalMillis, millis / samplesOfRun);
  const begun = performance.now();
  await Promise.all([
    ...Array.from({ length: settings.writers }, (_, writer) => problems.watch("writers", write(stage, writer))),
    ...readers.map((reader) => problems.watch("readers", reader.run())),
    problems.watch("retention", retain(stage)),
    problems.watch(
      "samples",
      sampler.run(stage, { appends: () => log.position, reads }, interval, (at) => progress(Math.min(1, at / millis))),
    ),
  ]);
  const seconds = (performance.now() - begun) / 1000;
  await problems.watch("end", compareAll(stage));
  const stats = engine.stats();
  const { position } = log;
  await log.close();
  const { state } = await engine.close();
  if (state !== "clean") problems.add("close", `the store closed ${state}`);
  const { ok, damage } = await verifyStore({ dir });
  if (!ok) problems.add("verify", `verify found damage: ${JSON.stringify(damage[0])}`);
  const failed = ["read_errors", "seal_failed", "merge_failed", "reclaim_failed", "manifest_errors"] as const;
  for (const name of failed) if (stats[name] > 0) problems.add("errors", `${name}: ${stats[name]}`);

  const { samples } = sampler;
  const loop = delaysOf(sampler.loop);
  const judged =
    samples.length < 4
      ? []
      : judge(
          {
            samples,
            idleMillis: idle.p99,
            loopMillis: loop.p99,
            seals: stats.seals,
            merges: stats.merges,
            dropped: stats.records_dropped,
            erased: stats.records_erased,
          },
          settings,
        );
  const last = samples.at(-1);
  return {
    columns,
    rows: samples.map(rowOf),
    bounds: judged.map(({ text }) => text),
    problems: [
      ...problems.all,
      ...judged.filter(({ holds }) => !holds).map(({ what, text }) => ({ what, found: text })),
    ],
    figures: {
      events: position,
      eventsPerSecond: Math.round(position / seconds),
      read: reads(),
      liveMiB: tenths((last?.live ?? 0) / MIB),
      diskMiB: tenths((last?.disk ?? 0) / MIB),
      mostBeyondTwiceLiveMiB: tenths(Math.max(...samples.map(({ beyondLive }) => beyondLive)) / MIB),
      loopP99Millis: tenths(loop.p99),
      idleP99Millis: tenths(idle.p99),
      loopMaxMillis: tenths(loop.max),
      seals: stats.seals,
      merges: stats.merges,
      mergedMiB: Math.round(stats.merged_bytes / MIB),
      dropped: stats.records_dropped,
      erased: stats.records_erased,
      superseded: stats.records_superseded,
      parts: stats.manifest_parts,
    },
  };
}

async function retain({ engine, log, ledger, settings, isOver }: Stage): Promise<void> {
  while (!isOver()) {
    await pause(settings.retainMillis);
    await engine.retain(EVENTS, { maxBytes: settings.keptBytes });
    ledger.raised(log.firstPosition);
  }
}

function tenths(value: number): number {
  return Math.round(value * 10) / 10;
}
