import { backUpBeside } from "./backups-beside.ts";
import { look, once, opened } from "./beside.ts";
import { readBeside } from "./beside-reads.ts";
import type { Work } from "./context.ts";
import { mergeAll } from "./merging.ts";
import type { Beside, Step } from "./reader-beside.ts";
import { seal } from "./upkeep.ts";
import { burst } from "./writers.ts";

/** Reads for a while, as long as the writer is at work. */
export async function besideAWriter(work: Work): Promise<void> {
  const { run, stage, engine } = work;
  if (run.beside === undefined) return;
  const { random } = run.beside;
  const step: Step = async (what, work) => await stage.step(what, work);
  for (let left = random.between(2, 12); left > 0 && run.ledger.violations.length === 0; left--) {
    if (random.chance(0.2)) await stage.pause(random.pick([1, 20, 60, 100]));
    if (random.chance(0.06)) await backUpBeside(run, run.beside, engine, step);
    else if (random.chance(0.12)) await mergedAway(work, run.beside, step);
    else await once(run, step, engine);
  }
}

/** All parts that a reader knows become others between its look and its read, and there is more than it knows. */
async function mergedAway(work: Work, beside: Beside, step: Step): Promise<void> {
  const { run, engine } = work;
  const reader = await opened(run, beside, step);
  if (reader === undefined) return;
  await burst(work, 3);
  await seal(work);
  await look(run, beside, reader, step, engine);
  await burst(work, 3);
  await seal(work);
  await mergeAll(work);
  run.counts.besideMergedAway++;
  await readBeside(run, beside, reader, step);
}
