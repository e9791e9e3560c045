import { resolve } from "node:path";
import { DEFAULT_IN_FLIGHT_BYTES, KIB, MIB } from "@ehdb/contracts";
import type { Host } from "@ehdb/host";
import type {
  DecryptionKeys,
  Durability,
  JournalOptions,
  JournalReaderOptions,
  KeyRing,
  Retention,
  SalvageOptions,
} from "./api.ts";
import { hostOf } from "./host-option.ts";
import { decryptionKeys, keyRing } from "./key-ring.ts";
import { invalid, refuseUnknown } from "./option-errors.ts";
import type { RecoveryContext } from "./recovery.ts";

/** Every option of a writable open with its value. */
export interface ResolvedOptions extends RecoveryContext {
  readonly durability: NonNullable<JournalOptions["durability"]>;
  readonly batchBytes: number;
  readonly batchRecords: number;
  readonly batchMillis: number;
  readonly maxInFlightBytes: number;
  readonly retention: Retention;
  readonly compression: "none" | "deflate";
  readonly blockingSync: boolean;
  readonly reserveBytes: number;
  readonly lockTimeoutMillis: number;
}

export interface ResolvedReaderOptions {
  readonly host: Host;
  readonly dir: string;
  readonly indexStride: number;
  readonly encryption: DecryptionKeys | undefined;
  readonly pollMillis: number;
}

const GIB = 1024 * MIB;
const journalOptions = [
  "dir",
  "host",
  "durability",
  "batchBytes",
  "batchRecords",
  "batchMillis",
  "segmentBytes",
  "maxInFlightBytes",
  "indexStride",
  "reserveBytes",
  "retention",
  "compression",
  "encryption",
  "blockingSync",
  "verifyOnOpen",
  "lockTimeoutMillis",
] as const satisfies (keyof JournalOptions)[];
const readerOptions = [
  "dir",
  "host",
  "indexStride",
  "encryption",
  "pollMillis",
] as const satisfies (keyof JournalReaderOptions)[];
const durabilities = ["sync", "batch", "async"] as const satisfies Durability[];
const retentionOptions = ["maxBytes", "maxAgeSeconds", "maxRecords"] as const satisfies (keyof Retention)[];

export function resolveOptions(options: JournalOptions): ResolvedOptions {
  refuseUnknown(options, journalOptions, "");
  const segmentBytes = whole(options, "segmentBytes", 256 * MIB, MIB, 4 * GIB);
  return {
    dir: directory(options.dir),
    host: hostOf(options.host),
    durability: oneOf(options, "durability", durabilities, "sync"),
    batchBytes: whole(options, "batchBytes", 256 * KIB, 1, GIB),
    batchRecords: whole(options, "batchRecords", 1024, 1, 2 ** 31),
    batchMillis: whole(options, "batchMillis", 10, 1, 60_000),
    segmentBytes,
    leastEpoch: 1,
    initialBytes: Math.min(segmentBytes - 64 * KIB, MIB),
    maxInFlightBytes: whole(options, "maxInFlightBytes", DEFAULT_IN_FLIGHT_BYTES, MIB, GIB),
    indexStride: whole(options, "indexStride", 1024, 1, 2 ** 20),
    reserveBytes: whole(options, "reserveBytes", MIB, 0, 256 * MIB),
    retention: retention(options.retention),
    compression: oneOf(options, "compression", ["none", "deflate"], "none"),
    encryption: keyRing(options.encryption),
    blockingSync: flag(options, "blockingSync"),
    verifyOnOpen: oneOf(options, "verifyOnOpen", ["tail", "all"], "tail"),
    lockTimeoutMillis: whole(options, "lockTimeoutMillis", 0, 0, 3_600_000),
  };
}

export function resolveReaderOptions(options: JournalReaderOptions): ResolvedReaderOptions {
  refuseUnknown(options, readerOptions, "");
  return {
    dir: directory(options.dir),
    host: hostOf(options.host),
    indexStride: whole(options, "indexStride", 1024, 1, 2 ** 20),
    encryption: decryptionKeys(options.encryption),
    pollMillis: whole(options, "pollMillis", 50, 1, 60_000),
  };
}

const salvageOptions = ["dir", "to", "host", "encryption", "onProgress"] as const satisfies (keyof SalvageOptions)[];

export interface ResolvedSalvageOptions {
  readonly host: Host;
  readonly dir: string;
  readonly to: string;
  readonly encryption: KeyRing | undefined;
}

export function resolveSalvageOptions(options: SalvageOptions): ResolvedSalvageOptions {
  refuseUnknown(options, salvageOptions, "");
  const dir = directory(options.dir);
  const to = directory(options.to, "to");
  if (resolve(dir) === resolve(to))
    throw invalid("to", to, "another directory than dir: the damaged journal is only read");
  if (options.onProgress !== undefined && typeof options.onProgress !== "function") {
    throw invalid("onProgress", options.onProgress, "a function");
  }
  return { host: hostOf(options.host), dir, to, encryption: keyRing(options.encryption) };
}

export function resolveDurability(durability: Durability): Durability {
  const found = durabilities.find((one) => one === durability);
  if (found === undefined) throw invalid("durability", durability, listed(durabilities));
  return found;
}

/** A journal's directory, as a path; relative ones are taken from the process's working directory. */
export function directory(dir: unknown, name = "dir"): string {
  if (typeof dir !== "string" || dir === "" || dir.includes("\0")) {
    throw invalid(name, dir, "the path of the journal's own directory, as a string that isn't empty");
  }
  return resolve(dir);
}

function retention(value: Retention | undefined): Retention {
  if (value === undefined) return {};
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw invalid("retention", value, "an object, { maxBytes, maxAgeSeconds, maxRecords }");
  }
  refuseUnknown(value, retentionOptions, "retention.");
  for (const name of retentionOptions) {
    const limit = value[name];
    if (limit !== undefined && !(Number.isFinite(limit) && limit > 0))
      throw invalid(`retention.${name}`, limit, "a number above 0");
  }
  return { ...value };
}

function whole<T extends object>(
  options: T,
  name: keyof T & string,
  standard: number,
  least: number,
  most: number,
): number {
  const value: unknown = options[name];
  if (value === undefined) return standard;
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < least || value > most) {
    throw invalid(name, value, `a whole number from ${least} to ${most}`);
  }
  return value;
}

function oneOf<T extends object, V extends string>(
  options: T,
  name: keyof T & string,
  values: readonly V[],
  standard: V,
): V {
  const value: unknown = options[name];
  if (value === undefined) return standard;
  const found = values.find((one) => one === value);
  if (found === undefined) throw invalid(name, value, listed(values));
  return found;
}

const listed = (values: readonly string[]): string => `one of ${values.map((one) => `"${one}"`).join(", ")}`;

function flag<T extends object>(options: T, name: keyof T & string): boolean {
  const value: unknown = options[name];
  if (value === undefined) return false;
  if (typeof value !== "boolean") throw invalid(name, value, "true or false");
  return value;
}
