import { resolve } from "node:path";
import { chosen, DEFAULT_IN_FLIGHT_BYTES, invalidOption, KIB, MIB, optionReader, refuseUnknown } from "@ehdb/contracts";
import { hostOf } from "@ehdb/host";
import type { Host } from "@ehdb/host";
import type {
  CopyJournalOptions,
  DecryptionKeys,
  Durability,
  JournalOptions,
  JournalReaderOptions,
  KeyRing,
  Retention,
  SalvageOptions,
} from "./api.ts";
import { decryptionKeys, keyRing } from "./key-ring.ts";
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
const mostEpoch = 2 ** 32 - 1;
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
  "leastEpoch",
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
  const { whole, oneOf, flag } = optionReader(options);
  const segmentBytes = whole("segmentBytes", 256 * MIB, MIB, 4 * GIB);
  return {
    dir: directory(options.dir),
    host: hostOf(options.host),
    durability: oneOf("durability", durabilities, "sync"),
    batchBytes: whole("batchBytes", 256 * KIB, 1, GIB),
    batchRecords: whole("batchRecords", 1024, 1, 2 ** 31),
    batchMillis: whole("batchMillis", 10, 1, 60_000),
    segmentBytes,
    leastEpoch: whole("leastEpoch", 1, 1, mostEpoch),
    initialBytes: Math.min(segmentBytes - 64 * KIB, MIB),
    maxInFlightBytes: whole("maxInFlightBytes", DEFAULT_IN_FLIGHT_BYTES, MIB, GIB),
    indexStride: whole("indexStride", 1024, 1, 2 ** 20),
    reserveBytes: whole("reserveBytes", MIB, 0, 256 * MIB),
    retention: retention(options.retention),
    compression: oneOf("compression", ["none", "deflate"], "none"),
    encryption: keyRing(options.encryption),
    blockingSync: flag("blockingSync"),
    verifyOnOpen: oneOf("verifyOnOpen", ["tail", "all"], "tail"),
    lockTimeoutMillis: whole("lockTimeoutMillis", 0, 0, 3_600_000),
  };
}

export function resolveReaderOptions(options: JournalReaderOptions): ResolvedReaderOptions {
  refuseUnknown(options, readerOptions, "");
  const { whole } = optionReader(options);
  return {
    dir: directory(options.dir),
    host: hostOf(options.host),
    indexStride: whole("indexStride", 1024, 1, 2 ** 20),
    encryption: decryptionKeys(options.encryption),
    pollMillis: whole("pollMillis", 50, 1, 60_000),
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
    throw invalidOption("to", to, "another directory than dir: the damaged journal is only read");
  if (options.onProgress !== undefined && typeof options.onProgress !== "function") {
    throw invalidOption("onProgress", options.onProgress, "a function");
  }
  return { host: hostOf(options.host), dir, to, encryption: keyRing(options.encryption) };
}

const copyOptions = [
  "from",
  "to",
  "host",
  "encryption",
  "first",
  "last",
  "leastEpoch",
  "signal",
  "onBytes",
] as const satisfies (keyof CopyJournalOptions)[];

export function resolveCopyOptions(options: CopyJournalOptions): Pick<
  CopyJournalOptions,
  "from" | "first" | "last" | "signal" | "onBytes"
> & {
  readonly host: Host;
  readonly to: string;
  readonly encryption: KeyRing | undefined;
  readonly leastEpoch: number;
} {
  refuseUnknown(options, copyOptions, "");
  const { whole } = optionReader(options);
  const { from, first, last, signal, onBytes } = options;
  return {
    host: hostOf(options.host),
    to: directory(options.to, "to"),
    encryption: keyRing(options.encryption),
    leastEpoch: whole("leastEpoch", 1, 1, mostEpoch),
    first,
    last,
    ...(from && { from }),
    ...(signal && { signal }),
    ...(onBytes && { onBytes }),
  };
}

export function resolveDurability(durability: Durability): Durability {
  return chosen("durability", durability, durabilities);
}

/** A journal's directory, as a path; relative ones are taken from the process's working directory. */
export function directory(dir: unknown, name = "dir"): string {
  if (typeof dir !== "string" || dir === "" || dir.includes("\0")) {
    throw invalidOption(name, dir, "the path of the journal's own directory, as a string that isn't empty");
  }
  return resolve(dir);
}

function retention(value: Retention | undefined): Retention {
  if (value === undefined) return {};
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw invalidOption("retention", value, "an object, { maxBytes, maxAgeSeconds, maxRecords }");
  }
  refuseUnknown(value, retentionOptions, "retention.");
  for (const name of retentionOptions) {
    const limit = value[name];
    if (limit !== undefined && !(Number.isFinite(limit) && limit > 0))
      throw invalidOption(`retention.${name}`, limit, "a number above 0");
  }
  return { ...value };
}
