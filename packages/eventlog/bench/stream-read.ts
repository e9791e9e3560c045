import { alternate, assertCount, median, medianRatio, shape, variation } from "@ehdb/harness";
import type { Bench, BenchContext, BySize, Result } from "@ehdb/harness";
import type { EventLog } from "@ehdb/contracts";
import { benchEvents, fill, withLog } from "./stage.ts";
import type { BenchEvent } from "./stage.ts";

const streams: BySize<number> = { tiny: 200, small: 1000, full: 4000 };
const lengths = [10, 1000] as const;

/** Streams read from start to end, out of many, in memory and out of parts. */
export const streamRead: Bench = {
  name: "eventlog.stream.read",
  results: lengths.map((length) => nameOf(length)),
  async run(context: BenchContext): Promise<Result[]> {
    const results: Result[] = [];
    for (const length of lengths) {
      if (context.wants(nameOf(length))) results.push(await measure(context, length));
    }
    return results;
  },
};

async function measure(context: BenchContext, length: number): Promise<Result> {
  const many = Math.max(4, Math.round((streams[context.size] * 10) / length));
  const count = many * length;
  const base = benchEvents(4096);
  // Round robin, so that each stream's events lie far apart.
  const events: BenchEvent[] = Array.from({ length: count }, (_, i) => ({
    ...(base[i % base.length] as BenchEvent),
    stream: `stream-${i % many}`,
  }));
  return await withLog(context, { sealMaxCommits: 4096 }, async (sealed) => {
    await fill(sealed, events, count);
    return await withLog(context, { sealMaxCommits: 2 ** 24, sealMaxBytes: 2 ** 28 }, async (fresh) => {
      await fill(fresh, events, count);
      const figures = await alternate(
        [
          { name: "sealed", round: () => readAll(sealed, many, length) },
          { name: "fresh", round: () => readAll(fresh, many, length) },
        ],
        context.rounds,
      );
      const [rates, before] = [figures.get("sealed") ?? [], figures.get("fresh") ?? []];
      const ratio = 1 / medianRatio(rates, before);
      return {
        name: nameOf(length),
        value: median(rates),
        unit: "events/s out of parts, head only (more is better)",
        n: count * context.rounds,
        variation: variation(rates),
        note: `${many} streams of ${length}; ${Math.round(median(before))} events/s before they're sealed; parts of 4096 events`,
        verdicts: [shape(`sealed takes ${ratio.toFixed(1)} <= 15 x the time of unsealed`, ratio <= 15)],
      };
    });
  });
}

async function readAll(log: EventLog, many: number, length: number): Promise<number> {
  let seen = 0;
  const start = performance.now();
  for (let i = 0; i < many; i++) {
    let version = 0;
    for await (const batch of log.readStream(`stream-${i}`).batches()) {
      for (const event of batch) if (event.version === ++version) seen++;
    }
    assertCount("events of a stream", version, length);
  }
  assertCount("events read", seen, many * length);
  return (seen * 1000) / (performance.now() - start);
}

function nameOf(length: number): string {
  return length === 1000 ? "eventlog.stream.read" : `eventlog.stream.read.${length}`;
}
