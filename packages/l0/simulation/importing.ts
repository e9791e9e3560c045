import type { ImportedRecord } from "@ehdb/contracts";
import type { DurableEngine } from "../src/index.ts";
import { codeOf, logs, mayHappen } from "./context.ts";
import type { Run } from "./context.ts";
import { alone } from "./opening.ts";
import type { Random } from "./random.ts";

const mostRecords = 40;

/** An import that may be there or not: what is found after the next open says so. */
export interface Imported {
  readonly dataset: string;
  /** In order of their sort keys. */
  readonly records: readonly ImportedRecord[];
}

/** Before anybody is at work, a log that never had a record may be filled from outside. True when the machine stopped meanwhile. */
export async function importing(run: Run, engine: DurableEngine): Promise<"frozen" | "failed" | undefined> {
  const { ledger, counts, host, plan } = run;
  const random = run.importRandom;
  for (const dataset of logs) {
    if (engine.state !== "open" || engine.log(dataset).last > 0 || random.chance(0.65)) continue;
    const records = drawRecords(run, random);
    const imported = { dataset, records };
    if (random.chance(0.25)) plan.anywhere(host, random.between(1, 40 + records.length));
    else if (random.chance(0.2)) plan.inSeal(random, host, 6);
    ledger.importing(imported);
    const end = await alone(run, `an import into ${dataset}`, async () => {
      await bring(run, engine, imported, random);
      return undefined;
    });
    if (end === "frozen") counts.crashInImport++;
    if (end !== undefined) return end;
  }
  return undefined;
}

async function bring(run: Run, engine: DurableEngine, imported: Imported, random: Random): Promise<void> {
  const { ledger, counts } = run;
  const { dataset, records } = imported;
  const isShuffled = random.chance(0.3);
  const given = isShuffled ? shuffled(records, random) : records;
  const must = {
    records: records.length,
    outOfOrder: late(given),
    first: records[0]?.sort,
    last: records.at(-1)?.sort,
  };
  let error: unknown;
  try {
    const result = await engine.import(dataset, inBatches(run, given, random), {
      disorder: isShuffled ? "count" : "refuse",
    });
    counts.imports++;
    if (JSON.stringify(result) !== JSON.stringify(must))
      ledger.fail(`an import says ${JSON.stringify(result)}, and brought ${JSON.stringify(must)}`);
    ledger.imported(imported, engine.heads.accepted);
    if (engine.log(dataset).last !== must.last)
      ledger.fail(`after an import ${dataset} ends at ${engine.log(dataset).last}`);
    return;
  } catch (thrown) {
    error = thrown;
  }
  const code = codeOf(error);
  // Nobody closes it meanwhile: whether it's there is known.
  if (code === "OUTCOME_UNKNOWN" || !mayHappen(run, code)) throw error;
  counts.importsRefused++;
  ledger.importRefused(engine.heads.accepted);
  if (engine.log(dataset).last > 0)
    ledger.fail(`an import was refused, and ${dataset} ends at ${engine.log(dataset).last}`);
}

async function* inBatches(
  run: Run,
  records: readonly ImportedRecord[],
  random: Random,
): AsyncGenerator<readonly ImportedRecord[]> {
  for (let from = 0; from < records.length;) {
    const next = from + random.integer(9);
    yield records.slice(from, next);
    from = next;
    if (random.chance(0.2)) await run.host.clock.yield();
  }
}

function drawRecords({ host, calls }: Run, random: Random): ImportedRecord[] {
  const versions = new Map<string, number>();
  const now = host.clock.now();
  let sort = 0;
  // Some are still to come.
  let time = random.chance(0.2) ? now + 3_600_000 : random.pick([0, now - 86_400_000]);
  return Array.from({ length: random.between(1, mostRecords) }, (_, number) => {
    const key = calls.key(random);
    const version = (versions.get(key) ?? random.pick([0, 0, 6])) + 1;
    versions.set(key, version);
    sort += random.pick([1, 1, 1, 2, 50]);
    time += random.integer(3);
    const payload = Buffer.alloc(random.between(1, 400), `imported ${number} `);
    return { sort, key, version, time, payload, ...(random.chance(0.5) ? { id: `imported.${number}` } : {}) };
  });
}

/** Some stand a few places behind where they belong. */
function shuffled(records: readonly ImportedRecord[], random: Random): ImportedRecord[] {
  const given = [...records];
  for (let swaps = random.integer(6); swaps > 0; swaps--) {
    const [one = records[0] as ImportedRecord] = given.splice(random.integer(given.length), 1);
    given.splice(random.integer(given.length + 1), 0, one);
  }
  return given;
}

function late(records: readonly ImportedRecord[]): number {
  let [count, highest] = [0, 0];
  for (const { sort } of records) {
    if (sort < highest) count++;
    highest = Math.max(highest, sort);
  }
  return count;
}
