import {
  assertCount,
  assertWork,
  countingHost,
  distribution,
  FullDigest,
  goal,
  growthExponent,
  median,
  payloadSeed,
  percentile,
  proofOf,
  seededPayloads,
  SeededRandom,
  shape,
  withDirectory,
} from "@ehdb/harness";
import type { Bench, BenchContext, BySize, Distribution, Result } from "@ehdb/harness";
import { readPoints } from "@ehdb/harness/floors";
import { openJournal } from "@ehdb/journal";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fill } from "./stage.ts";

const strides = [1024, 64];
/** Records a batch: what 64 callers make of it. */
const batch = 64;
const sizes: BySize<readonly [number, number, number]> = {
  tiny: [2048, 8192, 32_768],
  small: [8192, 32_768, 131_072],
  full: [16_384, 65_536, 262_144],
};
const points: BySize<number> = { tiny: 250, small: 2000, full: 5000 };

interface PointFigure extends Distribution {
  readonly size: number;
  readonly reads: number;
  readonly kibibytes: number;
  readonly floor: number;
}

/** One record by its sequence, anywhere in a journal; the index has been built by a read before. */
export const readPoint: Bench = {
  name: "journal.read.point",
  results: ["journal.read.point"],
  async run(context: BenchContext): Promise<Result[]> {
    const records = seededPayloads(payloadSeed, 4096);
    const results: Result[] = [];
    for (const stride of strides) {
      const figures: PointFigure[] = [];
      for (const size of sizes[context.size]) figures.push(await measure(context, records, size, stride));
      results.push(row(stride, figures));
    }
    return results;
  },
};

function row(stride: number, figures: readonly PointFigure[]): Result {
  const { floor, size, reads, kibibytes, ...spread } = figures.at(-1) as PointFigure;
  const exponent = growthExponent(figures.map((figure) => ({ size: figure.size, cost: figure.p50 })));
  return {
    name: stride === 1024 ? "journal.read.point" : `journal.read.point.${stride}`,
    value: spread.p50,
    unit: "us (less is better)",
    ...spread,
    floor,
    floorRatio: spread.p50 / floor,
    exponent,
    note: `stride ${stride}, batches of ${batch}: ${reads.toFixed(2)} reads and ${kibibytes.toFixed(0)} KiB a record, of ${size}; the floor is one asynchronous read of a batch`,
    verdicts: [
      shape(`${reads.toFixed(2)} <= 5 reads of the page cache`, reads <= 5),
      goal(
        `grows with the journal by ${exponent.toFixed(2)} <= 0.05: no scan from the segment's start`,
        exponent <= 0.05,
      ),
      shape(`grows with the journal by ${exponent.toFixed(2)} <= 0.25`, exponent <= 0.25),
    ],
  };
}

function measure(
  context: BenchContext,
  records: readonly Uint8Array[],
  size: number,
  stride: number,
): Promise<PointFigure> {
  return withDirectory(context.directory, async (dir) => {
    const writer = await openJournal({ dir });
    await fill(writer, records, size, batch);
    await writer.close();
    const { host, take } = countingHost();
    // One segment more is begun by this open; what is read lies in the one before.
    await using journal = await openJournal({ dir, host, indexStride: stride });
    const random = new SeededRandom(payloadSeed);
    const count = points[context.size];
    const sequences = Array.from({ length: count }, () => 1 + random.integer(size));
    const expected = proofOf(
      new FullDigest(),
      sequences.map((sequence) => records[(sequence - 1) % records.length] as Uint8Array),
    );
    await journal.read(1);
    await journal.read(size);
    const medians: number[] = [];
    const micros: number[] = [];
    let counted = { reads: 0, bytes: 0 };
    for (let round = 0; round < context.rounds; round++) {
      globalThis.gc?.();
      take();
      const proof = new FullDigest();
      const own: number[] = [];
      for (const sequence of sequences) {
        const start = performance.now();
        const record = await journal.read(sequence);
        own.push((performance.now() - start) * 1000);
        assertCount("the sequence that was read", record.sequence, sequence);
        proof.add(record.data);
      }
      assertWork("point reads", proof, expected);
      counted = take();
      medians.push(median(own));
      micros.push(...own);
    }
    const floor = await bareReads(dir, random, count);
    return {
      ...distribution(micros),
      p50: median(medians),
      size,
      reads: counted.reads / count,
      kibibytes: counted.bytes / count / 1024,
      floor,
    };
  });
}

/** The middle of bare reads, each of as many bytes as a batch has, all over the largest file. */
async function bareReads(dir: string, random: SeededRandom, count: number): Promise<number> {
  const files = readdirSync(dir)
    .map((name) => join(dir, name))
    .filter((path) => statSync(path).isFile());
  const largest = files.toSorted((a, b) => statSync(b).size - statSync(a).size)[0];
  if (largest === undefined) throw new Error(`${dir} holds no file`);
  const bytes = batch * 410;
  const positions = Array.from({ length: count }, () => random.integer(Math.max(1, statSync(largest).size - bytes)));
  return percentile(await readPoints(largest, positions, bytes), 0.5);
}
