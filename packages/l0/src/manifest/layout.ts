import { join } from "node:path";
import type { Host } from "@ehdb/host";
import { partIdIn } from "../part/built-part.ts";
import { isAbsent } from "./disk-error.ts";

const digits = 12;
const manifestName = /^manifest-(\d{12})$/;
const temporaryName = /^(?:CURRENT|manifest-\d{12})\.[0-9a-f]+\.tmp$/;

export const CURRENT = "CURRENT";
export const currentPath = (dir: string): string => join(dir, CURRENT);
export const manifestFile = (id: number): string => `manifest-${String(id).padStart(digits, "0")}`;
export const manifestPath = (dir: string, id: number): string => join(dir, manifestFile(id));

/** What lies in an engine's directory, as far as the manifest cares. Ids in rising order. */
export interface Listing {
  readonly manifests: readonly number[];
  /** Files that were under way when somebody stopped. */
  readonly temporaries: readonly string[];
  /** 0 when there is no part. */
  readonly highestPart: number;
}

export async function listDirectory(host: Host, dir: string): Promise<Listing> {
  const names = await namesIn(host, dir);
  const manifests = names.map((name) => idIn(manifestName, name)).filter((id) => id > 0);
  const parts = (await namesIn(host, join(dir, "parts"))).map((name) => partIdIn(name) ?? 0);
  return {
    manifests: manifests.sort((a, b) => a - b),
    temporaries: names.filter((name) => temporaryName.test(name)),
    highestPart: parts.reduce((highest, id) => Math.max(highest, id), 0),
  };
}

async function namesIn(host: Host, directory: string): Promise<string[]> {
  try {
    return await host.files.list(directory);
  } catch (error) {
    if (isAbsent(error)) return [];
    throw error;
  }
}

/** 0 for a name that isn't ours. */
const idIn = (pattern: RegExp, name: string): number => Number(pattern.exec(name)?.[1] ?? 0);
