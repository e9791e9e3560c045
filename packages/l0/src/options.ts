import { resolve } from "node:path";
import { DEFAULT_IN_FLIGHT_BYTES, invalidOption, KIB, MIB, optionReader, refuseUnknown } from "@ehdb/contracts";
import type { DatasetSpec } from "@ehdb/contracts";
import { hostOf } from "@ehdb/host";
import type { Host } from "@ehdb/host";
import { keyRing } from "@ehdb/journal";
import type { Durability, KeyRing } from "@ehdb/journal";
import type { EngineOptions } from "./api.ts";
import type { Fullness } from "./fullness.ts";

/** Every option with its value. */
export interface ResolvedOptions extends Fullness {
  readonly dir: string;
  readonly create: boolean;
  readonly datasets: readonly DatasetSpec[];
  readonly host: Host;
  readonly durability: Durability;
  readonly sealMaxAgeSeconds: number | undefined;
  readonly dedupeWindow: number;
  readonly blockCacheBytes: number;
  readonly compression: "none" | "deflate";
  readonly encryption: KeyRing | undefined;
  readonly maxInFlightBytes: number;
  readonly reserveBytes: number;
  readonly sealReserveBytes: number;
  readonly manifestRetain: number;
  readonly background: boolean;
  readonly historyRevisions: number;
  readonly pinIdleSeconds: number;
  readonly blockingSync: boolean;
  readonly lockTimeoutMillis: number;
}

const known = [
  "dir",
  "create",
  "datasets",
  "host",
  "durability",
  "sealMaxBytes",
  "sealMaxCommits",
  "sealMaxAgeSeconds",
  "dedupeWindow",
  "blockCacheBytes",
  "compression",
  "encryption",
  "maxInFlightBytes",
  "reserveBytes",
  "sealReserveBytes",
  "manifestRetain",
  "background",
  "historyRevisions",
  "pinIdleSeconds",
  "blockingSync",
  "lockTimeoutMillis",
] as const satisfies (keyof EngineOptions)[];

const GIB = 1024 * MIB;
const mostAgeSeconds = 365 * 86_400;
const datasetName = /^[a-z0-9_.-]{1,64}$/;

/** INVALID_OPTION before anything is touched. What the journal takes as it is, the journal checks. */
export function resolveOptions(options: EngineOptions): ResolvedOptions {
  refuseUnknown(options, known, "");
  const { whole, oneOf, flag } = optionReader(options);
  if (typeof options.dir !== "string" || options.dir === "")
    throw invalidOption("dir", options.dir, "the path of a directory");
  const sealMaxBytes = whole("sealMaxBytes", 8 * MIB, 64 * KIB, 256 * MIB);
  return {
    dir: resolve(options.dir),
    create: flag("create", true),
    datasets: checkDatasets(options.datasets),
    host: hostOf(options.host),
    durability: oneOf("durability", ["sync", "batch", "async"], "sync"),
    sealMaxBytes,
    sealMaxCommits: whole("sealMaxCommits", 65_536, 1, 2 ** 24),
    sealMaxAgeSeconds:
      options.sealMaxAgeSeconds === undefined ? undefined : whole("sealMaxAgeSeconds", 0, 1, mostAgeSeconds),
    dedupeWindow: whole("dedupeWindow", 65_536, 0, 2 ** 24),
    blockCacheBytes: whole("blockCacheBytes", 64 * MIB, MIB, 64 * GIB),
    compression: oneOf("compression", ["none", "deflate"], "none"),
    encryption: keyRing(options.encryption),
    maxInFlightBytes: options.maxInFlightBytes ?? DEFAULT_IN_FLIGHT_BYTES,
    reserveBytes: options.reserveBytes ?? MIB,
    sealReserveBytes: whole("sealReserveBytes", reserveFor(sealMaxBytes), 0, GIB),
    manifestRetain: whole("manifestRetain", 32, 0, 1_000_000),
    background: flag("background", true),
    historyRevisions: whole("historyRevisions", 16_384, 0, Number.MAX_SAFE_INTEGER),
    pinIdleSeconds: whole("pinIdleSeconds", 300, 1, 604_800),
    blockingSync: flag("blockingSync"),
    lockTimeoutMillis: options.lockTimeoutMillis ?? 0,
  };
}

/** The parts of a full generation, with their indexes as large again, and a manifest of some ten thousand parts. */
const reserveFor = (sealMaxBytes: number): number => Math.min(GIB, 2 * sealMaxBytes + MIB);

export function checkDatasets(specs: unknown): readonly DatasetSpec[] {
  if (!Array.isArray(specs) || specs.length === 0) {
    throw invalidOption("datasets", specs, "an array of at least one { name, order }");
  }
  const names = new Set<string>();
  return Array.from(specs, (spec: DatasetSpec) => {
    refuseUnknown(spec, ["name", "order"], "datasets.");
    const { name, order } = spec;
    if (typeof name !== "string" || !datasetName.test(name)) {
      throw invalidOption("datasets.name", name, "1 to 64 characters of a-z, 0-9, -, _ and .");
    }
    if (order !== "by-sort" && order !== "by-key")
      throw invalidOption("datasets.order", order, '"by-sort" or "by-key"');
    if (names.has(name)) throw invalidOption("datasets.name", name, "a name that stands once");
    names.add(name);
    return { name, order };
  });
}
