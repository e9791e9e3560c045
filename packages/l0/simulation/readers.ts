import type { Batches, LogReadOptions, LogRecord, MapRecord, MapScanOptions } from "@ehdb/contracts";
import { codeOf, inspect, logs, maps, mayHappen } from "./context.ts";
import type { Run, Work } from "./context.ts";
import { byUtf8 } from "./model.ts";
import type { Model, ModelRecord } from "./model.ts";

/** Reads in all the ways there are, for a while. Each must show exactly what was readable when it began. */
export async function reader(work: Work, operations: number): Promise<void> {
  const { run, stage } = work;
  const { random } = run;
  for (let left = operations; left > 0 && work.engine.state !== "closed"; left--) {
    const choice = random.integer(20);
    if (choice < 5) await scanLog(work);
    else if (choice < 10) await readKey(work);
    else if (choice < 12) await askVersion(work);
    else if (choice < 15) await getValue(work);
    else if (choice < 18) await scanMap(work);
    else if (choice < 19) await hearNews(work);
    else await stage.pause(random.pick([1, 20, 100]));
    inspect(work);
  }
}

async function scanLog(work: Work): Promise<void> {
  const { run, engine } = work;
  const dataset = run.random.pick(logs);
  const options = drawLogOptions(run, engine.log(dataset).last);
  await read(work, `a scan of ${dataset} ${JSON.stringify(options)}`, async (revision) => {
    const { epoch } = engine;
    const { first } = engine.log(dataset);
    const gone = run.forgotten.mark(dataset);
    if (isBelow(options, first)) return await refusesBelow(run, engine.log(dataset).scan(options), first);
    const found = await collected(run, engine.log(dataset).scan(options), keptRecord);
    for (const { sort } of found) remember(run, { dataset, sort, epoch, isCut: false });
    return (model) =>
      gone.differs(
        found,
        options,
        wanted(model.log(dataset, revision), options, first, ({ sort }) => sort),
      );
  });
}

async function readKey(work: Work): Promise<void> {
  const { run, engine } = work;
  const dataset = run.random.pick(logs);
  const key = run.calls.key();
  const options = drawLogOptions(run, 10);
  await read(work, `a read of ${key} in ${dataset} ${JSON.stringify(options)}`, async (revision) => {
    const { first } = engine.log(dataset);
    const gone = run.forgotten.mark(dataset);
    const found = await collected(run, engine.log(dataset).read(key, options), keptRecord);
    return (model) => {
      const must = wanted(model.key(dataset, key, revision), options, first, ({ version }) => version);
      return gone.differs(found, options, must);
    };
  });
}

async function askVersion(work: Work): Promise<void> {
  const { run, engine } = work;
  const dataset = run.random.pick(logs);
  const key = run.calls.key();
  await read(work, `the version of ${key} in ${dataset}`, async (revision) => {
    const version = await engine.log(dataset).version(key);
    return (model) => differs([version], [model.key(dataset, key, revision).at(-1)?.version ?? 0]);
  });
}

async function getValue(work: Work): Promise<void> {
  const { run, engine } = work;
  const dataset = run.random.pick(maps);
  const key = run.calls.key();
  await read(work, `get ${key} of ${dataset}`, async (revision) => {
    const value = await engine.map(dataset).get(key);
    const found = value === undefined ? undefined : keptValue(value);
    return (model) => differs([found], [valueOf(model, dataset, key, revision)]);
  });
}

async function scanMap(work: Work): Promise<void> {
  const { run, engine } = work;
  const dataset = run.random.pick(maps);
  const options = drawMapOptions(run);
  await read(work, `a scan of ${dataset} ${JSON.stringify(options)}`, async (revision) => {
    const found = await collected(run, engine.map(dataset).scan(options), keptValue);
    return (model) => differs(found, wantedValues(model, dataset, revision, options));
  });
}

async function hearNews(work: Work): Promise<void> {
  const { run, engine, stage } = work;
  if (engine.revision === 0 || engine.state !== "open") return;
  const revision = run.random.integer(engine.revision);
  await stage.step(`news(${revision})`, async () => {
    await engine.news(revision);
    run.counts.news++;
  });
}

/** One read, of what was readable at the moment when it began. What it must have shown may be known only later. */
async function read(
  work: Work,
  what: string,
  begin: (revision: number) => Promise<(model: Model) => string | undefined>,
): Promise<void> {
  const { run, engine, stage } = work;
  await stage.step(what, async () => {
    const { revision } = engine;
    const isFirm = run.showsDurable;
    try {
      const check = await begin(revision);
      run.counts.reads++;
      if (isFirm) run.ledger.acknowledge(revision);
      run.ledger.whenKnown(revision, (model) => {
        run.counts.readsChecked++;
        const wrong = check(model);
        if (wrong !== undefined) run.ledger.fail(`${what} at revision ${revision}: ${wrong}`);
      });
    } catch (error) {
      const code = codeOf(error);
      if (code === "CLOSED" && work.closing) return;
      if (code !== "IO_ERROR" || !mayHappen(run, code)) throw error;
    }
  });
}

