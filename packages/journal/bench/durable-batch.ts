import {
  alternate,
  assertCount,
  goal,
  median,
  medianRatio,
  payloadSeed,
  roundAndRound,
  seededPayloads,
  shape,
  variation,
  withDirectory,
} from "@ehdb/harness";
import type { Bench, BenchContext, BySize, Result } from "@ehdb/harness";
import { writeAndSync } from "@ehdb/harness/floors";
import { peerBatches, peers } from "@ehdb/harness/peers";
import { join } from "node:path";
import { assertHolds, withJournal } from "./stage.ts";

const batch = 1000;
const batches: BySize<number> = { tiny: 20, small: 120, full: 400 };

/** A caller that brings 1 000 events at a time and waits for them. */
export const durableBatch: Bench = {
  name: "journal.durable.batch",
  results: ["journal.durable.batch"],
  async run(context: BenchContext): Promise<Result[]> {
    const records = seededPayloads(payloadSeed, 4000);
    const count = batches[context.size] * batch;
    const inputs = Array.from({ length: batches[context.size] }, (_, index) =>
      roundAndRound(records, index * batch, batch),
    );
    const ours = (): Promise<number> =>
      withJournal(context, {}, async (journal) => {
        const start = performance.now();
        for (const input of inputs) await journal.appendAllDurable(input);
        assertCount("the durable sequence", journal.cursors.durable, count);
        const perSecond = (count * 1000) / (performance.now() - start);
        await assertHolds(journal, records, count);
        return perSecond;
      });
    const joined = inputs.map((input) => Buffer.concat(input));
    const floor = (): Promise<number> =>
      withDirectory(
        context.directory,
        async (directory) => (await writeAndSync(join(directory, "floor"), joined, joined.length)).perSecond * batch,
      );
    const contenders = [
      { name: "journal", round: ours },
      { name: "floor", round: floor },
      ...peers.map((kind) => ({
        name: kind.name,
        round: () => peerBatches(kind, { directory: context.directory, records, count }, batch),
      })),
    ];
    const figures = await alternate(contenders, context.rounds);
    const rates = (name: string): number[] => figures.get(name) ?? [];
    const rate = (name: string): number => median(rates(name));
    const value = rate("journal");
    const ratio = medianRatio(rates("journal"), rates("floor"));
    const peerRates = Object.fromEntries(peers.map(({ name }) => [name, rate(name)]));
    const peerRatio = Object.fromEntries(peers.map(({ name }) => [name, medianRatio(rates("journal"), rates(name))]));
    const lmdb = peerRatio["lmdb"] ?? 0;
    return [
      {
        name: "journal.durable.batch",
        value,
        unit: "records/s (more is better)",
        n: count * context.rounds,
        floor: rate("floor"),
        floorRatio: ratio,
        peers: peerRates,
        peerRatio,
        variation: variation(rates("journal")),
        note: "the floor's batches were joined before the clock started",
        verdicts: [
          goal(`${lmdb.toFixed(2)} >= 1 x lmdb`, lmdb >= 1),
          goal(`${ratio.toFixed(2)} >= 0.6 x the floor`, ratio >= 0.6),
          shape(`${lmdb.toFixed(2)} >= 0.5 x lmdb`, lmdb >= 0.5),
        ],
      },
    ];
  },
};
