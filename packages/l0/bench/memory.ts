import { goal, growthExponent, payloadSeed, seededPayloads, shape } from "@ehdb/harness";
import type { Bench, BenchContext, BySize, Result, SizedCost } from "@ehdb/harness";
import { MIB } from "@ehdb/contracts";
import { setImmediate as turn } from "node:timers/promises";
import { fill, open, withEngine } from "./stage.ts";

const parts: BySize<readonly number[]> = { tiny: [16, 64, 256], small: [32, 128, 512], full: [64, 512, 4096] };
const commitsAPart = 64;

/** What a part costs in memory, beside the block cache, in an engine that has just been opened. */
export const memory: Bench = {
  name: "l0.memory",
  results: ["l0.memory.part", "l0.memory.growth"],
  async run(context: BenchContext): Promise<Result[]> {
    const costs: SizedCost[] = [];
    for (const count of parts[context.size]) costs.push({ size: count, cost: await residentBytes(context, count) });
    const [first, last] = [costs[0] as SizedCost, costs.at(-1) as SizedCost];
    const aPart = (last.cost - first.cost) / (last.size - first.size);
    const exponent = growthExponent(costs);
    return [
      {
        name: "l0.memory.part",
        value: aPart,
        unit: "bytes a part, heap and external (less is better)",
        n: last.size,
        note: `of ${commitsAPart} commits each; ${costs.map(({ size, cost }) => `${(cost / 1024).toFixed(0)} KiB with ${size}`).join(", ")}`,
        verdicts: [
          goal(`${aPart.toFixed(0)} <= 2048 bytes`, aPart <= 2048),
          shape(`${aPart.toFixed(0)} <= 8192 bytes`, aPart <= 8192),
        ],
      },
      {
        name: "l0.memory.growth",
        value: exponent,
        unit: "exponent over records (less is better)",
        n: last.size * commitsAPart,
        exponent,
        verdicts: [
          goal(`${exponent.toFixed(2)} <= 0.52`, exponent <= 0.52),
          shape(`${exponent.toFixed(2)} <= 1`, exponent <= 1),
        ],
      },
    ];
  },
};

/** How much more memory is in use with the engine open than before, its block cache left out. */
async function residentBytes(context: BenchContext, count: number): Promise<number> {
  const payloads = seededPayloads(payloadSeed, 256);
  // Merges would make few of them.
  const options = { sealMaxCommits: commitsAPart, blockCacheBytes: MIB, background: false };
  return await withEngine(context, options, async (writer, dir) => {
    for (let part = 0; part < count; part++) {
      const first = part * commitsAPart;
      const record = (i: number): Uint8Array => payloads[(first + i) % payloads.length] as Uint8Array;
      await fill(writer, commitsAPart, (i) => [`key-${(first + i) % 997}`, record(i)]);
      // Small generations that are full wait for each other.
      await writer.seal();
    }
    await writer.close();
    const before = await inUse();
    const engine = await open(dir, options);
    const { manifest_parts, block_cache_bytes } = engine.stats();
    if (manifest_parts < count / 4) throw new Error(`${manifest_parts} parts were made of ${count} generations`);
    const bytes = (await inUse()) - before - block_cache_bytes;
    await engine.close();
    return Math.max(1, (bytes * count) / manifest_parts);
  });
}

async function inUse(): Promise<number> {
  for (let i = 0; i < 3; i++) {
    globalThis.gc?.();
    await turn();
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
