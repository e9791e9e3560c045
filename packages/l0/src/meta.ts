import type { DatasetOrder } from "@ehdb/contracts";

/** What the manifest knows of a part: enough to leave it out of a read without opening it. */
export interface PartMeta {
  /** Never used twice. The file is `parts/<id, 12 digits>.part`. */
  readonly id: number;
  /** The dataset's number. */
  readonly dataset: number;
  /** 0: sealed; n: merged n times. */
  readonly level: number;
  readonly records: number;
  readonly fileBytes: number;
  /** Of a log: the first and last position. 0 of a map. */
  readonly firstSort: number;
  readonly lastSort: number;
  readonly firstRevision: number;
  readonly lastRevision: number;
  readonly firstTime: number;
  readonly lastTime: number;
  /** Records with an id. */
  readonly ids: number;
}

/** What the manifest knows of a dataset. */
export interface DatasetMeta {
  /** From 1 to 255, given when it was first declared. */
  readonly id: number;
  readonly name: string;
  readonly order: DatasetOrder;
  /** The position that the next record after `sealedThrough` gets. */
  readonly nextSort: number;
  /**
   * Where each of the last opens began: a checkpoint read in an epoch before it, and at or beyond its first position, was taken
   * back by a crash.
   */
  readonly cuts: readonly { readonly epoch: number; readonly firstSort: number }[];
}

/** One change of what is sealed. All of it or none is durable. */
export interface ManifestEdit {
  readonly add?: readonly PartMeta[];
  readonly remove?: readonly number[];
  /** Commits up to this revision are in parts: what the journal still holds of them is not replayed. */
  readonly sealedThrough?: number;
  /** The datasets that are new or have changed. */
  readonly datasets?: readonly DatasetMeta[];
  /** Engine time of the last sealed commit. */
  readonly time?: number;
}
