import { join } from "node:path";
import { MIB } from "@ehdb/contracts";
import type { KeyRing } from "@ehdb/journal";
import type { SimulatedHost } from "@ehdb/host";
import { BlockCache } from "../src/block-cache.ts";
import { readManifest } from "../src/manifest/read-manifest.ts";
import { partName } from "../src/part/built-part.ts";
import { LogPart } from "../src/part/log-part.ts";
import { MapPart } from "../src/part/map-part.ts";
import type { PartDamage } from "../src/part/part-damage.ts";
import { PartHandles } from "../src/part/part-handles.ts";
import { DIRECTORY } from "./context.ts";
import type { Run } from "./context.ts";

export interface NamedParts {
  readonly paths: readonly string[];
  /** Of a file that is missing too. */
  readonly damage: readonly PartDamage[];
}

/** Goes over every block of every part that the manifest names. */
export async function verifyNamedParts(host: SimulatedHost, encryption: KeyRing | undefined): Promise<NamedParts> {
  const { state } = await readManifest({ host, dir: DIRECTORY });
  const context = { handles: new PartHandles(host.files), cache: new BlockCache(MIB), encryption };
  const paths: string[] = [];
  const damage: PartDamage[] = [];
  for (const meta of state.parts.values()) {
    const path = join(DIRECTORY, "parts", partName(meta.id));
    paths.push(path);
    const isLog = state.datasets.get(meta.dataset)?.order === "by-sort";
    const part = new (isLog ? LogPart : MapPart)(context, path, meta);
    await part.verify((one) => damage.push(one));
  }
  await context.handles.close();
  return { paths, damage };
}

const looks = 50;

/** Nothing is being made or removed any more: then there are the files that the manifest names, and no others. */
export async function lookForOrphans(run: Run): Promise<void> {
  const { host, ledger } = run;
  let unnamed: string[] = [];
  for (let look = 0; look < looks; look++) {
    const { state } = await readManifest({ host, dir: DIRECTORY });
    const named = new Set([...state.parts.keys()].map(partName));
    unnamed = (await host.files.list(join(DIRECTORY, "parts"))).filter((name) => !named.has(name));
    if (unnamed.length === 0) return;
  }
  ledger.fail(`nothing names ${unnamed.join(", ")}, and they are there`);
}
