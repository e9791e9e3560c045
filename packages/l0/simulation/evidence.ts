import type { LogRecord } from "@ehdb/contracts";
import type { Call, Statement } from "./calls.ts";

/** All that can be read after a recovery, by commit: what tells which of the calls that got no answer are there. */
export class Evidence {
  readonly #commits: Map<number, Found> = new Map();

  addRecord(dataset: string, record: LogRecord): void {
    const found = this.#at(record.revision, record.time);
    const appends = found.appends.get(dataset) ?? [];
    const payload = Buffer.from(record.payload);
    const { sort, key, version, revision, time, id } = record;
    appends.push({ sort, key, version, revision, time, id, payload, memory: payload, start: 0, end: payload.length });
    found.appends.set(dataset, appends);
  }

  addValue(dataset: string, key: string, revision: number, time: number): void {
    this.#at(revision, time).values.add(`${dataset} ${key}`);
  }

  /** Whether a log has any at all. */
  hasRecords(dataset: string): boolean {
    return [...this.#commits.values()].some(({ appends }) => appends.has(dataset));
  }

  /** When the commit was; `undefined` when nothing of it can be seen. */
  timeOf(revision: number): number | undefined {
    return this.#commits.get(revision)?.time;
  }

  /** Whether this commit can be the call: all that it appends, or what nobody else puts. */
  isOf(
    { number, statements, isNameless }: Call,
    revision: number,
    mayBeErased: (dataset: string, key: string) => boolean,
  ): boolean {
    const found = this.#commits.get(revision);
    const appends = new Map<string, Append[]>();
    for (const one of statements) {
      if (one.kind !== "append") continue;
      if (mayBeErased(one.dataset, one.key) && !found?.appends.get(one.dataset)?.some(({ key }) => key === one.key))
        continue;
      appends.set(one.dataset, [...(appends.get(one.dataset) ?? []), one]);
    }
    const isErased = appends.size === 0 && statements.some(({ kind }) => kind === "append");
    if (isErased && (found?.appends.size ?? 0) === 0) return true;
    if (isNameless || found === undefined) return isNameless && found === undefined;
    if (appends.size !== found.appends.size) return false;
    if (appends.size === 0) {
      return statements.some((one) => one.kind === "put" && found.values.has(`${one.dataset} call/${number}`));
    }
    return [...appends].every(([dataset, asked]) => isSame(asked, found.appends.get(dataset) ?? []));
  }

  #at(revision: number, time: number): Found {
    const found = this.#commits.get(revision) ?? { time, appends: new Map(), values: new Set() };
    this.#commits.set(revision, found);
    return found;
  }
}

interface Found {
  readonly time: number;
  readonly appends: Map<string, LogRecord[]>;
  readonly values: Set<string>;
}

type Append = Extract<Statement, { kind: "append" }>;

function isSame(asked: readonly Append[], found: readonly LogRecord[]): boolean {
  if (asked.length !== found.length) return false;
  return asked.every(({ key, id, payload }, place) => {
    const record = found[place] as LogRecord;
    return record.key === key && record.id === id && Buffer.compare(record.payload, payload) === 0;
  });
}
