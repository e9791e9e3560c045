import type { DurableEngine, EngineReader, LogRecord, MapRecord } from "@ehdb/l0";

interface Written {
  readonly key: string;
  readonly version: number;
  readonly text: string;
}

/** What was committed, by revision, to be compared with what a reader shows. */
export class Ledger {
  /** Of the log: what each commit appended, from revision 1 on. */
  readonly #appended: Written[] = [];
  /** Of the map: what it held after each commit. */
  readonly #maps: ReadonlyMap<string, string>[] = [new Map()];
  readonly #versions = new Map<string, number>();

  get revision(): number {
    return this.#appended.length;
  }

  /** A record of the log, and a put or, each third time, a delete. */
  async commit(engine: DurableEngine, bytes = 40): Promise<void> {
    const number = this.revision + 1;
    const key = `stream-${number % 7}`;
    const text = `${number} `.padEnd(bytes, "x");
    const name = `key-${number % 11}`;
    const map = new Map(this.#maps.at(-1));
    const version = (this.#versions.get(key) ?? 0) + 1;
    this.#versions.set(key, version);
    this.#appended.push({ key, version, text });
    if (number % 3 === 0) map.delete(name);
    else map.set(name, text);
    this.#maps.push(map);
    await engine.commit((batch) => {
      batch.append("events", key, Buffer.from(text), `id-${number}`);
      if (number % 3 === 0) batch.delete("state", name);
      else batch.put("state", name, Buffer.from(text));
    });
  }

  /** The same history so far, to go on with another one. */
  fork(): Ledger {
    const fork = new Ledger();
    fork.#appended.push(...this.#appended);
    fork.#maps.push(...this.#maps.slice(1));
    for (const [key, version] of this.#versions) fork.#versions.set(key, version);
    return fork;
  }

  async fill(engine: DurableEngine, count: number, bytes?: number): Promise<void> {
    await Promise.all(Array.from({ length: count }, () => this.commit(engine, bytes)));
  }

  /** What differs between what a reader shows now and what was committed up to its revision. */
  async differences(reader: EngineReader): Promise<string[]> {
    const { revision } = reader;
    const found: string[] = [];
    const wanted = this.#appended.slice(0, revision).map((one, at) => ({ ...one, sort: at + 1, revision: at + 1 }));
    const same = (what: string, got: unknown, want: unknown): void => {
      if (JSON.stringify(got) !== JSON.stringify(want)) found.push(`${what}: ${JSON.stringify(got).slice(0, 300)}`);
    };
    same("the log's last", reader.log("events").last, revision);
    same("a scan", (await all(reader.log("events").scan())).map(plain), wanted.map(plainWanted));
    const backwards = (await all(reader.log("events").scan({ direction: "backwards" }))).map(plain);
    same("a scan backwards", backwards, wanted.map(plainWanted).toReversed());
    for (const key of ["stream-0", "stream-3"]) {
      const ofKey = wanted.filter((one) => one.key === key);
      same(`a read of ${key}`, (await all(reader.log("events").read(key))).map(plain), ofKey.map(plainWanted));
      same(`the version of ${key}`, await reader.log("events").version(key), ofKey.length);
    }
    const map = this.#maps[revision] as ReadonlyMap<string, string>;
    const values = (await all(reader.map("state").scan())).map(({ key, payload }: MapRecord) => [key, textOf(payload)]);
    same(
      "a scan of the map",
      values,
      [...map].toSorted(([a], [b]) => (a < b ? -1 : 1)),
    );
    for (const key of ["key-1", "key-2"])
      same(key, textOf((await reader.map("state").get(key))?.payload), map.get(key));
    return found;
  }
}

export async function all<T>(batches: AsyncIterable<readonly T[]>): Promise<T[]> {
  const list: T[] = [];
  for await (const batch of batches) list.push(...batch);
  return list;
}

function textOf(payload: Uint8Array | undefined): string | undefined {
  return payload === undefined ? undefined : Buffer.from(payload).toString();
}

function plain({ sort, revision, key, version, payload }: LogRecord): unknown[] {
  return [sort, revision, key, version, textOf(payload)];
}

function plainWanted({ sort, revision, key, version, text }: Written & { sort: number; revision: number }): unknown[] {
  return [sort, revision, key, version, text];
}
