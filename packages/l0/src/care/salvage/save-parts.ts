import { join } from "node:path";
import type { PartMeta } from "../../meta.ts";
import { partName } from "../../part/built-part.ts";
import { copyFile } from "../copy-file.ts";
import type { PartCandidate } from "./choose-parts.ts";
import type { FoundParts } from "./find-parts.ts";
import type { StoreLoss } from "./loss.ts";
import type { NewStore } from "./new-store.ts";
import { PartSource } from "./part-source.ts";
import { rebuildMemory } from "./rebuild-memory.ts";
import { rebuildPart } from "./rebuild-part.ts";
import type { Hole, Rebuilt } from "./rebuild-part.ts";
import type { CommitsBeside } from "./journal-beside.ts";
import type { Salvaging } from "./salvage-store.ts";

/** Copies parts that are whole, and makes others of what is whole in those that aren't. */
export async function saveParts(
  salvaging: Salvaging,
  store: NewStore,
  { chosen, missing }: FoundParts,
  journal: CommitsBeside | undefined,
): Promise<{ readonly copied: number; readonly rebuilt: number }> {
  const { host, dir, directory, pace } = salvaging;
  let [copied, rebuilt] = [0, 0];
  for (const candidate of chosen) {
    const { meta, path, damage } = candidate;
    pace.check();
    pace.begin(meta.fileBytes);
    const dataset = store.nameOf(meta.dataset);
    store.damage.push(...damage.map((found) => ({ kind: "part" as const, ...found, dataset })));
    if (damage.length === 0) {
      await copyFile(host.files, path, join(directory, "parts", partName(meta.id)), () => pace.check());
      store.parts.push(meta);
      store.covers(meta);
      copied++;
    } else if (journal?.has(meta.firstRevision, meta.lastRevision) !== true) {
      await rebuild(salvaging, store, candidate);
      store.covers(meta);
      rebuilt++;
    }
    pace.end();
  }
  for (const meta of missing) {
    const file = join(dir, "parts", partName(meta.id));
    const place = { kind: "part", file, offset: 0, reason: "the file is missing" } as const;
    store.damage.push({ ...place, dataset: store.nameOf(meta.dataset) });
    if (journal?.has(meta.firstRevision, meta.lastRevision) === true) continue;
    store.lost.push({ ...place, ...rangeOf(store, meta) });
  }
  return { copied, rebuilt };
}

async function rebuild(
  { host, encryption }: Salvaging,
  store: NewStore,
  { meta, path, damage }: PartCandidate,
): Promise<void> {
  const file = await host.files.open(path, "read");
  try {
    const { fileBytes } = meta;
    const source = await PartSource.open(file, path, { encryption, fileBytes });
    if (source === undefined || source.header.id !== meta.id || source.header.dataset !== meta.dataset) {
      const reason = source === undefined ? "nothing tells what is in it" : "it's another part's file";
      store.lost.push({ kind: "part", file: path, offset: 0, reason, ...rangeOf(store, meta) });
      return;
    }
    const part = { dataset: meta.dataset, order: source.header.order, level: meta.level };
    const rebuilt = await rebuildPart(source, store.making, part);
    store.parts.push(...rebuilt.parts);
    if (part.order === "by-sort") {
      const memory = await rebuildMemory(source, store.making, part, meta, rebuilt.lastVersions);
      if (memory !== undefined) store.parts.push(memory);
    }
    if (rebuilt.records === meta.records) return;
    const reason = damage[0]?.reason ?? "";
    const lost = lossesIn(rebuilt, part.order === "by-sort", meta);
    for (const one of lost) store.lost.push({ kind: "part", file: path, reason, ...rangeOf(store, meta), ...one });
  } finally {
    await file.close();
  }
}

type Lost = Partial<Omit<StoreLoss, "offset">> & { readonly offset: number };

/** Where the records that are missing stood. */
function lossesIn({ holes, parts }: Rebuilt, isLog: boolean, meta: PartMeta): Lost[] {
  const last = parts.at(-1)?.lastSort;
  // A file that was cut has no hole at its end.
  const end: Hole = { offset: meta.fileBytes, isOfSection: true, before: undefined, after: undefined };
  const isCut = holes.length === 0 || (isLog && holes.every(({ after }) => after !== undefined));
  const all = isCut ? [...holes, { ...end, before: last === undefined ? undefined : { sort: last, key: "" } }] : holes;
  // Where the index says what is damaged, the rest isn't guessed.
  const known = all.filter(({ isOfSection }) => isOfSection);
  const lost: Lost[] = [];
  for (const hole of known.length > 0 ? known : all) {
    const one = isLog ? positionsOf(hole, meta) : keysOf(hole);
    if (one === undefined) continue;
    const before = lost.at(-1);
    // Several blocks beside each other are one loss.
    if (before?.firstPosition === one.firstPosition && before?.lastPosition === one.lastPosition && isLog) continue;
    lost.push(one);
  }
  return lost;
}

function positionsOf({ offset, before, after }: Hole, meta: PartMeta): Lost | undefined {
  const firstPosition = before === undefined ? meta.firstSort : before.sort + 1;
  const lastPosition = after === undefined ? meta.lastSort : after.sort - 1;
  return firstPosition <= lastPosition ? { offset, firstPosition, lastPosition } : undefined;
}

function keysOf({ offset, before, after }: Hole): Lost {
  return {
    offset,
    ...(before !== undefined && before.key !== "" && { firstKey: before.key }),
    ...(after !== undefined && { lastKey: after.key }),
  };
}

/** All that a part held. */
function rangeOf(store: NewStore, meta: PartMeta): Partial<StoreLoss> {
  const dataset = store.nameOf(meta.dataset);
  if (meta.lastSort > 0) return { dataset, firstPosition: meta.firstSort, lastPosition: meta.lastSort };
  return { dataset, firstRevision: meta.firstRevision, lastRevision: meta.lastRevision };
}
