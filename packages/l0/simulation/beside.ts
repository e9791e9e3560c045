import { openEngineReader } from "../src/index.ts";
import type { DurableEngine, EngineReader } from "../src/index.ts";
import { readBeside } from "./beside-reads.ts";
import { codeOf, DIRECTORY, logs } from "./context.ts";
import type { Run } from "./context.ts";
import { excused } from "./reader-beside.ts";
import type { Beside, Step } from "./reader-beside.ts";
import { drawKeys } from "./settings.ts";

/** A look or two while a writer is opened, or before: there may be no store yet. */
export async function besideRecovery(run: Run): Promise<void> {
  if (run.beside === undefined) return;
  const { random } = run.beside;
  for (let left = random.integer(4); left > 0; left--) await once(run, async (_, work) => await work(), undefined);
}

export async function once(run: Run, step: Step, engine: DurableEngine | undefined): Promise<void> {
  const beside = run.beside as Beside;
  const reader = await opened(run, beside, step);
  if (reader === undefined) return;
  const { random } = beside;
  const looking = random.chance(0.6) ? look(run, beside, reader, step, engine) : undefined;
  // What reads while it looks has the moment of before.
  if (random.chance(0.7)) await looking;
  if (random.chance(0.15)) await hearNews(run, reader, step);
  else await readBeside(run, beside, reader, step);
  await looking;
  if (!random.chance(0.03)) return;
  beside.reader = undefined;
  await step("the close of a reader beside", async () => await reader.close());
}

export async function opened(run: Run, beside: Beside, step: Step): Promise<EngineReader | undefined> {
  if (beside.host !== run.host) beside.reader = undefined;
  if (beside.reader !== undefined) return beside.reader;
  const { host } = run;
  const gone = run.forgotten.copy();
  const encryption = run.settings.encrypted ? { encryption: { keys: drawKeys(beside.random).keys } } : {};
  const blockCacheBytes = 1024 * 1024;
  await excused(run, step, "the opening of a reader beside", async () => {
    try {
      beside.reader = await openEngineReader({ dir: DIRECTORY, host, blockCacheBytes, pollMillis: 20, ...encryption });
    } catch (error) {
      // Nobody has seen a store yet.
      if (codeOf(error) !== "NOT_FOUND" || run.ledger.epoch > 0) throw error;
      return;
    }
    beside.host = host;
    beside.forgotten = gone;
    run.counts.besideOpens++;
    hold(run, beside.reader, undefined);
  });
  return beside.reader;
}

export async function look(
  run: Run,
  beside: Beside,
  reader: EngineReader,
  step: Step,
  engine: DurableEngine | undefined,
): Promise<void> {
  const before = { revision: reader.revision, epoch: reader.epoch };
  const gone = run.forgotten.copy();
  const least = logs.map((name) => run.floors.promised(name));
  await excused(run, step, "a look of a reader beside", async () => {
    const revision = await reader.refresh();
    run.counts.besideLooks++;
    if (revision < before.revision || reader.epoch < before.epoch)
      run.ledger.fail(
        `a reader beside was at ${before.revision} in epoch ${before.epoch}, and is at ${revision} in ${reader.epoch}`,
      );
    beside.forgotten.adopt(gone);
    for (const [place, name] of logs.entries()) run.floors.check(run, name, reader.log(name).first, least[place]);
    hold(run, reader, engine);
  });
}

/** What a reader has shown is durable. */
function hold(run: Run, { revision }: EngineReader, engine: DurableEngine | undefined): void {
  if (engine?.state === "open" && revision > engine.heads.durable)
    run.ledger.fail(`a reader beside shows ${revision}, and only ${engine.heads.durable} is durable`);
  run.ledger.acknowledge(revision);
}

/** It ends with more to be read, or when nobody waits for it any more. */
async function hearNews(run: Run, reader: EngineReader, step: Step): Promise<void> {
  const { revision } = reader;
  const waits = new AbortController();
  await excused(run, step, `news of more than ${revision} beside`, async () => {
    run.host.clock.timer(100, () => waits.abort());
    await reader.news(revision, { signal: waits.signal });
    if (!waits.signal.aborted && reader.revision <= revision)
      run.ledger.fail(`a reader beside heard of more than ${revision}, and is at ${reader.revision}`);
    run.counts.besideNews++;
    run.ledger.acknowledge(reader.revision);
  });
}
