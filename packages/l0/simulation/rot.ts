import { openEngine } from "../src/index.ts";
import type { DurableEngine } from "../src/index.ts";
import { readManifest } from "../src/manifest/read-manifest.ts";
import { codeOf, describe, DIRECTORY } from "./context.ts";
import type { Run, Work } from "./context.ts";
import { alone, optionsOf, readAll } from "./opening.ts";
import { keptRecord, keptValue } from "./readers.ts";
import type { Kept } from "./readers.ts";
import { verifyNamedParts } from "./parts-on-disk.ts";
import { burst } from "./writers.ts";

interface Place {
  readonly path: string;
  readonly offset: number;
}

/**
 * Flips a bit in a file that was synced and closed clean: a part, the manifest in force, CURRENT, or a segment of the journal. The right
 * answers: everything is as it was, or CORRUPT. Never other data, and never less.
 */
export async function rot(run: Run, work: Work): Promise<void> {
  const { engine } = work;
  const quiet = await alone(run, "a quiet end", async () => {
    await burst(work, 8);
    if (run.random.chance(0.7)) await engine.seal();
    await burst(work, 4);
    await engine.flush();
    run.ledger.acknowledge(engine.revision);
    await engine.close();
    return "quiet" as const;
  });
  if (quiet !== "quiet") return;
  const place = await alone(run, "the choice of a place", async () => await choose(run));
  if (place === "frozen" || place === "failed" || place === undefined) return;
  run.host = run.host.crash();
  run.host.flipBit(place.path, place.offset, run.random.integer(8));
  run.counts.rots++;
  await alone(run, "a look at what has rotted", async () => await look(run, place));
}

async function choose(run: Run): Promise<Place | undefined> {
  const { host, random } = run;
  const { file, state } = await readManifest({ host, dir: DIRECTORY });
  const named = [...state.parts.keys()].map((id) => `${DIRECTORY}/parts/${String(id).padStart(12, "0")}.part`);
  const journal = (await host.files.list(`${DIRECTORY}/journal`)).filter((name) => name.endsWith(".segment"));
  const kinds = [named, named, [file], [`${DIRECTORY}/CURRENT`], journal.map((name) => `${DIRECTORY}/journal/${name}`)];
  const paths = random.pick(kinds);
  if (paths.length === 0) return undefined;
  const path = random.pick(paths);
  const { length } = host.content(path);
  // A segment is mostly zeros that nobody has written yet.
  const most = path.endsWith(".segment") ? Math.min(length, 60_000) : length;
  return { path, offset: random.integer(most) };
}

/** Opens and reads all, in every way: either it's as it must be, or somebody says what is damaged. */
async function look(run: Run, { path, offset }: Place): Promise<void> {
  const { ledger, counts } = run;
  const where = `a bit flipped at byte ${offset} of ${path}`;
  let engine: DurableEngine | undefined;
  try {
    engine = await openEngine(optionsOf(run));
    const { revision } = engine;
    if (revision < ledger.firm)
      ledger.fail(`${where}, and ${revision} of ${ledger.firm} commits are there, in silence`);
    const wrong = (await readAll(run, engine)).compare(ledger.model, revision) ?? (await askAll(run, engine));
    if (wrong !== undefined) ledger.fail(`${where}, and in silence ${wrong}`);
    const { paths, damage } = await verifyNamedParts(run.host, optionsOf(run).encryption);
    if (damage.length > 0) counts.rotsFound++;
    else if (paths.includes(path)) ledger.fail(`${where}, and verify finds nothing wrong with it`);
  } catch (error) {
    if (codeOf(error) !== "CORRUPT") throw new Error(`${where}, and the error is ${describe(error)}`, { cause: error });
    counts.rotsFound++;
  } finally {
    await engine?.close();
  }
}

/** Every key by itself. */
async function askAll(run: Run, engine: DurableEngine): Promise<string | undefined> {
  const { model } = run.ledger;
  const { revision } = engine;
  for (const log of model.logs.keys()) {
    for (const key of model.logKeys(log)) {
      const found: Kept[] = [];
      const gone = run.forgotten.mark(log);
      const { first } = engine.log(log);
      for await (const records of engine.log(log).read(key)) found.push(...records.map(keptRecord));
      const must = model.key(log, key, revision).filter(({ sort }) => sort >= first);
      const wrong = gone.differs(found, {}, must);
      if (wrong !== undefined) return `${key} of ${log} has other records: ${wrong}`;
    }
  }
  for (const [map, keys] of model.maps) {
    for (const key of keys.keys()) {
      const [found, must] = [await engine.map(map).get(key), model.value(map, key, revision)];
      const text = must?.payload === undefined ? undefined : keptValue({ key, ...must, payload: must.payload }).text;
      if ((found === undefined ? undefined : keptValue(found).text) !== text)
        return `${key} of ${map} has another value`;
    }
  }
  return undefined;
}
