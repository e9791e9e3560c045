import type { LogRecord } from "@ehdb/contracts";
import type { Bench, BenchContext, Result } from "@ehdb/harness";
import { withEngine } from "../stage.ts";
import { callers, commitCounts, manyParts, recordsOf, settleHistory, writeHistory, writerOf } from "./history.ts";
import { invariantRows } from "./rows.ts";

/**
 * One order: positions without holes, versions of each key without holes, revisions and times that never fall, and what a caller
 * committed one after the other in that order. The control is the same log with two neighbours swapped.
 */
export const order: Bench = {
  name: "l0.invariant.order",
  results: ["l0.invariant.order", "l0.invariant.order.control"],
  async run(context: BenchContext): Promise<Result[]> {
    const records = await withEngine(context, manyParts[context.size], async (engine) => {
      await writeHistory(engine, commitCounts[context.size]);
      await settleHistory(engine);
      return (await recordsOf(engine)).map(kept);
    });
    const middle = records.length >> 1;
    const swapped = records.with(middle, records[middle + 1] as Kept).with(middle + 1, records[middle] as Kept);
    return invariantRows(
      "l0.invariant.order",
      `${callers} callers at once; records in memory, sealed and merged`,
      { violations: outOfOrder(records), population: records.length },
      { violations: outOfOrder(swapped), population: swapped.length, what: "two neighbours in the middle are swapped" },
    );
  },
};

interface Kept extends Pick<LogRecord, "sort" | "key" | "version" | "revision" | "time"> {
  readonly caller: number;
  readonly number: number;
}

function kept(record: LogRecord): Kept {
  const { sort, key, version, revision, time } = record;
  return { sort, key, version, revision, time, ...writerOf(record) };
}

/** Records that don't come where they must. */
function outOfOrder(records: readonly Kept[]): number {
  const [versions, numbers] = [new Map<string, number>(), new Map<number, number>()];
  let violations = 0;
  let before: Pick<Kept, "sort" | "revision" | "time"> = { sort: 0, revision: 0, time: 0 };
  for (const record of records) {
    const { sort, key, version, revision, time, caller, number } = record;
    const isRight =
      sort === before.sort + 1 &&
      version === (versions.get(key) ?? 0) + 1 &&
      revision >= before.revision &&
      time >= before.time &&
      number > (numbers.get(caller) ?? 0);
    if (!isRight) violations++;
    versions.set(key, version);
    numbers.set(caller, number);
    before = record;
  }
  return violations;
}
