import { resolve } from "node:path";
import { EhdbError, KIB, MIB, DEFAULT_IN_FLIGHT_BYTES } from "@ehdb/contracts";
import { realHost } from "@ehdb/host";
import type { Host } from "@ehdb/host";
import type { Durability, JournalOptions, JournalReaderOptions, KeyRing, Retention, SalvageOptions } from "./api.ts";
import { MAX_KEY_ID_BYTES } from "./format.ts";
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
  readonly encryption: KeyRing | undefined;
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
    host: options.host ?? realHost(),
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
    host: options.host ?? realHost(),
    indexStride: whole(options, "indexStride", 1024, 1, 2 ** 20),
    encryption: keyRing(options.encryption),
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
  return { host: options.host ?? realHost(), dir, to, encryption: keyRing(options.encryption) };
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

const notShown = "(not shown)";

export function keyRing(ring: KeyRing | undefined): KeyRing | undefined {
  if (ring === undefined) return undefined;
  if (typeof ring !== "object" || ring === null || typeof ring.keys !== "object" || ring.keys === null) {
    // It may be a key itself, given in the wrong place.
    throw invalid("encryption", notShown, "{ current: id, keys: { [id]: 32 bytes } }");
  }
  refuseUnknown(ring, ["current", "keys"], "encryption.");
  for (const [id, key] of Object.entries(ring.keys)) {
    const idBytes = Buffer.byteLength(id);
    if (idBytes < 1 || idBytes > MAX_KEY_ID_BYTES) {
      throw invalid("encryption.keys", `(an id of ${idBytes} bytes)`, `ids of 1 to ${MAX_KEY_ID_BYTES} bytes`);
    }
    if (!(key instanceof Uint8Array) || key.length !== 32) {
      // The key itself never goes into a message.
      throw invalid(`encryption.keys["${id}"]`, notShown, "a Uint8Array of 32 bytes");
    }
  }
  if (typeof ring.current !== "string" || !Object.hasOwn(ring.keys, ring.current)) {
    throw invalid("encryption.current", ring.current, "the id of one of encryption.keys");
  }
  // A copy: what the caller wipes or changes later doesn't reach the log.
  const keys = Object.fromEntries(Object.entries(ring.keys).map(([id, key]) => [id, Uint8Array.from(key)]));
  return { current: ring.current, keys };
}

function retention(value: Retention | undefined): Retention {
  if (value === undefined) return {};
  if (typeof value !== "object" || value === null) throw invalid("retention", value, "an object");
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

export function refuseUnknown(options: object, known: readonly string[], prefix: string): void {
  if (typeof options !== "object" || options === null) throw invalid("options", options, "an object");
  for (const name of Object.keys(options)) {
    if (known.includes(name)) continue;
    const near = nearest(name, known);
    const hint = near === undefined ? `Known are ${known.join(", ")}` : `Did you mean ${prefix}${near}?`;
    throw new EhdbError("INVALID_OPTION", `there is no option ${prefix}${name}. ${hint}`, {
      option: `${prefix}${name}`,
      suggestion: near,
    });
  }
}

export function invalid(option: string, value: unknown, wanted: string): EhdbError {
  const got =
    typeof value === "string"
      ? `"${value}"`
      : typeof value === "object" && value !== null
        ? "an object"
        : String(value);
  return new EhdbError("INVALID_OPTION", `${option} must be ${wanted}, not ${got}`, { option, got, wanted });
}

const mostTypos = 3;

/** The known name that `name` was most likely meant to be. */
function nearest(name: string, known: readonly string[]): string | undefined {
  const byDistance = known
    .map((one) => ({ one, away: distance(one.toLowerCase(), name.toLowerCase()) }))
    .sort((a, b) => a.away - b.away);
  const [first] = byDistance;
  return first !== undefined && first.away <= mostTypos ? first.one : undefined;
}

/** Levenshtein's edit distance. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] as number) + 1, (next[j - 1] as number) + 1));
    }
    row = next;
  }
  return row[b.length] as number;
}