export function drawLogOptions({ random }: Pick<Run, "random">, last: number): LogReadOptions {
  return {
    ...(random.chance(0.5) ? {} : { direction: random.pick(["forwards", "backwards"] as const) }),
    ...(random.chance(0.6) ? {} : { from: random.integer(last + 3) }),
    ...(random.chance(0.7) ? {} : { limit: random.integer(12) }),
  };
}

export function drawMapOptions(run: Pick<Run, "random" | "calls">): MapScanOptions {
  const { random } = run;
  return {
    ...(random.chance(0.7) ? {} : { prefix: random.pick(["", "a", "cold/", "call/1", "none"]) }),
    ...(random.chance(0.8) ? {} : { from: run.calls.key() }),
    ...(random.chance(0.8) ? {} : { before: run.calls.key() }),
    ...(random.chance(0.8) ? {} : { limit: random.integer(12) }),
  };
}

/** What is read, as comparable text: a payload is the engine's memory, and is looked at now. */
export async function collected<T extends LogRecord | MapRecord>(
  run: Run,
  batches: Batches<T>,
  keep: (one: T) => Kept,
): Promise<Kept[]> {
  const all: Kept[] = [];
  const most = run.random.chance(0.05) ? run.random.integer(20) : Infinity;
  for await (const batch of batches) {
    if (batch.length === 0) run.ledger.fail("a read gave an empty batch");
    for (const one of batch) {
      run.ledger.saw(one);
      all.push(keep(one));
    }
    // Who stops early lets go, and the rest is known to be missing.
    if (all.length > most) return Object.assign(all, { isCutShort: true });
  }
  return all;
}

export interface Kept {
  readonly sort: number;
  readonly text: string;
}

export function keptRecord({ sort, key, version, revision, time, id, payload }: LogRecord | ModelRecord): Kept {
  return { sort, text: `${sort} ${key}@${version} r${revision} t${time} ${id ?? "-"} ${contentOf(payload)}` };
}

export function keptValue({ key, revision, time, payload }: MapRecord): Kept {
  return { sort: 0, text: `${key} r${revision} t${time} ${contentOf(payload)}` };
}

function contentOf(payload: Uint8Array): string {
  return Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength).toString("latin1");
}

/** What a read may find, whatever its limit. */
export function wanted(
  records: readonly ModelRecord[],
  { direction, from }: LogReadOptions,
  first: number,
  placeOf: (record: ModelRecord) => number,
): ModelRecord[] {
  const isBackwards = direction === "backwards";
  const all = isBackwards ? records.toReversed() : records;
  return all.filter(
    (one) => one.sort >= first && (from === undefined || (isBackwards ? placeOf(one) <= from : placeOf(one) >= from)),
  );
}

export function isBelow({ direction, from }: LogReadOptions, first: number): boolean {
  return direction !== "backwards" && from !== undefined && from >= 1 && from < first;
}

async function refusesBelow(run: Run, batches: Batches<LogRecord>, first: number): Promise<() => string | undefined> {
  try {
    await collected(run, batches, keptRecord);
  } catch (error) {
    if (codeOf(error) !== "COMPACTED") throw error;
    run.counts.compacted++;
    return () => undefined;
  }
  return () => `what lies below ${first} was read`;
}

export function wantedValues(model: Model, dataset: string, revision: number, options: MapScanOptions): Kept[] {
  const { prefix = "", from = "", before, limit } = options;
  const keys = model.mapKeys(dataset, revision).filter((key) => {
    return key.startsWith(prefix) && byUtf8(key, from) >= 0 && (before === undefined || byUtf8(key, before) < 0);
  });
  return keys.slice(0, limit).map((key) => valueOf(model, dataset, key, revision) as Kept);
}

export function valueOf(model: Model, dataset: string, key: string, revision: number): Kept | undefined {
  const value = model.value(dataset, key, revision);
  return value === undefined ? undefined : keptValue({ key, ...value, payload: value.payload as Uint8Array });
}

/** What is wrong, in words; `undefined` when all is as it must be. */
export function differs(
  found: readonly (Kept | number | undefined)[] & { readonly isCutShort?: boolean },
  expected: readonly (Kept | number | undefined)[],
): string | undefined {
  const say = (one: Kept | number | undefined): string =>
    typeof one === "object" ? one.text.slice(0, 100) : String(one);
  for (const [place, one] of found.entries()) {
    const must = expected[place];
    const [a, b] = [one, must].map((each) => (typeof each === "object" ? each.text : each));
    if (a !== b) return `at place ${place} there is ${say(one)}, and must be ${say(must)}`;
  }
  if (found.length === expected.length || found.isCutShort === true) return undefined;
  return `there are ${found.length}, and must be ${expected.length}: the next is ${say(expected[found.length])}`;
}

/** A place in a log that a reader was shown. */
export interface Shown {
  readonly dataset: string;
  readonly sort: number;
  readonly epoch: number;
  isCut: boolean;
}

const mostRemembered = 12;

/** Keeps some of the places, to go on from later. */
export function remember(run: Run, shown: Shown): void {
  const { random } = run;
  if (!random.chance(0.05)) return;
  if (run.shown.length < mostRemembered) run.shown.push(shown);
  else run.shown[random.integer(mostRemembered)] = shown;
}
