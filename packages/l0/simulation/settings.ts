import type { Faults } from "@ehdb/host";
import type { KeyRing } from "@ehdb/journal";
import type { EngineOptions } from "../src/index.ts";
import type { Random } from "./random.ts";

const KIB = 1024;
const MIB = 1024 * KIB;

/** What kind of trouble a run meets, besides crashes. */
export type Trouble = "none" | "no space" | "failed syncs" | "failed writes" | "failed reads" | "all";

/** Enough for what waits to be sealed, unless payloads are large. */
export const sealReserveBytes: number = 512 * KIB;

/** How large payloads are. `large` fills generations by their bytes, the others by their commits. */
export type Scale = "small" | "mixed" | "large";

export interface Settings {
  readonly scale: Scale;
  readonly trouble: Trouble;
  readonly lives: number;
  /** Ends with a flipped bit. */
  readonly rots: boolean;
  readonly encrypted: boolean;
  readonly options: Omit<EngineOptions, "dir" | "host" | "datasets">;
  readonly dedupeWindow: number;
  readonly faults: Partial<Faults>;
}

export function drawSettings(random: Random): Settings {
  const rots = random.chance(0.2);
  const trouble: Trouble = rots
    ? "none"
    : random.pick(["none", "none", "no space", "failed syncs", "failed syncs", "failed writes", "failed reads", "all"]);
  const often = random.pick([0.003, 0.01, 0.04]);
  const is = (...kinds: Trouble[]): number => (kinds.includes(trouble) ? often : 0);
  const dedupeWindow = random.pick([0, 4, 20, 65_536, 65_536]);
  return {
    scale: random.pick<Scale>(["small", "small", "mixed", "mixed", "large"]),
    trouble,
    rots,
    lives: random.between(2, 3),
    encrypted: random.chance(0.25),
    dedupeWindow,
    faults: {
      syncError: is("failed syncs", "all"),
      writeError: is("failed writes", "all"),
      readError: is("failed reads", "all"),
      shortWrite: random.chance(0.2) ? 0.1 : 0,
      slow: random.chance(0.3) ? 0.2 : 0,
    },
    options: {
      durability: random.pick(["sync", "sync", "batch", "async"]),
      sealMaxBytes: 64 * KIB,
      sealMaxCommits: random.pick([1, 2, 3, 5, 9, 20, 40]),
      ...(random.chance(0.2) ? { sealMaxAgeSeconds: 1 } : {}),
      dedupeWindow,
      blockCacheBytes: random.pick([MIB, MIB, 64 * MIB]),
      compression: random.chance(0.25) ? "deflate" : "none",
      maxInFlightBytes: random.pick([MIB, 4 * MIB]),
      reserveBytes: random.pick([0, 64 * KIB]),
      sealReserveBytes: random.pick([0, sealReserveBytes, sealReserveBytes]),
      background: random.chance(0.7),
      historyRevisions: random.pick([0, 3, 16_384]),
      manifestRetain: random.pick([1, 2, 32]),
      blockingSync: random.chance(0.1),
    },
  };
}

const keys = Object.fromEntries(["spring", "summer", "autumn"].map((id, i) => [id, new Uint8Array(32).fill(i + 1)]));

/** A ring with all keys; which one is current changes from open to open. */
export function drawKeys(random: Random): KeyRing {
  return { current: random.pick(Object.keys(keys)), keys };
}
