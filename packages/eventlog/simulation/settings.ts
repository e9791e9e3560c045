import type { Faults } from "@ehdb/host";
import type { EventLogOptions } from "../src/index.ts";
import type { Random } from "./random.ts";

const KIB = 1024;
const MIB = 1024 * KIB;

export type Durability = NonNullable<EventLogOptions["durability"]>;
type KeyRing = NonNullable<EventLogOptions["encryption"]>;

/** What kind of trouble a run meets, besides crashes. */
export type Trouble = "none" | "no space" | "failed syncs" | "failed writes" | "failed reads" | "all";

/** How large events are. `large` fills generations by their bytes, the others by their commits. */
export type Scale = "small" | "mixed" | "large";

export interface Settings {
  readonly scale: Scale;
  readonly trouble: Trouble;
  readonly lives: number;
  readonly encrypted: boolean;
  /** Somebody else keeps something in the log's engine. */
  readonly isShared: boolean;
  readonly options: Omit<EventLogOptions, "dir" | "host" | "encryption">;
  readonly dedupeWindow: number;
  readonly faults: Partial<Faults>;
}

export function drawSettings(random: Random): Settings {
  const trouble: Trouble = random.pick([
    "none",
    "none",
    "no space",
    "failed syncs",
    "failed syncs",
    "failed writes",
    "failed reads",
    "all",
  ]);
  const often = random.pick([0.003, 0.01, 0.04]);
  const is = (...kinds: Trouble[]): number => (kinds.includes(trouble) ? often : 0);
  const dedupeWindow = random.pick([0, 4, 20, 65_536, 65_536]);
  return {
    scale: random.pick<Scale>(["small", "small", "small", "mixed", "large"]),
    trouble,
    lives: random.between(2, 4),
    encrypted: random.chance(0.2),
    dedupeWindow,
    faults: {
      syncError: is("failed syncs", "all"),
      writeError: is("failed writes", "all"),
      readError: is("failed reads", "all"),
      shortWrite: random.chance(0.2) ? 0.1 : 0,
      slow: random.chance(0.3) ? 0.2 : 0,
    },
    options: {
      durability: random.pick<Durability>(["sync", "sync", "batch", "async"]),
      sealMaxBytes: 64 * KIB,
      sealMaxCommits: random.pick([3, 5, 9, 20, 40]),
      ...(random.chance(0.2) ? { sealMaxAgeSeconds: 1 } : {}),
      dedupeWindow,
      blockCacheBytes: random.pick([MIB, 64 * MIB]),
      compression: random.chance(0.2) ? "deflate" : "none",
      maxInFlightBytes: random.pick([MIB, 4 * MIB]),
      reserveBytes: random.pick([0, 64 * KIB]),
      manifestRetain: random.pick([1, 2, 32]),
      blockingSync: random.chance(0.1),
    },
    isShared: random.chance(0.5),
  };
}

const keys = Object.fromEntries(["spring", "summer", "autumn"].map((id, i) => [id, new Uint8Array(32).fill(i + 1)]));

/** A ring with all keys; which one is current changes from open to open. */
export function drawKeys(random: Random): KeyRing {
  return { current: random.pick(Object.keys(keys)), keys };
}
