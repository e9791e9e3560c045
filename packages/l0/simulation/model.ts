import type { Appended, Expectation } from "@ehdb/contracts";
import { logs, maps } from "./context.ts";
import type { Statement } from "./calls.ts";
import type { Imported } from "./importing.ts";

/** A record of a log, as it must be read. */
export interface ModelRecord {
  readonly sort: number;
  readonly key: string;
  readonly version: number;
  readonly revision: number;
  readonly time: number;
  readonly id: string | undefined;
  readonly payload: Uint8Array;
  /** The commit that lets the engine forget it; Infinity for none. */
  erasedBy: number;
}

/** What one commit left under a key of a map; without a payload it's deleted. */
export interface ModelValue {
  readonly revision: number;
  readonly time: number;
  readonly payload: Uint8Array | undefined;
}

interface Applied {
  readonly statements: readonly Statement[];
  readonly time: number;
  readonly imported: Imported | undefined;
}

/** What must become of a batch. */
export type Verdict =
  | { readonly says: "commit" }
  | { readonly says: "duplicate"; readonly revision: number; readonly appended: readonly Appended[] }
  | { readonly says: "CONFLICT"; readonly data: Readonly<Record<string, unknown>> }
  | { readonly says: "ID_REUSED" };

type Append = Extract<Statement, { kind: "append" }>;

/** What an engine holds, said as plainly as can be: every record of every commit in order, and nothing else. */
export class Model {
  revision = 0;
  time = 0;
  readonly logs: Map<string, ModelRecord[]> = new Map();
  readonly maps: Map<string, Map<string, ModelValue[]>> = new Map();
  readonly #window: number;
  readonly #commits: Applied[] = [];
  readonly #keys: Map<string, ModelRecord[]> = new Map();
  /** The newest record of each id. */
  readonly #ids: Map<string, ModelRecord> = new Map();

  constructor(dedupeWindow: number) {
    this.#window = dedupeWindow;
    for (const name of logs) this.logs.set(name, []);
    for (const name of maps) this.maps.set(name, new Map());
  }

