import { assertCount, goal, median, payloadSeed, seededPayloads, shape } from "@ehdb/harness";
import type { Bench, BenchContext, BySize, Result } from "@ehdb/harness";
import type { DurableEngine } from "@ehdb/l0";
import { fill, LOG, withEngine } from "./stage.ts";

const keys = 64;
const lengths: BySize<number> = { tiny: 60, small: 200, full: 500 };

/** The records of one key, read again and again: what sealing them changes. */
export const readStep: Bench = {
  name: "l0.read.step",
  results: ["l0.read.step"],
  async run(context: BenchContext): Promise<Result[]> {
    const payloads = seededPayloads(payloadSeed, 4096);
    const length = lengths[context.size];
    return await withEngine(context, { sealMaxCommits: 2 ** 24, sealMaxBytes: 2 ** 28 }, async (engine) => {
      await fill(engine, keys * length, (i) => [`key-${i % keys}`, payloads[i % payloads.length] as Uint8Array]);
      const before = await nanosARecord(engine, length, context.rounds);
      await engine.seal();
      assertCount("unsealed commits", engine.heads.accepted - engine.heads.sealed, 0);
      const after = await nanosARecord(engine, length, context.rounds);
      const step = after / before;
      return [
        {
          name: "l0.read.step",
          value: step,
          unit: "x the time of a record in memory, out of a part (less is better)",
          n: keys * length * context.rounds,
          note: `${before.toFixed(0)} ns a record before the seal, ${after.toFixed(0)} ns after it, warm; ${keys} keys of ${length} records`,
          verdicts: [goal(`${step.toFixed(1)} <= 2 x`, step <= 2), shape(`${step.toFixed(1)} <= 8 x`, step <= 8)],
        },
      ];
    });
  },
};

async function nanosARecord(engine: DurableEngine, length: number, rounds: number): Promise<number> {
  const figures: number[] = [];
  // The first rounds warm the code and the block cache.
  for (let round = 0; round < rounds + 3; round++) {
    let seen = 0;
    const start = performance.now();
    for (let key = 0; key < keys; key++) {
      const name = `key-${key}`;
      let version = 0;
      for await (const batch of engine.log(LOG).read(name))
        for (const record of batch)
          if (record.version === ++version && record.key === name && record.end > record.start) seen++;
    }
    const nanos = ((performance.now() - start) * 1e6) / (keys * length);
    assertCount("records read", seen, keys * length);
    if (round >= 3) figures.push(nanos);
  }
  return median(figures);
}
