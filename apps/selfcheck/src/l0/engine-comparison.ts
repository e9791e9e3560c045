import type { Batches, Engine, LogRecord, MapRecord } from "@ehdb/contracts";
import type { EventSource } from "../event-source.ts";
import { newFinding } from "../finding.ts";
import type { Finding } from "../finding.ts";
import type { Problems } from "../problems.ts";
import { datasets } from "./staged-commit.ts";

type Stored = LogRecord | MapRecord;

/** All of every dataset against the reference, byte for byte: in order and backwards, key by key. */
export async function compareEngines(engine: Engine, reference: Engine, source: EventSource): Promise<Finding> {
  const finding = newFinding();
  const { problems } = finding;
  if (engine.revision !== reference.revision) {
    problems.add(`it is at revision ${engine.revision} instead of ${reference.revision}`);
  }
  for (const { name, order } of datasets) {
    const keys = name === "events" || name === "latest" ? source.streams : source.types;
    const compare = order === "by-sort" ? compareLog : compareMap;
    finding.count += await compare(engine, reference, name, keys, problems);
  }
  return finding;
}

async function compareLog(
  engine: Engine,
  reference: Engine,
  name: string,
  keys: readonly string[],
  problems: Problems,
): Promise<number> {
  const [ours, theirs] = [engine.log(name), reference.log(name)];
  if (ours.last !== theirs.last) problems.add(`${name}: it ends at ${ours.last} instead of ${theirs.last}`);
  const wanted = await all(theirs.scan());
  const count = await compareRecords(name, ours.scan(), wanted, problems);
  const backwards = ours.scan({ direction: "backwards" });
  await compareRecords(`${name}, backwards`, backwards, wanted.toReversed(), problems);
  const byKey = new Map<string, LogRecord[]>(keys.map((key) => [key, []]));
  for (const record of wanted) byKey.get(record.key)?.push(record);
  for (const key of keys) {
    const ofKey = byKey.get(key) ?? [];
    const version = await ours.version(key);
    if (version !== ofKey.length) problems.add(`${name}, "${key}": version ${version} instead of ${ofKey.length}`);
    await compareRecords(`${name}, "${key}"`, ours.read(key), ofKey, problems);
  }
  return count;
}

async function compareMap(
  engine: Engine,
  reference: Engine,
  name: string,
  keys: readonly string[],
  problems: Problems,
): Promise<number> {
  const [ours, theirs] = [engine.map(name), reference.map(name)];
  const wanted = await all(theirs.scan());
  const count = await compareRecords(name, ours.scan(), wanted, problems);
  const byKey = new Map(wanted.map((record) => [record.key, record]));
  for (const key of keys) {
    const found = await ours.get(key);
    const difference = differenceOf(found, byKey.get(key));
    if (difference !== undefined) problems.add(`${name}, get "${key}": ${difference}`);
  }
  return count;
}

async function compareRecords(
  what: string,
  batches: Batches<Stored>,
  wanted: readonly Stored[],
  problems: Problems,
): Promise<number> {
  let count = 0;
  for await (const records of batches) {
    for (const record of records) {
      const difference = differenceOf(record, wanted[count]);
      count += 1;
      if (difference !== undefined) problems.add(`${what}, record ${count}: ${difference}`);
    }
  }
  if (count < wanted.length) problems.add(`${what}: it ends after ${count} of ${wanted.length} records`);
  return count;
}

/** Times are the clock's, and no two clocks are alike. */
function differenceOf(record: Stored | undefined, wanted: Stored | undefined): string | undefined {
  if (record === undefined || wanted === undefined) {
    return record === wanted ? undefined : `${shown(record)} instead of ${shown(wanted)}`;
  }
  if (shown(record) !== shown(wanted)) return `${shown(record)} instead of ${shown(wanted)}`;
  const isSame = Buffer.compare(record.payload, wanted.payload) === 0;
  return isSame ? undefined : `the bytes of ${shown(record)} are not those committed`;
}

function shown(record: Stored | undefined): string {
  if (record === undefined) return "nothing";
  const { key, revision } = record;
  const place = "sort" in record ? ` at ${record.sort}, version ${record.version}, id ${record.id}` : "";
  return `"${key}" of revision ${revision}${place}`;
}

async function all<T>(batches: Batches<T>): Promise<T[]> {
  const records: T[] = [];
  for await (const some of batches) records.push(...some);
  return records;
}
