import type { Faults } from "@ehdb/host";
import type { JournalOptions, KeyRing } from "../src/index.ts";
import type { Scale } from "./payloads.ts";
import type { Random } from "./random.ts";

const KIB = 1024;
const MIB = 1024 * KIB;

/** What kind of trouble a run meets, besides crashes. */
export type Trouble = "none" | "no space" | "failed syncs" | "failed writes" | "failed reads" | "all";

export interface Settings {
  readonly scale: Scale;
  readonly trouble: Trouble;
  readonly lives: number;
  /** Ends with a flipped bit. */
  readonly rots: boolean;
  readonly options: Omit<JournalOptions, "dir" | "host">;
  readonly encrypted: boolean;
  readonly faults: Partial<Faults>;
}

export function drawSettings(random: Random): Settings {
  const rots = random.chance(0.12);
  const trouble: Trouble = rots
    ? "none"
    : random.pick(["none", "none", "no space", "failed syncs", "failed syncs", "failed writes", "failed reads", "all"]);
  const scale = random.pick<Scale>(["small", "small", "small", "mixed", "mixed", "rolling", "rolling"]);
  const encrypted = random.chance(0.25);
  const retention = random.chance(0.15)
    ? { maxBytes: random.between(1, 3) * MIB }
    : random.chance(0.05)
      ? { maxRecords: random.between(20, 200) }
      : undefined;
  return {
    scale,
    trouble,
    rots,
    encrypted,
    lives: random.between(2, 3),
    faults: {
      ...drawFaults(random, trouble),
      shortWrite: random.chance(0.2) ? 0.1 : 0,
      slow: random.chance(0.3) ? 0.2 : 0,
    },
    options: {
      durability: random.pick(["sync", "sync", "batch", "async"]),
      batchBytes: random.pick([1, 4 * KIB, 256 * KIB]),
      batchRecords: random.pick([3, 50, 1024]),
      batchMillis: random.pick([1, 10]),
      segmentBytes: MIB + random.pick([0, 0, 12_345, 512 * KIB]),
      maxInFlightBytes: random.pick([MIB, MIB, 4 * MIB]),
      indexStride: random.pick([1, 7, 1024]),
      reserveBytes: random.pick([0, 64 * KIB, 256 * KIB]),
      compression: random.chance(0.15) ? "deflate" : "none",
      blockingSync: random.chance(0.1),
      verifyOnOpen: random.chance(0.2) ? "all" : "tail",
      ...(retention === undefined ? {} : { retention }),
    },
  };
}

function drawFaults(random: Random, trouble: Trouble): Partial<Faults> {
  const often = random.pick([0.003, 0.01, 0.05]);
  const is = (...kinds: Trouble[]): number => (kinds.includes(trouble) ? often : 0);
  return {
    syncError: is("failed syncs", "all"),
    writeError: is("failed writes", "all"),
    readError: is("failed reads", "all"),
  };
}

const keys = Object.fromEntries(["spring", "summer", "autumn"].map((id, i) => [id, new Uint8Array(32).fill(i + 1)]));

/** A ring with all keys; which one is current changes from open to open. */
export function drawKeys(random: Random): KeyRing {
  return { current: random.pick(["spring", "summer", "autumn"]), keys };
}
