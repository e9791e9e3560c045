import type { LogRecord } from "@ehdb/contracts";
import { chunkOf, offsetOf } from "./chunks.ts";
import type { Place } from "./chunks.ts";
import { hashAt, logRecordAt } from "./envelope.ts";
import type { CommitIndex } from "./commit-index.ts";

/** The records of one key in a table, in order of version. */
interface KeyRun {
  readonly firstVersion: number;
  /** Into the table. */
  readonly indexes: number[];
}

/** What is known of a record with an id. */
export interface KnownId {
  readonly sort: number;
  readonly version: number;
  readonly revision: number;
  readonly time: number;
  readonly hash: Uint8Array;
}

/** The records of one log dataset in one generation: places, not objects. */
export class LogTable {
  readonly firstSort: number;
  readonly #commits: CommitIndex;
  readonly #places: Place[] = [];
  readonly #revisions: number[] = [];
  readonly #keys: Map<string, KeyRun> = new Map();
  readonly #ids: Map<string, number> = new Map();

  constructor(commits: CommitIndex, firstSort: number) {
    this.#commits = commits;
    this.firstSort = firstSort;
  }

  get records(): number {
    return this.#places.length;
  }

  /** Of its last record. */
  get lastRevision(): number {
    return this.#revisions.at(-1) ?? 0;
  }

  /** The position that the next record gets. */
  get nextSort(): number {
    return this.firstSort + this.#places.length;
  }

  get ids(): number {
    return this.#ids.size;
  }

  add(place: Place, revision: number, key: string, version: number, id: string | undefined): void {
    const index = this.#places.length;
    this.#places.push(place);
    this.#revisions.push(revision);
    const run = this.#keys.get(key);
    if (run === undefined) this.#keys.set(key, { firstVersion: version, indexes: [index] });
    else run.indexes.push(index);
    if (id !== undefined) this.#ids.set(idKey(key, id), index);
  }

  /** The last version of a key; `undefined` when the table has none of it. */
  lastVersion(key: string): number | undefined {
    const run = this.#keys.get(key);
    return run === undefined ? undefined : run.firstVersion + run.indexes.length - 1;
  }

  /** The first and last version of a key up to `revision`; `undefined` when there is none. */
  versions(key: string, revision: number): { first: number; last: number } | undefined {
    const run = this.#keys.get(key);
    if (run === undefined) return undefined;
    const count = this.#visible(run.indexes, revision);
    return count === 0 ? undefined : { first: run.firstVersion, last: run.firstVersion + count - 1 };
  }

  findId(key: string, id: string): KnownId | undefined {
    const index = this.#ids.get(idKey(key, id));
    if (index === undefined) return undefined;
    const { sort, version, revision, time } = this.at(index);
    const place = this.#places[index] as Place;
    return { sort, version, revision, time, hash: hashAt(this.#commits.chunks.buffer(place), offsetOf(place)) };
  }

  /** How many records there are up to `revision`. */
  visible(revision: number): number {
    return upperBound(this.#revisions, revision);
  }

  at(index: number): LogRecord {
    const place = this.#places[index] as Place;
    const revision = this.#revisions[index] as number;
    const buffer = this.#commits.chunks.buffers[chunkOf(place)] as Buffer;
    return logRecordAt(buffer, offsetOf(place), revision, this.#commits.timeOf(revision));
  }

  /** The record of a key with this version, which is there. */
  ofKey(key: string, version: number): LogRecord {
    const run = this.#keys.get(key) as KeyRun;
    return this.at(run.indexes[version - run.firstVersion] as number);
  }

  /** Each key with its last version. */
  *lastVersions(): Iterable<[string, number]> {
    for (const [key, run] of this.#keys) yield [key, run.firstVersion + run.indexes.length - 1];
  }

  #visible(indexes: readonly number[], revision: number): number {
    const last = indexes.at(-1);
    if (last === undefined || (this.#revisions[last] as number) <= revision) return indexes.length;
    return upperBound(indexes, this.visible(revision) - 1);
  }
}

function idKey(key: string, id: string): string {
  return `${id}\0${key}`;
}

/** How many of the rising values are at most `most`. */
export function upperBound(values: readonly number[], most: number): number {
  let low = 0;
  let high = values.length;
  if (high === 0 || (values[high - 1] as number) <= most) return high;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((values[middle] as number) <= most) low = middle + 1;
    else high = middle;
  }
  return low;
}
