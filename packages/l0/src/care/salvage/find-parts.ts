import { join } from "node:path";
import type { Host } from "@ehdb/host";
import type { KeyRing } from "@ehdb/journal";
import type { PartMeta } from "../../meta.ts";
import { isAbsent } from "../../manifest/disk-error.ts";
import type { ManifestState } from "../../manifest/state.ts";
import { partIdIn, partName } from "../../part/built-part.ts";
import type { StoreDamage } from "../damage.ts";
import type { Pace } from "../pace.ts";
import { verifyPartFile } from "../verify-part-job.ts";
import { chooseParts, holdsTheSame } from "./choose-parts.ts";
import type { PartCandidate } from "./choose-parts.ts";
import type { SalvagedJournal } from "./journal-beside.ts";
import type { KnownStore } from "./known-store.ts";
import { PartSource } from "./part-source.ts";

export interface FoundParts {
  readonly chosen: readonly PartCandidate[];
  /** Named, and nowhere to be found; nothing has taken their place. */
  readonly missing: readonly PartMeta[];
  /** Files of which nothing can be told. */
  readonly unknown: readonly StoreDamage[];
}

/** The parts of a store: those that the manifest names; when that isn't certain, whatever lies there and fits. */
export async function findParts(
  { host, dir, encryption, pace }: { host: Host; dir: string; encryption: KeyRing | undefined; pace: Pace },
  { isCertain, state }: KnownStore,
): Promise<FoundParts> {
  const directory = join(dir, "parts");
  const there = await idsIn(host, directory);
  const named = new Map(state?.parts);
  const candidates: PartCandidate[] = [];
  const unknown: StoreDamage[] = [];
  for (const id of isCertain ? [...named.keys()].filter((one) => there.has(one)) : there) {
    pace.check();
    const path = join(directory, partName(id));
    const meta = (isCertain ? undefined : await ownMeta(host, path, encryption)) ?? named.get(id);
    if (meta?.id !== id) {
      unknown.push({ kind: "part", file: path, offset: 0, reason: "neither a manifest nor the file says what it is" });
      continue;
    }
    pace.begin(meta.fileBytes);
    const { damage } = await verifyPartFile(pace.files(host.files), { path, meta, encryption });
    pace.end();
    candidates.push({ path, meta, damage });
  }
  const chosen = isCertain ? candidates : chooseParts(candidates);
  const missing = [...named.values()].filter(
    (meta) => !there.has(meta.id) && !chosen.some((other) => holdsTheSame(other.meta, meta)),
  );
  return { chosen: chosen.toSorted((a, b) => a.meta.id - b.meta.id), missing, unknown };
}

/** Whether nothing shows that the store holds more than its manifest says: the parts that it names are there, and the journal goes on from them. */
export async function isAllThere(
  { host, dir }: { readonly host: Host; readonly dir: string },
  { parts, sealedThrough }: ManifestState,
  { journal }: SalvagedJournal,
): Promise<boolean> {
  if (journal === undefined || journal.first > sealedThrough + 1 || journal.last < sealedThrough) return false;
  const there = await idsIn(host, join(dir, "parts"));
  return [...parts.keys()].every((id) => there.has(id));
}

async function idsIn(host: Host, directory: string): Promise<ReadonlySet<number>> {
  try {
    return new Set((await host.files.list(directory)).flatMap((name) => partIdIn(name) ?? []));
  } catch (error) {
    if (isAbsent(error)) return new Set();
    throw error;
  }
}

async function ownMeta(host: Host, path: string, encryption: KeyRing | undefined): Promise<PartMeta | undefined> {
  const file = await host.files.open(path, "read");
  try {
    return (await PartSource.open(file, path, { encryption }))?.meta;
  } finally {
    await file.close();
  }
}
