import { alternate, assertCount, goal, median, medianRatio, shape, variation } from "@ehdb/harness";
import type { Bench, BenchContext, BySize, Result } from "@ehdb/harness";
import { parseAll } from "@ehdb/harness/floors";
import { openEventLog } from "@ehdb/eventlog";
import { benchEvents, fill, withLog } from "./stage.ts";
import type { BenchEvent } from "./stage.ts";

const counts: BySize<number> = { tiny: 32_768, small: 131_072, full: 524_288 };

type Way = "raw" | "decoded" | "batches";

/** The whole log from a fresh open: what is asked for of each event, with its data decoded or not, and as plain events. */
export const replay: Bench = {
  name: "eventlog.replay",
  results: ["eventlog.replay.raw", "eventlog.replay.decoded", "eventlog.replay.batches", "eventlog.replay.dropped"],
  async run(context: BenchContext): Promise<Result[]> {
    const events = benchEvents(4096);
    const count = counts[context.size];
    return await withLog(context, {}, async (writer, dir) => {
      await fill(writer, events, count);
      await writer.close();
      const texts = events.map(({ event }) => Buffer.from(JSON.stringify(event.data)));
      const contenders = [
        { name: "raw", round: () => replayed(dir, events, count, "raw") },
        { name: "decoded", round: () => replayed(dir, events, count, "decoded") },
        { name: "batches", round: () => replayed(dir, events, count, "batches") },
        { name: "floor", round: () => Promise.resolve(parseAll(texts, count, correlationOf)) },
      ];
      const figures = await alternate(contenders, context.rounds);
      const rates = (name: string): number[] => figures.get(name) ?? [];
      const [raw, decoded] = [median(rates("raw")), median(rates("decoded"))];
      const ratio = medianRatio(rates("decoded"), rates("floor"));
      const n = count * context.rounds;
      return [
        {
          name: "eventlog.replay.raw",
          value: raw,
          unit: "events/s (more is better)",
          n,
          variation: variation(rates("raw")),
          note: "by lazy batches, opening included; position, stream, version and type of each, data not asked for",
          verdicts: [
            goal(`${(raw / 1e6).toFixed(2)} M/s >= 3 M/s`, raw >= 3e6),
            shape(`raw isn't slower than decoded: ${(raw / decoded).toFixed(2)} x`, raw >= 0.8 * decoded),
          ],
        },
        {
          name: "eventlog.replay.decoded",
          value: decoded,
          unit: "events/s (more is better)",
          n,
          floor: median(rates("floor")),
          floorRatio: ratio,
          variation: variation(rates("decoded")),
          note: "by lazy batches; the floor is JSON.parse of the same data, in memory",
          verdicts: [
            goal(`${ratio.toFixed(2)} >= 0.8 x the floor`, ratio >= 0.8),
            shape(`${ratio.toFixed(2)} >= 0.25 x the floor`, ratio >= 0.25),
          ],
        },
        {
          name: "eventlog.replay.batches",
          value: median(rates("batches")),
          unit: "events/s (more is better)",
          n,
          variation: variation(rates("batches")),
          note: "the same as raw by plain batches, whose events have their ids, streams and types decoded",
        },
        await dropped(dir, events, count),
      ];
    });
  },
};

async function replayed(
  dir: string,
  events: readonly BenchEvent[],
  count: number,
  way: Way,
  skip = -1,
): Promise<number> {
  const correlations = events.map(({ event }) => correlationOf(event.data));
  const start = performance.now();
  const log = await openEventLog({ dir });
  try {
    let [seen, versions, sum, wanted] = [0, 0, 0, 0];
    const read = log.scan();
    for await (const batch of way === "batches" ? read.batches() : read.lazyBatches()) {
      for (const event of batch) {
        if (event.position === skip) continue;
        const place = seen++ % events.length;
        const original = events[place] as BenchEvent;
        if (event.stream !== original.stream || event.type !== original.event.type)
          throw new Error(`replay: event ${seen} is ${event.stream} ${event.type}`);
        versions += event.version;
        if (way !== "decoded") continue;
        sum += correlationOf(event.data);
        wanted += correlations[place] as number;
      }
    }
    assertCount("replay: events", seen, count);
    assertCount("replay: what was decoded", sum, wanted);
    if (versions < count) throw new Error("replay: versions are missing");
    return (count * 1000) / (performance.now() - start);
  } finally {
    await log.close();
  }
}

/** A reader that loses one event on purpose: its figure must be refused. */
async function dropped(dir: string, events: readonly BenchEvent[], count: number): Promise<Result> {
  const refusal = await replayed(dir, events, count, "raw", 7).then(
    () => "it wasn't",
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
  const caught = refusal.startsWith("replay: ");
  return {
    name: "eventlog.replay.dropped",
    value: caught ? 1 : 0,
    unit: "caught (1 is as it must be)",
    n: 1,
    control: true,
    verdicts: [shape(`a reader that drops an event is found out: ${refusal}`, caught)],
  };
}

function correlationOf(data: unknown): number {
  return parseInt((data as { correlation: string }).correlation.slice(0, 8), 16);
}
