import { newDataset } from "../meta.ts";
import type { DatasetEdit, DatasetMeta, ManifestEdit, PartMeta } from "../meta.ts";

/** What is sealed. */
export interface ManifestState {
  /** The store's name, for ever. */
  readonly store: string;
  /** The name of this copy of it: a restore gives a new one. */
  readonly incarnation: string;
  /** Of the open that wrote the snapshot. */
  readonly epoch: number;
  readonly sealedThrough: number;
  /** Engine time of the last sealed commit. */
  readonly time: number;
  /** No part had this id, or one above it, when that was written. */
  readonly nextPartId: number;
  /** Edits over the store's life. */
  readonly edits: number;
  readonly datasets: ReadonlyMap<number, DatasetMeta>;
  /** By id, in the order of adding. */
  readonly parts: ReadonlyMap<number, PartMeta>;
  /** Fields that this release doesn't know: kept, and carried into each snapshot. */
  readonly others: Readonly<Record<string, unknown>>;
}

/** All of a state, to be written or copied. */
export type Snapshot = Omit<ManifestState, "datasets" | "parts" | "others"> & {
  readonly datasets: readonly DatasetMeta[];
  readonly parts: readonly PartMeta[];
};

/** A state that edits change. */
export class LiveState implements ManifestState {
  store: string;
  incarnation: string;
  epoch = 0;
  sealedThrough = 0;
  time = 0;
  nextPartId = 1;
  edits = 0;
  readonly datasets: Map<number, DatasetMeta> = new Map();
  readonly parts: Map<number, PartMeta> = new Map();
  others: Record<string, unknown> = {};

  constructor(store: string, incarnation: string) {
    this.store = store;
    this.incarnation = incarnation;
  }

  static fromSnapshot(snapshot: Snapshot): LiveState {
    const { store, incarnation, epoch, sealedThrough, time, nextPartId, edits, datasets, parts, ...others } = snapshot;
    const state = new LiveState(store, incarnation);
    Object.assign(state, { epoch, sealedThrough, time, nextPartId, edits, others });
    for (const dataset of datasets) state.datasets.set(dataset.id, datasetAfter(undefined, dataset));
    for (const part of parts) state.parts.set(part.id, part);
    return state;
  }

  copy(): LiveState {
    return LiveState.fromSnapshot(this.snapshot());
  }

  snapshot(): Snapshot {
    const { store, incarnation, epoch, sealedThrough, time, nextPartId, edits, others } = this;
    const datasets = [...this.datasets.values()];
    const parts = [...this.parts.values()];
    return { ...others, store, incarnation, epoch, sealedThrough, time, nextPartId, edits, datasets, parts };
  }

  /** A field that isn't known is set by the edit that has it; within a dataset too. */
  apply(edit: ManifestEdit): void {
    const { add = [], remove = [], datasets = [], sealedThrough, time, ...others } = edit;
    for (const id of remove) this.parts.delete(id);
    for (const dataset of datasets) {
      this.datasets.set(dataset.id, datasetAfter(this.datasets.get(dataset.id), dataset));
    }
    for (const part of add) {
      this.parts.set(part.id, part);
      this.nextPartId = Math.max(this.nextPartId, part.id + 1);
    }
    this.sealedThrough = sealedThrough ?? this.sealedThrough;
    this.time = time ?? this.time;
    this.others = { ...this.others, ...others };
    this.edits++;
  }
}

/** A dataset as an edit leaves it. */
export function datasetAfter(before: DatasetMeta | undefined, edit: DatasetEdit): DatasetMeta {
  return { ...newDataset(edit.id, edit.name, edit.order), ...before, ...edit };
}
