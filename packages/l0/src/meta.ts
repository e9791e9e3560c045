import type { DatasetOrder } from "@ehdb/contracts";

/**
 * What the manifest knows of a part: enough to leave it out of a read without opening it. Its ranges are what it covers: what
 * merges dropped at its edges, or all that was in it, may be gone.
 */
export interface PartMeta {
  /** Never used twice. The file is `parts/<id, 12 digits>.part`. */
  readonly id: number;
  /** The dataset's number. */
  readonly dataset: number;
  /** 0: sealed; n: merged n times. */
  readonly level: number;
  readonly records: number;
  readonly fileBytes: number;
  /** Of a log: the first and last position; 0 when it covers none. 0 of a map. */
  readonly firstSort: number;
  readonly lastSort: number;
  readonly firstRevision: number;
  readonly lastRevision: number;
  readonly firstTime: number;
  readonly lastTime: number;
  /** Ids that it knows, of records that are gone too. */
  readonly ids: number;
  /** Of a log: keys whose earlier versions are erased from the parts before it, too. */
  readonly erasures: number;
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
  /** The last sealed commit that wrote to it; 0 for none. */
  readonly lastRevision: number;
  /**
   * Of a log: the first position that can be read. Of a map: the revision up to which only the newest version of a key is kept.
   * It's durable before anything goes that lies below it, and never falls.
   */
  readonly floor: number;
  /** Entries of a map that merges dropped because newer ones had taken their place; for ever, as the next two. */
  readonly superseded: number;
  /** Records of a log that merges dropped because they were erased. */
  readonly erased: number;
  /** Records of a log that merges dropped because they were below the floor. */
  readonly dropped: number;
}

export function newDataset(id: number, name: string, order: DatasetOrder): DatasetMeta {
  return { id, name, order, nextSort: 1, cuts: [], lastRevision: 0, floor: 0, superseded: 0, erased: 0, dropped: 0 };
}

/** What an edit says of a dataset: its identity, and what has changed. */
export type DatasetEdit = Pick<DatasetMeta, "id" | "name" | "order"> & Partial<DatasetMeta>;

/** One change of what is sealed. All of it or none is durable. */
export interface ManifestEdit {
  readonly add?: readonly PartMeta[];
  readonly remove?: readonly number[];
  /** Commits up to this revision are in parts: what the journal still holds of them is not replayed. */
  readonly sealedThrough?: number;
  /** The datasets that are new or have changed. */
  readonly datasets?: readonly DatasetEdit[];
  /** Engine time of the last sealed commit. */
  readonly time?: number;
}
