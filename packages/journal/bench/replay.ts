import {
  alternate,
  assertWork,
  goal,
  median,
  medianRatio,
  payloadSeed,
  roundAndRound,
  SampledDigest,
  seededPayloads,
  shape,
  variation,
  withDirectory,
} from "@ehdb/harness";
import type { Bench, BenchContext, BySize, Result, WorkProof } from "@ehdb/harness";
import { readAndVerify } from "@ehdb/harness/floors";
import { openJournal } from "@ehdb/journal";
import type { JournalReader, JournalRecord } from "@ehdb/journal";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expectedProof, fill } from "./stage.ts";

const counts: BySize<number> = { tiny: 32_768, small: 262_144, full: 1_048_576 };
/** Records a batch, about 200 KiB. */
const batch = 512;

type Reading = (batches: AsyncIterable<readonly JournalRecord[]>) => AsyncIterable<readonly JournalRecord[]>;

/** The whole journal, every byte verified, from a fresh open. */
export const replay: Bench = {
  name: "journal.replay",
  results: ["journal.replay", "journal.replay.dropped", "journal.replay.swapped"],
  async run(context: BenchContext): Promise<Result[]> {
    const records = seededPayloads(payloadSeed, 4096);
    const count = counts[context.size];
    const expected = expectedProof(records, 0, count);
    return await withDirectory(context.directory, async (directory) => {
      const dir = join(directory, "journal");
      const writer = await openJournal({ dir });
      await fill(writer, records, count, batch);
      await writer.close();
      const ours = async (reading: Reading = (batches) => batches): Promise<number> => {
        const start = performance.now();
        await using journal = await openJournal({ dir });
        const seconds = await replayed(journal, expected, reading, start);
        return count / seconds;
      };
      const plain = join(directory, "plain");
      await writeFile(plain, roundAndRound(records, 0, count));
      const proof = await readAndVerify([plain]);
      const floor = async (): Promise<number> => count / (await readAndVerify([plain], proof)).seconds;
      const figures = await alternate(
        [
          { name: "journal", round: () => ours() },
          { name: "floor", round: floor },
        ],
        context.rounds,
      );
      const rates = figures.get("journal") ?? [];
      const [value, floorRate] = [median(rates), median(figures.get("floor") ?? [])];
      const ratio = medianRatio(rates, figures.get("floor") ?? []);
      const row: Result = {
        name: "journal.replay",
        value,
        unit: "records/s (more is better)",
        n: count * context.rounds,
        floor: floorRate,
        floorRatio: ratio,
        variation: variation(rates),
        note: `batches of ${batch}, opening included; the floor reads the bare records' bytes and checks them with crc32`,
        verdicts: [
          goal(`${(value / 1e6).toFixed(2)} M/s >= 3 M/s, raw and verified`, value >= 3e6),
          shape(`${ratio.toFixed(2)} >= 0.1 x the floor`, ratio >= 0.1),
        ],
      };
      return [row, await control("dropped", () => ours(dropping)), await control("swapped", () => ours(swapping))];
    });
  },
};

async function replayed(journal: JournalReader, expected: WorkProof, reading: Reading, start: number): Promise<number> {
  const proof = new SampledDigest();
  for await (const records of reading(journal.scan().batches())) for (const { data } of records) proof.add(data);
  assertWork("replay", proof, expected);
  return (performance.now() - start) / 1000;
}

/** A reader that is wrong on purpose: its figure must be refused. */
async function control(name: string, run: () => Promise<number>): Promise<Result> {
  let refusal: string | undefined;
  try {
    await run();
  } catch (error) {
    refusal = error instanceof Error ? error.message : String(error);
  }
  const caught = refusal?.startsWith("replay: ") === true;
  return {
    name: `journal.replay.${name}`,
    value: caught ? 1 : 0,
    unit: "caught (1 is as it must be)",
    n: 1,
    control: true,
    verdicts: [shape(`a reader with a record ${name} is found out: ${refusal ?? "it wasn't"}`, caught)],
  };
}

async function* dropping(batches: AsyncIterable<readonly JournalRecord[]>): AsyncGenerator<readonly JournalRecord[]> {
  let index = 0;
  for await (const records of batches) yield index++ === 3 ? records.slice(1) : records;
}

async function* swapping(batches: AsyncIterable<readonly JournalRecord[]>): AsyncGenerator<readonly JournalRecord[]> {
  let index = 0;
  for await (const records of batches) {
    const [first, second, ...rest] = records;
    yield index++ === 3 && first !== undefined && second !== undefined ? [second, first, ...rest] : records;
  }
}
