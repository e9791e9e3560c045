import { offsetOf } from "./chunks.ts";
import type { Place } from "./chunks.ts";
import type { CommitIndex } from "./commit-index.ts";
import { mapRecordAt, operation, operationAt } from "./envelope.ts";
import { upperBound } from "./log-table.ts";
import type { MapEntry } from "./part/entry-cells.ts";
import { compareUtf8 } from "./utf8-order.ts";

/** The operations of one map dataset in one generation, by key: places, not objects. */
export class MapTable {
  readonly #commits: CommitIndex;
  readonly #keys: Map<string, { readonly revisions: number[]; readonly places: Place[] }> = new Map();
  /** All keys but those that came since somebody asked for them. */
  #sorted: string[] = [];
  #added: string[] = [];
  records = 0;
  /** Of its last operation. */
  lastRevision = 0;

  constructor(commits: CommitIndex) {
    this.#commits = commits;
  }

  add(place: Place, revision: number, key: string): void {
    this.records++;
    this.lastRevision = revision;
    const versions = this.#keys.get(key);
    if (versions === undefined) {
      this.#keys.set(key, { revisions: [revision], places: [place] });
      this.#added.push(key);
      return;
    }
    versions.revisions.push(revision);
    versions.places.push(place);
  }

  /** The newest operation on a key up to `revision`. */
  get(key: string, revision: number): MapEntry | undefined {
    const versions = this.#keys.get(key);
    if (versions === undefined) return undefined;
    const count = upperBound(versions.revisions, revision);
    return count === 0
      ? undefined
      : this.#entry(versions.places[count - 1] as Place, versions.revisions[count - 1] as number);
  }

  /** The accepted revision under a key, 0 for a deleted one; `undefined` when the table has nothing of it. */
  head(key: string): number | undefined {
    const versions = this.#keys.get(key);
    if (versions === undefined) return undefined;
    const place = versions.places.at(-1) as Place;
    const isDeleted = operationAt(this.#commits.chunks.buffer(place), offsetOf(place)) === operation.delete;
    return isDeleted ? 0 : versions.revisions.at(-1);
  }

  /** The keys in `[from, before)`, in order. */
  keys(from: string, before: string | undefined): readonly string[] {
    if (this.#added.length > 0) {
      // Two sorted runs, which JavaScript's sort only merges.
      this.#sorted = this.#sorted.concat(this.#added.sort(compareUtf8)).sort(compareUtf8);
      this.#added = [];
    }
    const start = lowerBound(this.#sorted, from);
    const end = before === undefined ? this.#sorted.length : lowerBound(this.#sorted, before);
    return this.#sorted.slice(start, end);
  }

  /** Each key with its head, 0 when it's deleted. */
  *heads(): Iterable<[string, number]> {
    for (const key of this.#keys.keys()) yield [key, this.head(key) as number];
  }

  #entry(place: Place, revision: number): MapEntry {
    const buffer = this.#commits.chunks.buffer(place);
    const at = offsetOf(place);
    return {
      operation: operationAt(buffer, at),
      record: mapRecordAt(buffer, at, revision, this.#commits.timeOf(revision)),
    };
  }
}

function lowerBound(sorted: readonly string[], key: string): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareUtf8(sorted[middle] as string, key) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
