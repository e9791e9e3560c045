import {
  alternate,
  assertCount,
  goal,
  median,
  medianRatio,
  payloadSeed,
  seededPayloads,
  shape,
  variation,
  withDirectory,
} from "@ehdb/harness";
import type { Bench, BenchContext, BySize, Result } from "@ehdb/harness";
import { writeAndSyncBlocking } from "@ehdb/harness/floors";
import { betterSqlite3, peerAppends } from "@ehdb/harness/peers";
import { join } from "node:path";
import { assertHolds, withJournal } from "./stage.ts";

const counts: BySize<number> = { tiny: 800, small: 3000, full: 10_000 };

/** The mode of command-line tools, which holds the thread during each sync, beside a peer that can't do otherwise. */
export const durableBlocking: Bench = {
  name: "journal.durable.blocking",
  results: ["journal.durable.blocking"],
  async run(context: BenchContext): Promise<Result[]> {
    const records = seededPayloads(payloadSeed, 4096);
    const count = counts[context.size];
    const ours = (): Promise<number> =>
      withJournal(context, { blockingSync: true }, async (journal) => {
        const start = performance.now();
        for (let i = 0; i < count; i++) await journal.appendDurable(records[i % records.length] as Uint8Array);
        assertCount("the durable sequence", journal.cursors.durable, count);
        const perSecond = (count * 1000) / (performance.now() - start);
        await assertHolds(journal, records, count);
        return perSecond;
      });
    const floor = (): Promise<number> =>
      withDirectory(context.directory, (directory) => writeAndSyncBlocking(join(directory, "floor"), records, count));
    const peer = (): Promise<number> => peerAppends(betterSqlite3, { directory: context.directory, records, count }, 1);
    const contenders = [
      { name: "journal", round: ours },
      { name: "floor", round: floor },
      { name: betterSqlite3.name, round: peer },
    ];
    const figures = await alternate(contenders, context.rounds);
    const rates = (name: string): number[] => figures.get(name) ?? [];
    const rate = (name: string): number => median(rates(name));
    const value = rate("journal");
    const [ratio, toPeer] = ["floor", betterSqlite3.name].map((name) => medianRatio(rates("journal"), rates(name))) as [
      number,
      number,
    ];
    return [
      {
        name: "journal.durable.blocking",
        value,
        unit: "appends/s (more is better)",
        n: count * context.rounds,
        floor: rate("floor"),
        floorRatio: ratio,
        peers: { [betterSqlite3.name]: rate(betterSqlite3.name) },
        peerRatio: { [betterSqlite3.name]: toPeer },
        variation: variation(rates("journal")),
        verdicts: [
          goal(`${toPeer.toFixed(2)} >= 1 x better-sqlite3`, toPeer >= 1),
          shape(`${toPeer.toFixed(2)} >= 0.5 x better-sqlite3`, toPeer >= 0.5),
        ],
      },
    ];
  },
};
