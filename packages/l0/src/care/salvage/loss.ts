/** What couldn't be saved, or may be missing. */
export interface StoreLoss {
  readonly kind: "manifest" | "part" | "journal";
  readonly file: string;
  readonly offset: number;
  readonly reason: string;
  /** The dataset's name, where it's one's. */
  readonly dataset?: string;
  /** Of a log: what is lost lies within these positions, both included. */
  readonly firstPosition?: number;
  readonly lastPosition?: number;
  /** Of a map: entries of keys from this one to that one, both included; none where the range has no end there. */
  readonly firstKey?: string;
  readonly lastKey?: string;
  /** Of a map, and of the journal: entries of these commits. */
  readonly firstRevision?: number;
  readonly lastRevision?: number;
}
