/** Lookups and scans of an engine's parts, since its open. */
export interface LookupCounts {
  /** Parts that were left out by their range. */
  pruned: number;
  /** Parts that were left out by their bloom filter. */
  bloomPruned: number;
  /** Parts that were looked into. */
  scanned: number;
}

export function noLookups(): LookupCounts {
  return { pruned: 0, bloomPruned: 0, scanned: 0 };
}