  /** The same, as it was after some revision. */
  upTo(revision: number): Model {
    const model = new Model(this.#window);
    for (const { statements, time, imported } of this.#commits.slice(0, revision)) {
      if (imported === undefined) model.apply(statements, time);
      else model.bring(imported);
    }
    return model;
  }

  judge(statements: readonly Statement[]): Verdict {
    const appends = statements.filter((one) => one.kind === "append");
    const found = appends.map((one) => this.#known(one));
    const first = found.find((known) => known !== undefined);
    if (first !== undefined) return isRepeat(appends, found) ? duplicate(first.revision, found) : { says: "ID_REUSED" };
    for (const one of statements) {
      if (one.kind !== "expect") continue;
      const { dataset, key, expectation: expected } = one;
      const actual = this.head(dataset, key);
      if (!holds(expected, actual)) return { says: "CONFLICT", data: { dataset, key, expected, actual } };
    }
    return { says: "commit" };
  }

  apply(statements: readonly Statement[], time: number): Appended[] {
    const appended: Appended[] = [];
    const revision = ++this.revision;
    this.time = time;
    this.#commits.push({ statements, time, imported: undefined });
    for (const one of statements) {
      if (one.kind === "append") appended.push(this.#append(one, revision, time));
      else if (one.kind === "put" || one.kind === "delete") this.#write(one, revision, time);
    }
    for (const one of statements) if (one.kind === "erase") this.#erase(one, revision);
    return appended;
  }

  /** What was imported has the revision with which that began. */
  bring(imported: Imported): void {
    const { dataset, records } = imported;
    const revision = ++this.revision;
    this.#commits.push({ statements: [], time: this.time, imported });
    for (const { id, ...record } of records) this.#add(dataset, { ...record, id, revision, erasedBy: Infinity });
    this.time = Math.max(this.time, records.at(-1)?.time ?? 0);
  }

  /** The position of a log's last record. */
  last(dataset: string): number {
    return this.logs.get(dataset)?.at(-1)?.sort ?? 0;
  }

  /** The last version of a log's key, the revision of a map's value; 0 for none. */
  head(dataset: string, key: string): number {
    if (this.logs.has(dataset)) return this.#keys.get(scoped(dataset, key))?.at(-1)?.version ?? 0;
    const value = this.maps.get(dataset)?.get(key)?.at(-1);
    return value?.payload === undefined ? 0 : value.revision;
  }

  /** All records of a log up to a revision. */
  log(dataset: string, revision: number): readonly ModelRecord[] {
    return upTo(this.logs.get(dataset) ?? [], revision);
  }

  key(dataset: string, key: string, revision: number): readonly ModelRecord[] {
    return upTo(this.#keys.get(scoped(dataset, key)) ?? [], revision);
  }

  value(dataset: string, key: string, revision: number): ModelValue | undefined {
    const value = this.maps
      .get(dataset)
      ?.get(key)
      ?.findLast((one) => one.revision <= revision);
    return value?.payload === undefined ? undefined : value;
  }

  /** The keys of a map that have a value, in the byte order of UTF-8. */
  mapKeys(dataset: string, revision: number): string[] {
    const keys = [...(this.maps.get(dataset)?.keys() ?? [])];
    return keys.filter((key) => this.value(dataset, key, revision) !== undefined).sort(byUtf8);
  }

  logKeys(dataset: string): string[] {
    return [...new Set((this.logs.get(dataset) ?? []).map(({ key }) => key))];
  }

  #append({ dataset, key, payload, id }: Append, revision: number, time: number): Appended {
    const sort = this.last(dataset) + 1;
    const version = this.head(dataset, key) + 1;
    this.#add(dataset, { sort, key, version, revision, time, id, payload, erasedBy: Infinity });
    return { sort, version };
  }

  #add(dataset: string, record: ModelRecord): void {
    const { key, id } = record;
    const ofKey = this.#keys.get(scoped(dataset, key)) ?? [];
    this.logs.get(dataset)?.push(record);
    ofKey.push(record);
    this.#keys.set(scoped(dataset, key), ofKey);
    if (id !== undefined) this.#ids.set(scoped(dataset, key, id), record);
  }

  /** Of earlier commits only. */
  #erase({ dataset, key, below }: Extract<Statement, { kind: "erase" }>, revision: number): void {
    for (const record of this.#keys.get(scoped(dataset, key)) ?? [])
      if (record.version < below && record.revision < revision) record.erasedBy = Math.min(record.erasedBy, revision);
  }

  #write(one: Extract<Statement, { kind: "put" | "delete" }>, revision: number, time: number): void {
    const map = this.maps.get(one.dataset) as Map<string, ModelValue[]>;
    const values = map.get(one.key) ?? [];
    if (values.at(-1)?.revision === revision) values.pop();
    values.push({ revision, time, payload: one.kind === "put" ? one.payload : undefined });
    map.set(one.key, values);
  }

  /** The record with this id, when it's one of the newest of its log. */
  #known({ dataset, key, id }: Append): ModelRecord | undefined {
    const record = id === undefined ? undefined : this.#ids.get(scoped(dataset, key, id));
    return record !== undefined && record.sort > this.last(dataset) - this.#window ? record : undefined;
  }
}

/** Whether one earlier commit wrote all of it, in each log in the same order. */
function isRepeat(appends: readonly Append[], found: readonly (ModelRecord | undefined)[]): boolean {
  const lasts = new Map<string, number>();
  return appends.every(({ dataset, payload }, place) => {
    const record = found[place];
    if (record === undefined || record.revision !== found[0]?.revision) return false;
    const rises = record.sort > (lasts.get(dataset) ?? 0);
    lasts.set(dataset, record.sort);
    return rises && Buffer.compare(record.payload, payload) === 0;
  });
}

function duplicate(revision: number, found: readonly (ModelRecord | undefined)[]): Verdict {
  const appended = found.map((record) => ({ sort: record?.sort ?? 0, version: record?.version ?? 0 }));
  return { says: "duplicate", revision, appended };
}

function holds(expectation: Expectation, actual: number): boolean {
  if (expectation === "any") return true;
  if (expectation === "none") return actual === 0;
  return expectation === "exists" ? actual > 0 : actual === expectation;
}

/** Those up to a revision; they stand in its order. */
function upTo(records: readonly ModelRecord[], revision: number): readonly ModelRecord[] {
  const end = records.findLastIndex((record) => record.revision <= revision) + 1;
  return end === records.length ? records : records.slice(0, end);
}

function scoped(dataset: string, key: string, id = ""): string {
  return `${dataset} ${id}\0${key}`;
}

export function byUtf8(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
