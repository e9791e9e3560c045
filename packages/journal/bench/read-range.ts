import {
  alternate,
  assertWork,
  goal,
  median,
  medianRatio,
  payloadSeed,
  SampledDigest,
  seededPayloads,
  shape,
  variation,
  withDirectory,
} from "@ehdb/harness";
import type { Bench, BenchContext, BySize, Result } from "@ehdb/harness";
import { peerRanges, peers } from "@ehdb/harness/peers";
import { openJournal } from "@ehdb/journal";
import { expectedProof, fill } from "./stage.ts";

const counts: BySize<number> = { tiny: 25_000, small: 200_000, full: 500_000 };
const length = 5000;
const batch = 250;

/** Ranges of 5 000 records, one after the other, out of an open store. */
export const readRange: Bench = {
  name: "journal.read.range",
  results: ["journal.read.range"],
  async run(context: BenchContext): Promise<Result[]> {
    const records = seededPayloads(payloadSeed, 4096);
    const count = counts[context.size];
    const figures = await withDirectory(context.directory, async (dir) => {
      const journal = await openJournal({ dir });
      await fill(journal, records, count, batch);
      const expected = expectedProof(records, 0, count);
      const ours = async (): Promise<number> => {
        const proof = new SampledDigest();
        const start = performance.now();
        for (let from = 1; from <= count; from += length) {
          for await (const each of journal.scan({ from, to: from + length - 1 }).batches())
            for (const { data } of each) proof.add(data);
        }
        assertWork("range read", proof, expected);
        return (count * 1000) / (performance.now() - start);
      };
      const contenders = [
        { name: "journal", round: ours },
        ...peers.map((kind) => ({
          name: kind.name,
          round: () => peerRanges(kind, { directory: context.directory, records, count }, length),
        })),
      ];
      try {
        return await alternate(contenders, context.rounds);
      } finally {
        await journal.close();
      }
    });
    const rates = (name: string): number[] => figures.get(name) ?? [];
    const rate = (name: string): number => median(rates(name));
    const value = rate("journal");
    const peerRates = Object.fromEntries(peers.map(({ name }) => [name, rate(name)]));
    const peerRatio = Object.fromEntries(peers.map(({ name }) => [name, medianRatio(rates("journal"), rates(name))]));
    const lmdb = peerRatio["lmdb"] ?? 0;
    return [
      {
        name: "journal.read.range",
        value,
        unit: "records/s (more is better)",
        n: count * context.rounds,
        peers: peerRates,
        peerRatio,
        variation: variation(rates("journal")),
        note: `ranges of ${length}, written in batches of ${batch}; the journal verifies what it reads, lmdb and better-sqlite3 don't`,
        verdicts: [
          goal(`${lmdb.toFixed(2)} >= 1 x lmdb`, lmdb >= 1),
          shape(`${lmdb.toFixed(2)} >= 0.25 x lmdb`, lmdb >= 0.25),
        ],
      },
    ];
  },
};
