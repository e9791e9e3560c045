import { assertCount, distribution, goal, payloadSeed, seededPayloads, shape, withDirectory } from "@ehdb/harness";
import type { Bench, BenchContext, BySize, Result } from "@ehdb/harness";
import { writeAndSync } from "@ehdb/harness/floors";
import { join } from "node:path";
import { assertHolds, withJournal } from "./stage.ts";

const intervals = [10, 5, 2];
const callers = 8;
/** Timed waits a caller. */
const waits: BySize<number> = { tiny: 40, small: 200, full: 1000 };

/** From append to durable in mode `batch`: the interval, and not much more. The default's row has the plain name. */
export const durableLatency: Bench = {
  name: "journal.durable.latency",
  results: ["journal.durable.latency"],
  async run(context: BenchContext): Promise<Result[]> {
    const records = seededPayloads(payloadSeed, 4096);
    const results: Result[] = [];
    for (const interval of intervals) {
      const syncs = await withDirectory(context.directory, (directory) =>
        writeAndSync(join(directory, "floor"), records, waits[context.size] * 2),
      );
      const sync = distribution(syncs.millis);
      const spread = distribution(await waited(context, records, interval));
      const allowed = interval + 2 * sync.p99;
      const usual = interval + 2 * sync.p50;
      results.push({
        name: interval === 10 ? "journal.durable.latency" : `journal.durable.latency.${interval}`,
        value: spread.p99,
        unit: "ms, p99 (less is better)",
        ...spread,
        floor: allowed,
        floorRatio: spread.p99 / allowed,
        note: `mode batch at ${interval} ms, ${callers} callers; a bare sync here takes ${sync.p50.toFixed(2)} ms, p99 ${sync.p99.toFixed(2)} ms of ${sync.n}`,
        verdicts: [
          goal(
            `p99 ${spread.p99.toFixed(2)} ms <= ${allowed.toFixed(2)} ms, the interval and two syncs (p99)`,
            spread.p99 <= allowed,
          ),
          shape(
            `p50 ${spread.p50.toFixed(2)} ms <= ${(2 * usual).toFixed(2)} ms, twice the interval and two syncs (p50)`,
            spread.p50 <= 2 * usual,
          ),
        ],
      });
    }
    return results;
  },
};

function waited(context: BenchContext, records: readonly Uint8Array[], batchMillis: number): Promise<Float64Array> {
  return withJournal(context, { durability: "batch", batchMillis }, async (journal) => {
    const count = waits[context.size] * callers;
    const millis = new Float64Array(count);
    let next = 0;
    const caller = async (): Promise<void> => {
      while (next < count) {
        const index = next++;
        const start = performance.now();
        await journal.appendDurable(records[index % records.length] as Uint8Array);
        millis[index] = performance.now() - start;
      }
    };
    await Promise.all(Array.from({ length: callers }, caller));
    assertCount("the durable sequence", journal.cursors.durable, count);
    await assertHolds(journal, records, count);
    return millis;
  });
}
