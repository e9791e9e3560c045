import { isEhdbError } from "@ehdb/contracts";
import type { Host } from "@ehdb/host";
import { isAbsent } from "../manifest/disk-error.ts";
import { currentPath, listDirectory, manifestPath } from "../manifest/layout.ts";
import { readManifest } from "../manifest/read-manifest.ts";
import type { ReadManifest } from "../manifest/read-manifest.ts";
import { damageOf } from "./damage.ts";
import type { StoreDamage } from "./damage.ts";

export interface ManifestsVerified {
  /** `undefined` when it's damaged. */
  readonly inForce: ReadManifest | undefined;
  /** That could be read. */
  readonly manifests: number;
  readonly bytes: number;
}

/** The manifest in force and those that are kept. Beside a writer some may go meanwhile. NOT_FOUND when there is no store. */
export async function verifyManifests(
  host: Host,
  dir: string,
  onDamage: (damage: StoreDamage) => void,
): Promise<ManifestsVerified> {
  const told = new Set<string>();
  const tell = (damage: StoreDamage): void => {
    if (told.has(damage.file)) return;
    told.add(damage.file);
    onDamage(damage);
  };
  const inForce = await readInForce(host, dir, tell);
  let [manifests, bytes] = [0, 0];
  for (const id of (await listDirectory(host, dir)).manifests) {
    const path = manifestPath(dir, id);
    if (id !== inForce?.id) await verifyKept(host, dir, id, tell);
    const found = await host.files.stat(path);
    if (found === undefined) continue;
    manifests++;
    bytes += found.bytes;
  }
  return { inForce, manifests, bytes };
}

async function readInForce(
  host: Host,
  dir: string,
  onDamage: (damage: StoreDamage) => void,
): Promise<ReadManifest | undefined> {
  try {
    return await readManifest({ host, dir });
  } catch (error) {
    if (!isEhdbError(error, "CORRUPT")) throw error;
    onDamage(damageOf("manifest", error, currentPath(dir)));
    return undefined;
  }
}

async function verifyKept(host: Host, dir: string, id: number, onDamage: (damage: StoreDamage) => void): Promise<void> {
  try {
    await readManifest({ host, dir, id });
  } catch (error) {
    // Pruned meanwhile, or of a release that wrote another format.
    if (isAbsent(error) || isEhdbError(error, "NOT_FOUND", "UNSUPPORTED_VERSION")) return;
    if (!isEhdbError(error, "CORRUPT")) throw error;
    const damage = damageOf("manifest", error, manifestPath(dir, id));
    if ((await host.files.stat(damage.file)) !== undefined) onDamage(damage);
  }
}
