import { resolve } from "node:path";
import { invalidOption, MIB, optionReader, refuseUnknown } from "@ehdb/contracts";
import type { DatasetSpec } from "@ehdb/contracts";
import { hostOf } from "@ehdb/host";
import type { Host } from "@ehdb/host";
import { decryptionKeys } from "@ehdb/journal";
import type { DecryptionKeys } from "@ehdb/journal";
import { checkDatasets } from "../options.ts";
import type { EngineReaderOptions } from "./api.ts";

export interface ResolvedReaderOptions {
  readonly dir: string;
  /** `undefined`: all that the store has. */
  readonly datasets: readonly DatasetSpec[] | undefined;
  readonly host: Host;
  readonly encryption: DecryptionKeys | undefined;
  readonly pollMillis: number;
  readonly blockCacheBytes: number;
}

const known = [
  "dir",
  "datasets",
  "host",
  "encryption",
  "pollMillis",
  "blockCacheBytes",
] as const satisfies (keyof EngineReaderOptions)[];

export function resolveReaderOptions(options: EngineReaderOptions): ResolvedReaderOptions {
  refuseUnknown(options, known, "");
  const { whole } = optionReader(options);
  if (typeof options.dir !== "string" || options.dir === "")
    throw invalidOption("dir", options.dir, "the path of a directory");
  return {
    dir: resolve(options.dir),
    datasets: options.datasets === undefined ? undefined : checkDatasets(options.datasets),
    host: hostOf(options.host),
    encryption: decryptionKeys(options.encryption),
    pollMillis: whole("pollMillis", 50, 1, 60_000),
    blockCacheBytes: whole("blockCacheBytes", 16 * MIB, MIB, 64 * 1024 * MIB),
  };
}
