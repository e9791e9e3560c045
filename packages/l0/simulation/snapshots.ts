import { logs, maps } from "./context.ts";
import type { Work } from "./context.ts";
import { merge } from "./merging.ts";
import { collected, differs, keptRecord, keptValue, valueOf } from "./readers.ts";
import { excuse } from "./writers.ts";

/** A snapshot shows what there was, whatever is committed, sealed and merged meanwhile. */
export async function useSnapshot(work: Work): Promise<void> {
  const { run, engine, stage } = work;
  const { random, counts, ledger } = run;
  const log = random.pick(logs);
  const map = random.pick(maps);
  const isFirm = run.showsDurable;
  const snapshot = engine.snapshot();
  const { revision } = snapshot;
  const gone = run.forgotten.mark(log);
  await stage.pause(random.pick([1, 60]));
  await merge(work);
  await stage.step("a snapshot", async () => {
    try {
      const { first } = engine.log(log);
      const records = await collected(run, snapshot.log(log).scan(), keptRecord);
      const values = await collected(run, snapshot.map(map).scan(), keptValue);
      counts.snapshots++;
      if (isFirm) ledger.acknowledge(revision);
      ledger.whenKnown(revision, (model) => {
        const must = model.log(log, revision).filter(({ sort }) => sort >= first);
        const keys = model.mapKeys(map, revision);
        const wrong =
          gone.differs(records, {}, must) ??
          differs(
            values,
            keys.map((key) => valueOf(model, map, key, revision)),
          );
        if (wrong !== undefined) ledger.fail(`a snapshot of revision ${revision}: ${wrong}`);
      });
    } catch (error) {
      excuse(work, error);
    } finally {
      snapshot.release();
    }
  });
}
