import { logs, maps } from "./context.ts";
import type { Work } from "./context.ts";
import { excuse } from "./writers.ts";

/** What is due, or all of a dataset, or of all. */
export async function merge(work: Work): Promise<void> {
  const { engine, run } = work;
  const { random } = run;
  const way = random.integer(4);
  if (way < 2) return await merging(work, async () => void (await engine.runPendingMerges()));
  const dataset = random.pick([...logs, ...maps]);
  await (way < 3 ? merging(work, async () => await fully(work, { dataset })) : mergeAll(work));
}

/** One part of all that each dataset has. */
export async function mergeAll(work: Work): Promise<void> {
  await merging(work, async () => await fully(work, {}));
}

async function fully({ engine, run }: Work, options: { readonly dataset?: string }): Promise<void> {
  await engine.merge(options);
  run.counts.fullMerges++;
}

async function merging(work: Work, merge: () => Promise<void>): Promise<void> {
  await work.stage.step("merge", async () => {
    try {
      await merge();
    } catch (error) {
      excuse(work, error);
    }
  });
}

/** Erases; and then no file is left that nothing names. */
export async function scavenge(work: Work): Promise<void> {
  const { run, engine, stage } = work;
  await stage.step("scavenge", async () => {
    try {
      if (run.random.chance(0.5)) await engine.reclaimOrphans();
      else {
        await engine.scavenge();
        run.counts.scavenges++;
      }
    } catch (error) {
      excuse(work, error);
    }
  });
}

/** By a position, or by how much may stay. */
export async function raiseFloor(work: Work): Promise<void> {
  const { run, engine, stage } = work;
  const { random, counts, floors } = run;
  const dataset = random.pick(logs);
  const { last } = engine.log(dataset);
  await stage.step(`raise the floor of ${dataset}`, async () => {
    try {
      if (random.chance(0.6)) {
        const floor = random.between(1, Math.max(1, random.chance(0.2) ? last + 1 : last >> 1));
        floors.ask(dataset, floor);
        await engine.raiseFloor(dataset, floor);
        floors.promise(dataset, floor);
      } else {
        floors.ask(dataset, last + 1);
        floors.promise(dataset, await engine.retain(dataset, { maxRecords: random.integer(last + 1) }));
      }
      counts.floors++;
    } catch (error) {
      excuse(work, error);
    }
    floors.check(run, dataset, engine.log(dataset).first);
  });
}
