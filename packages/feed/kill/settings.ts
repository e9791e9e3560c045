import { KIB } from "@ehdb/contracts";
import { eventLogDatasets } from "@ehdb/eventlog";
import { feedDatasets } from "@ehdb/feed";
import { SeededRandom } from "@ehdb/harness";
import type { EngineOptions } from "@ehdb/l0";

/** How one directory is used, through all its kills; plain data. */
export interface KillSettings {
  readonly seed: number;
  readonly sealMaxCommits: number;
  readonly encrypted: boolean;
  readonly compressed: boolean;
}

/** Small generations: kills meet seals under way. */
const generationSizes = [20, 60, 200];

export function settingsOf(index: number): KillSettings {
  return {
    seed: index + 1,
    sealMaxCommits: generationSizes[index % generationSizes.length] as number,
    encrypted: index % 3 === 2,
    compressed: index % 5 === 4,
  };
}

/** Of the one engine that has the jobs, the outcomes and the groups. */
export function engineOptions(
  dir: string,
  { seed, sealMaxCommits, encrypted, compressed }: KillSettings,
): EngineOptions {
  return {
    dir,
    datasets: [...eventLogDatasets, ...feedDatasets],
    sealMaxBytes: 64 * KIB,
    sealMaxCommits,
    // A killed process's lock goes with it, but not always before its parent hears of its end.
    lockTimeoutMillis: 5000,
    compression: compressed ? "deflate" : "none",
    ...(encrypted ? { encryption: { current: "k1", keys: { k1: new SeededRandom(seed).bytes(32) } } } : {}),
  };
}
