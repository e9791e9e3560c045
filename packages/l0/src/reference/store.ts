import { EhdbError, MAX_SEQUENCE } from "@ehdb/contracts";
import type { Appended, Commit, DatasetOrder, DatasetSpec, LogRecord, MapRecord } from "@ehdb/contracts";
import type { Append, Expected, Import, Write } from "./statements.ts";

/** What is stored: every record of every log, and of every map the values that are there. */
export class Store {
  readonly logs: ReadonlyMap<string, LogRecord[]>;
  readonly maps: ReadonlyMap<string, Map<string, MapRecord>>;
  revision = 0;
  time = 0;

  constructor(datasets: readonly DatasetSpec[]) {
    this.logs = new Map(datasets.filter(({ order }) => order === "by-sort").map(({ name }) => [name, []]));
    this.maps = new Map(datasets.filter(({ order }) => order === "by-key").map(({ name }) => [name, new Map()]));
  }

  log(dataset: string): LogRecord[] {
    const log = this.logs.get(dataset);
    if (log === undefined) throw new EhdbError("UNEXPECTED", `"${dataset}" is no log`);
    return log;
  }

  map(dataset: string): Map<string, MapRecord> {
    const map = this.maps.get(dataset);
    if (map === undefined) throw new EhdbError("UNEXPECTED", `"${dataset}" is no map`);
    return map;
  }

  /** The version of the key's last record. */
  version(dataset: string, key: string): number {
    return this.log(dataset).findLast((record) => record.key === key)?.version ?? 0;
  }

  /** What there is under a key, as an expectation counts it: a version or a revision, 0 for nothing. */
  actual(dataset: string, order: DatasetOrder, key: string): number {
    return order === "by-sort" ? this.version(dataset, key) : (this.map(dataset).get(key)?.revision ?? 0);
  }

  checkExpectations(expectations: readonly Expected[]): void {
    for (const expected of expectations) {
      const { dataset, order, key, expectation } = expected;
      const actual = this.actual(dataset, order, key);
      if (holds(expected, actual)) continue;
      const message = `"${key}" of "${dataset}" is at ${actual}, where ${expectation} was expected: read it again, then decide`;
      throw new EhdbError("CONFLICT", message, { dataset, key, expected: expectation, actual });
    }
  }

  /** What an earlier commit gave to these very appends; undefined when they are new. ID_REUSED when it's neither. */
  duplicateOf(appends: readonly Append[], window: number): Commit | undefined {
    const found = appends.map((append) => this.#known(append, window));
    const reused = appends[found.findIndex((record) => record !== undefined)];
    if (reused === undefined) return undefined;

    const records = found.filter((record) => record !== undefined);
    const isWhole = records.length === appends.length;
    const isOneCommit = records.every((record) => record.revision === records[0]?.revision);
    const isSameContent = appends.every(({ payload }, i) => Buffer.compare(payload, found[i]?.payload ?? empty) === 0);
    const isSameOrder = appends.every((append, i) =>
      appends.every(
        (later, j) => j <= i || later.dataset !== append.dataset || (found[j]?.sort ?? 0) > (found[i]?.sort ?? 0),
      ),
    );
    const [first] = records;
    if (!(isWhole && isOneCommit && isSameContent && isSameOrder) || first === undefined) {
      const { dataset, key, id } = reused;
      const message = `id "${id}" of "${key}" in "${dataset}" belongs to another write: repeat that one as it was, or give new ids`;
      throw new EhdbError("ID_REUSED", message, { dataset, key, id });
    }
    const appended = records.map(({ sort, version }) => ({ sort, version }));
    return { revision: first.revision, time: first.time, appended, isDuplicate: true };
  }

  /** The position of a log's last record. */
  last(dataset: string): number {
    return this.log(dataset).at(-1)?.sort ?? 0;
  }

  apply(writes: readonly (Write | Import)[], time: number): Commit {
    this.revision++;
    this.time = time;
    const { revision } = this;
    const appended: Appended[] = [];
    for (const write of writes) {
      if (write.kind === "import") {
        this.#bring(write);
        continue;
      }
      const { dataset, key } = write;
      if (write.kind === "append") {
        const log = this.log(dataset);
        const place = { sort: this.last(dataset) + 1, version: this.version(dataset, key) + 1 };
        const { id, payload } = write;
        log.push({ ...place, key, revision, time, id, payload, memory: payload, start: 0, end: payload.length });
        appended.push(place);
      } else if (write.kind === "put") {
        this.map(dataset).set(key, { key, revision, time, payload: write.payload });
      } else if (write.kind === "delete") {
        this.map(dataset).delete(key);
      }
    }
    return { revision, time, appended, isDuplicate: false };
  }

  #bring({ dataset, records, revision }: Import): void {
    for (const { sort, key, version, time, id, payload } of records) {
      const content = { id, payload, memory: payload, start: 0, end: payload.length };
      this.log(dataset).push({ sort, key, version, revision, time, ...content });
      this.time = Math.max(this.time, time);
    }
  }

  /** Numbers end: an import may have brought the last ones. */
  checkNumbers(writes: readonly Write[]): void {
    const appended = new Map<string, number>();
    const next = (name: string, last: number): number => {
      appended.set(name, (appended.get(name) ?? last) + 1);
      return appended.get(name) as number;
    };
    for (const write of writes) {
      if (write.kind !== "append") continue;
      const { dataset, key } = write;
      const sort = next(JSON.stringify([dataset]), this.last(dataset));
      const version = next(JSON.stringify([dataset, key]), this.version(dataset, key));
      if (Math.max(sort, version) < MAX_SEQUENCE) continue;
      throw new EhdbError("OUT_OF_RANGE", `"${dataset}", or "${key}" in it, has no number left`, { dataset, key });
    }
  }

  /** The record that has this id under this key, as long as the window reaches to it. */
  #known({ dataset, key, id }: Append, window: number): LogRecord | undefined {
    if (id === undefined) return undefined;
    const log = this.log(dataset);
    const nextSort = this.last(dataset) + 1;
    const record = log.findLast((record) => record.key === key && record.id === id);
    return record !== undefined && nextSort - record.sort <= window ? record : undefined;
  }
}

const empty = new Uint8Array(0);

function holds({ expectation }: Expected, actual: number): boolean {
  if (expectation === "any") return true;
  if (expectation === "none") return actual === 0;
  if (expectation === "exists") return actual !== 0;
  return actual === expectation;
}
