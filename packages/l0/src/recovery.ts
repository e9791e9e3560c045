import { EhdbError } from "@ehdb/contracts";
import type { DatasetSpec } from "@ehdb/contracts";
import type { Host } from "@ehdb/host";
import type { Journal } from "@ehdb/journal";
import type { EngineRecovery } from "./api.ts";
import type { Fullness } from "./fullness.ts";
import type { ManifestState } from "./manifest/state.ts";
import { newDataset } from "./meta.ts";
import type { DatasetMeta } from "./meta.ts";
import { replayJournal } from "./replay-journal.ts";
import { Store } from "./store.ts";
import type { Parts } from "./view.ts";

const mostDatasets = 255;

export interface Recovered {
  readonly store: Store;
  /** Engine time of the last commit; 0 when there is none. */
  readonly time: number;
  readonly report: EngineRecovery;
  /** The disk was full, and nothing may be written. */
  readonly isReadOnly: boolean;
}

export interface RecoveryContext {
  readonly host: Host;
  readonly journal: Journal;
  readonly specs: readonly DatasetSpec[];
  /** All datasets of the store. */
  readonly metas: readonly DatasetMeta[];
  readonly fullness: Fullness;
  readonly parts: Parts;
  /** Of the first view. */
  readonly partsVersion: number;
}

/**
 * Reads back into memory the commits that aren't in parts. CORRUPT when the journal doesn't go on where the manifest ends: one of
 * the two has lost something.
 */
export async function recover(context: RecoveryContext, state: ManifestState): Promise<Recovered> {
  const { host, journal, fullness } = context;
  const begun = host.clock.monotonic();
  const { sealedThrough } = state;
  assertMeets(journal, sealedThrough);
  const store = new Store(context.metas, context.specs, context.parts, sealedThrough + 1, context.partsVersion);
  let time = state.time;
  // What was imported may be later than all that was committed since.
  for (const parts of context.parts.logs.values()) for (const { meta } of parts) time = Math.max(time, meta.lastTime);
  let replayedRecords = 0;
  await replayJournal({ host, journal, fullness }, store, journal.last);
  for (const { records } of store.view.generations) replayedRecords += records;
  for (const dataset of store.byId.values()) dataset.beginEpoch(journal.epoch);
  const { accepted } = store;
  if (accepted > sealedThrough) {
    const last = store.view.generations.findLast(({ isEmpty }) => !isEmpty);
    time = Math.max(time, last?.commits.timeOf(accepted) ?? 0);
  }
  const report: EngineRecovery = {
    epoch: journal.epoch,
    replayedRecords,
    replayedCommits: accepted - sealedThrough,
    millis: host.clock.monotonic() - begun,
  };
  return { store, time, report, isReadOnly: journal.state === "read-only" };
}

/** Those of the store, and those that are new to it, with the numbers they get. */
export function datasetsFor(specs: readonly DatasetSpec[], known: readonly DatasetMeta[]): DatasetMeta[] {
  const metas = [...known];
  for (const { name, order } of specs) {
    const before = metas.find((meta) => meta.name === name);
    if (before !== undefined) {
      if (before.order === order) continue;
      const message = `dataset ${name} is ${before.order} in this store, not ${order}: an order can't be changed. Give the dataset another name`;
      throw new EhdbError("INVALID_OPTION", message, {
        option: "datasets",
        dataset: name,
        stored: before.order,
        got: order,
      });
    }
    const id = metas.reduce((highest, meta) => Math.max(highest, meta.id), 0) + 1;
    if (id > mostDatasets) {
      throw new EhdbError("INVALID_OPTION", `a store has at most ${mostDatasets} datasets`, {
        option: "datasets",
        dataset: name,
      });
    }
    metas.push(newDataset(id, name, order));
  }
  return metas;
}

function assertMeets(journal: Journal, sealedThrough: number): void {
  const { first, last, state } = journal;
  // On a full disk the journal shows only what it has stated, and parts may hold more.
  if (first <= sealedThrough + 1 && (last >= sealedThrough || state === "read-only")) return;
  const message =
    first > sealedThrough + 1
      ? `the journal begins at ${first}, and the manifest says that only commits up to ${sealedThrough} are in parts: an edit of the manifest is lost`
      : `the manifest says that commits up to ${sealedThrough} are in parts, and the journal ends at ${last}: it isn't the journal of this store`;
  throw new EhdbError("CORRUPT", message, { first, last, sealedThrough });
}
