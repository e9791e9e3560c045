import {
  assertWork,
  FullDigest,
  goal,
  median,
  payloadSeed,
  SampledDigest,
  seededRecords,
  SeededRandom,
  shape,
} from "@ehdb/harness";
import type { Bench, BenchContext, BySize, Result } from "@ehdb/harness";
import type { DurableEngine } from "@ehdb/l0";
import { setImmediate as turn } from "node:timers/promises";
import { fill, LOG, open, withEngine } from "./stage.ts";
import type { Options } from "./stage.ts";

const counts: BySize<number> = { tiny: 40_000, small: 200_000, full: 10_000_000 };
/** The smallest has seals and merges by making generations smaller. */
const options: BySize<Options> = { tiny: { sealMaxCommits: 4096 }, small: { sealMaxCommits: 16_384 }, full: {} };
const recordsAKey = 10;
const bytes = 100;
const reads: BySize<number> = { tiny: 2000, small: 10_000, full: 50_000 };
/** So many different ones: the rest repeats them. */
const different = 9973;

/** Many small records in one engine: bringing them in, opening it, and reading them, one and all. */
export const large: Bench = {
  name: "l0.large",
  results: ["load", "open", "read", "scan", "memory"].map((name) => `l0.large.${name}`),
  async run(context: BenchContext): Promise<Result[]> {
    const count = counts[context.size];
    const records = seededRecords(payloadSeed, different, bytes);
    const recordAt = (index: number): Uint8Array => records[index % different] as Uint8Array;
    return await withEngine(context, options[context.size], async (writer, dir) => {
      const loadStart = performance.now();
      await fill(writer, count, (index) => [keyOf(index, count), recordAt(index)]);
      const loadSeconds = (performance.now() - loadStart) / 1000;
      const { seals, merges, sealed_bytes, merged_bytes } = writer.stats();
      await writer.runPendingMerges();
      await writer.close();

      const before = await inUse();
      const opens: number[] = [];
      for (let i = 0; i < 5; i++) {
        const start = performance.now();
        const opened = await open(dir, {});
        opens.push(performance.now() - start);
        await opened.close();
      }
      const engine = await open(dir, {});
      try {
        const micros = await readRecords(engine, count, reads[context.size], recordAt);
        const { manifest_parts, block_cache_bytes } = engine.stats();
        const resident = (await inUse()) - before - block_cache_bytes;
        const scanSeconds = await scanAll(engine, count, recordAt);
        const openMillis = median(opens);
        const mib = resident / 2 ** 20;
        return [
          {
            name: "l0.large.load",
            value: count / loadSeconds,
            unit: "records/s, a commit each (more is better)",
            n: count,
            note: `${bytes} B each, 512 in flight, each to a key that was used ${count / recordsAKey} commits before; ${seals} seals, ${merges} merges, ${(sealed_bytes / 2 ** 20).toFixed(0)} MiB sealed and ${(merged_bytes / 2 ** 20).toFixed(0)} MiB merged meanwhile`,
          },
          {
            name: "l0.large.open",
            value: openMillis,
            unit: "ms to open (less is better)",
            n: opens.length,
            note: `${manifest_parts} parts`,
            verdicts: [goal(`${openMillis.toFixed(1)} <= 100 ms`, openMillis <= 100)],
          },
          {
            name: "l0.large.read",
            value: median(micros),
            unit: "us for the records of a key taken at random (less is better)",
            n: micros.length,
            note: `${recordsAKey} records a key, ${count / recordsAKey} keys, their records far apart`,
          },
          {
            name: "l0.large.scan",
            value: count / scanSeconds,
            unit: "records/s of all, in order (more is better)",
            n: count,
          },
          {
            name: "l0.large.memory",
            value: mib,
            unit: "MiB more in use with it open and read from, block cache left out (less is better)",
            n: count,
            note: `${(resident / count).toFixed(2)} bytes a record`,
            verdicts: [
              goal(`${mib.toFixed(0)} <= 64 MiB`, mib <= 64),
              shape(`${mib.toFixed(0)} <= 256 MiB`, mib <= 256),
            ],
          },
        ];
      } finally {
        await engine.close();
      }
    });
  },
};

/** A key's records lie as far apart as they can. */
function keyOf(index: number, count: number): string {
  return `key-${index % (count / recordsAKey)}`;
}

/** Microseconds of each read of a key's records, taken at random; all that they should be. */
async function readRecords(
  engine: DurableEngine,
  count: number,
  times: number,
  recordAt: (index: number) => Uint8Array,
): Promise<Float64Array> {
  const random = new SeededRandom(payloadSeed);
  const micros = new Float64Array(times);
  const keys = count / recordsAKey;
  for (let i = 0; i < times; i++) {
    const key = random.integer(keys);
    const [got, wanted] = [new FullDigest(), new FullDigest()];
    for (let version = 0; version < recordsAKey; version++) wanted.add(recordAt(key + version * keys));
    const start = performance.now();
    for await (const batch of engine.log(LOG).read(`key-${key}`)) for (const { payload } of batch) got.add(payload);
    micros[i] = (performance.now() - start) * 1000;
    assertWork(`the records of key-${key}`, got, wanted);
  }
  return micros;
}

/** Seconds of a scan of all. */
async function scanAll(engine: DurableEngine, count: number, recordAt: (index: number) => Uint8Array): Promise<number> {
  const wanted = new SampledDigest();
  for (let i = 0; i < count; i++) wanted.add(recordAt(i));
  const got = new SampledDigest();
  const start = performance.now();
  for await (const batch of engine.log(LOG).scan()) for (const { payload } of batch) got.add(payload);
  assertWork("a scan of all", got, wanted);
  return (performance.now() - start) / 1000;
}

async function inUse(): Promise<number> {
  for (let i = 0; i < 3; i++) {
    globalThis.gc?.();
    await turn();
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
