import type { Batches, LogRecord, MapRecord } from "@ehdb/contracts";
import type { EngineReader } from "../src/index.ts";
import { excused } from "./reader-beside.ts";
import type { Beside, Step } from "./reader-beside.ts";
import { codeOf, logs, maps } from "./context.ts";
import type { Run } from "./context.ts";
import type { Model } from "./model.ts";
import {
  differs,
  drawLogOptions,
  drawMapOptions,
  isBelow,
  keptRecord,
  keptValue,
  valueOf,
  wanted,
  wantedValues,
} from "./readers.ts";
import type { Kept } from "./readers.ts";

type Reading = Pick<Beside, "random" | "forgotten">;

/** What a read found, to be held to the model of one revision or another. */
type Check = (model: Model, revision: number) => string | undefined;

/** One read of a reader beside the writer. */
export async function readBeside(run: Run, beside: Reading, reader: EngineReader, step: Step): Promise<void> {
  const choice = beside.random.integer(10);
  if (choice < 3) await scanLog(run, beside, reader, step);
  else if (choice < 5) await readKey(run, beside, reader, step);
  else if (choice < 8) await scanMap(run, beside, reader, step);
  else await lookUp(run, beside, reader, step);
}

async function scanLog(run: Run, beside: Reading, reader: EngineReader, step: Step): Promise<void> {
  const dataset = beside.random.pick(logs);
  const log = reader.log(dataset);
  const { first, last } = log;
  const options = drawLogOptions(beside, last);
  if (isBelow(options, first)) return;
  const gone = beside.forgotten.mark(dataset);
  await shows(run, reader, step, `a scan of ${dataset} ${JSON.stringify(options)}`, async () => {
    const found = await slowly(beside, run, log.scan(options), keptRecord);
    return (model, revision) =>
      gone.differs(
        found,
        options,
        wanted(model.log(dataset, revision), options, first, ({ sort }) => sort),
      );
  });
}

async function readKey(run: Run, beside: Reading, reader: EngineReader, step: Step): Promise<void> {
  const dataset = beside.random.pick(logs);
  const key = run.calls.key();
  const options = drawLogOptions(beside, 10);
  const log = reader.log(dataset);
  const { first } = log;
  const gone = beside.forgotten.mark(dataset);
  await shows(run, reader, step, `a read of ${key} in ${dataset} ${JSON.stringify(options)}`, async () => {
    const found = await slowly(beside, run, log.read(key, options), keptRecord);
    return (model, revision) => {
      const must = wanted(model.key(dataset, key, revision), options, first, ({ version }) => version);
      return gone.differs(found, options, must);
    };
  });
}

async function scanMap(run: Run, beside: Reading, reader: EngineReader, step: Step): Promise<void> {
  const dataset = beside.random.pick(maps);
  const options = drawMapOptions({ random: beside.random, calls: run.calls });
  await shows(run, reader, step, `a scan of ${dataset} ${JSON.stringify(options)}`, async () => {
    const found = await slowly(beside, run, reader.map(dataset).scan(options), keptValue);
    return (model, revision) => differs(found, wantedValues(model, dataset, revision, options));
  });
}

/** Asked of what there is when the answer comes: any moment until then may be the one. */
async function lookUp(run: Run, beside: Reading, reader: EngineReader, step: Step): Promise<void> {
  const key = run.calls.key();
  const [log, map] = [beside.random.pick(logs), beside.random.pick(maps)];
  await shows(run, reader, step, `the version of ${key} in ${log}`, async () => {
    const version = await reader.log(log).version(key);
    return anyUpTo(reader, (model, revision) =>
      differs([version], [model.key(log, key, revision).at(-1)?.version ?? 0]),
    );
  });
  await shows(run, reader, step, `get ${key} of ${map}`, async () => {
    const value = await reader.map(map).get(key);
    const found = value && keptValue(value);
    return anyUpTo(reader, (model, revision) => differs([found], [valueOf(model, map, key, revision)]));
  });
}

function anyUpTo({ revision: last }: EngineReader, check: Check): Check & { readonly last: number } {
  const any: Check = (model, revision) => {
    const wrong = check(model, revision);
    for (let next = revision + 1; next <= last && wrong !== undefined; next++)
      if (check(model, next) === undefined) return undefined;
    return wrong;
  };
  return Object.assign(any, { last });
}

/** What is read is held to the reader's moment; it may end with COMPACTED when the writer has overtaken it. */
async function shows(
  run: Run,
  reader: EngineReader,
  step: Step,
  what: string,
  begin: () => Promise<Check & { readonly last?: number }>,
): Promise<void> {
  const { revision } = reader;
  await excused(run, step, `${what} beside`, async () => {
    let check: Check & { readonly last?: number };
    try {
      check = await begin();
    } catch (error) {
      if (codeOf(error) !== "COMPACTED") throw error;
      run.counts.besideOvertaken++;
      return;
    }
    run.counts.besideReads++;
    const last = check.last ?? revision;
    run.ledger.acknowledge(last);
    run.ledger.whenKnown(last, (model) => {
      run.counts.besideReadsChecked++;
      const wrong = check(model, revision);
      if (wrong !== undefined) run.ledger.fail(`${what} beside the writer at revision ${revision}: ${wrong}`);
    });
  });
}

/** As who does something with each batch, so that the writer gets on meanwhile. */
async function slowly<T extends LogRecord | MapRecord>(
  { random }: Pick<Beside, "random">,
  { host, ledger }: Run,
  batches: Batches<T>,
  keep: (one: T) => Kept,
): Promise<Kept[]> {
  const found: Kept[] = [];
  const turns = random.pick([0, 5, 60, 200]);
  for await (const batch of batches) {
    for (const one of batch) ledger.saw(one);
    found.push(...batch.map(keep));
    for (let turn = random.integer(turns + 1); turn > 0; turn--) await host.clock.yield();
  }
  return found;
}
