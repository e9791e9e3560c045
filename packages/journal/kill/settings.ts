import { SeededRandom } from "@ehdb/harness";
import type { JournalOptions } from "@ehdb/journal";

/** How one directory is used, through all its kills; plain data. */
export interface KillSettings {
  readonly seed: number;
  readonly segmentBytes: number;
  readonly encrypted: boolean;
  readonly compressed: boolean;
}

const mib = 1024 * 1024;
const segmentSizes = [1, 1, 1, 2].map((each) => each * mib);

export function settingsOf(index: number): KillSettings {
  return {
    seed: index + 1,
    segmentBytes: segmentSizes[index % segmentSizes.length] as number,
    encrypted: index % 3 === 2,
    compressed: index % 5 === 4,
  };
}

export function journalOptions(
  dir: string,
  { seed, segmentBytes, encrypted, compressed }: KillSettings,
): JournalOptions {
  return {
    dir,
    segmentBytes,
    // A killed process's lock goes with it, but not always before its parent hears of its end.
    lockTimeoutMillis: 5000,
    batchMillis: 5,
    compression: compressed ? "deflate" : "none",
    ...(encrypted ? { encryption: { current: "k1", keys: { k1: new SeededRandom(seed).bytes(32) } } } : {}),
  };
}
